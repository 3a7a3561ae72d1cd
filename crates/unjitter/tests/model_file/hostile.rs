//! For any bytes, loading ends soon, in a model or an error, and holds little memory.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use unjitter::Fitted;

use crate::files;
use crate::memory::peak_of;

/// Most bytes that loading one of the small files below may hold at once.
const MOST: isize = 8 << 20;

/// Loads, with any result; fails the property if that takes too much memory or time.
fn load(bytes: &[u8]) -> Result<bool, TestCaseError> {
    let start = std::time::Instant::now();
    let (loaded, held) = peak_of(|| Fitted::from_json(bytes).is_ok());
    prop_assert!(held < MOST, "{held} bytes held for a file of {}", bytes.len());
    // A thousand times the usual time.
    prop_assert!(start.elapsed().as_secs_f64() < 1.0, "{:?}", start.elapsed());
    Ok(loaded)
}

/// The same cases every time.
fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let rng_seed = RngSeed::Fixed(20_170_420);
    let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(strategy, test).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn random_bytes_are_refused() {
    let json = "[\\[\\]{}\":,0-9eE.+\\-tfn \\\\]{0,200}";
    let strategy = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        proptest::string::string_regex(json).unwrap().prop_map(String::into_bytes),
    ];
    run(1000, &strategy, |bytes| {
        prop_assert!(!load(&bytes)?);
        Ok(())
    });
}

#[test]
fn sizes_that_are_only_declared_take_no_memory() {
    let files = files();
    let network = |sizes: Value| {
        let mut file: Value = serde_json::from_str(&files[2]).unwrap();
        file["model"]["classifier"]["hidden"] = sizes.clone();
        file["classifier"]["mlp"]["hidden"] = sizes;
        file
    };
    let set = |which: usize, at: &str, to: u64| {
        let mut file: Value = serde_json::from_str(&files[which]).unwrap();
        *file.pointer_mut(at).unwrap() = json!(to);
        file
    };
    let huge = 1_000_000_000_000_000_000;
    let declared = [
        network(json!([huge])),
        network(json!([20_000_000])),
        network(json!(vec![1; 5_000])),
        set(1, "/classifier/kernel/landmarks/rows", huge),
        set(1, "/classifier/kernel/landmarks/columns", huge),
        set(1, "/model/classifier/landmarks", huge),
        set(1, "/model/counts/max_count", huge),
        set(1, "/model/counts/max_count", 1000),
        set(1, "/model/noise/components", huge),
    ];
    for file in declared {
        load(file.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// One act of damage; places are fractions of the length.
#[derive(Debug, Clone)]
enum Damage {
    Truncate(f64),
    Overwrite(f64, u8),
    Remove(f64, usize),
    Duplicate { from: f64, len: usize, to: f64 },
    Number { which: f64, with: &'static str },
}

/// Numbers outside the range of some field.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "1000",
    "65",
    "1e9",
    "1000000000000",
    "1000000000000000000",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0.5",
    "-0.0",
    "1e308",
    "-1e308",
    "5e-324",
    "1e999",
    "NaN",
    "\"inf\"",
    "\"-inf\"",
];

impl Damage {
    fn strategy() -> impl Strategy<Value = Self> {
        let at = || 0.0..1.0;
        prop_oneof![
            1 => at().prop_map(Damage::Truncate),
            2 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Overwrite(at, byte)),
            2 => (at(), 1..200_usize).prop_map(|(at, len)| Damage::Remove(at, len)),
            2 => (at(), 1..400_usize, at())
                .prop_map(|(from, len, to)| Damage::Duplicate { from, len, to }),
            6 => (at(), proptest::sample::select(NUMBERS.to_vec()))
                .prop_map(|(which, with)| Damage::Number { which, with }),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |fraction: f64| (fraction * len as f64) as usize;
        match *self {
            Damage::Truncate(at) => bytes.truncate(place(at)),
            Damage::Overwrite(at, byte) => {
                if let Some(old) = bytes.get_mut(place(at)) {
                    *old = byte;
                }
            }
            Damage::Remove(at, count) => drop(bytes.drain(place(at)..len.min(place(at) + count))),
            Damage::Duplicate { from, len: count, to } => {
                let copy = bytes[place(from)..len.min(place(from) + count)].to_vec();
                bytes.splice(place(to)..place(to), copy);
            }
            Damage::Number { which, with } => {
                let is_part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
                let starts: Vec<usize> = (1..len)
                    .filter(|&k| b" [".contains(&bytes[k - 1]) && is_part(&bytes[k]))
                    .collect();
                let Some(&start) = starts.get((which * starts.len() as f64) as usize) else {
                    return;
                };
                let end =
                    bytes[start..].iter().position(|b| !is_part(b)).map_or(len, |k| start + k);
                bytes.splice(start..end, with.bytes());
            }
        }
    }
}

#[test]
fn damaged_files_are_loaded_or_refused() {
    let files = files();
    let strategy = (0..files.len(), proptest::collection::vec(Damage::strategy(), 1..4));
    run(3000, &strategy, |(which, damages)| {
        let mut bytes = files[which].clone().into_bytes();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        load(&bytes).map(|_| ())
    });
}

/// Any JSON, with a preference for names of the format.
fn any_json() -> impl Strategy<Value = Value> {
    let words = ["", "inf", "-inf", "kernel", "mlp", "poisson", "uniform", "noise.delay", "relu"];
    let numbers = NUMBERS.iter().filter_map(|text| serde_json::from_str(text).ok());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::sample::select(numbers.collect::<Vec<Value>>()),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let keys = ["kind", "hidden", "rows", "values", "name", "x"];
    leaf.prop_recursive(4, 30, 6, move |inner| {
        let key = proptest::sample::select(keys.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// The paths of all values in a tree.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(k, item)| paths(item, &format!("{path}/{k}"), found));
        }
        Value::Object(entries) => {
            entries.iter().for_each(|(k, item)| paths(item, &format!("{path}/{k}"), found));
        }
        _ => {}
    }
}

#[test]
fn files_with_a_foreign_value_are_loaded_or_refused() {
    let files: Vec<Value> =
        files().iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let places: Vec<Vec<String>> = files
        .iter()
        .map(|file| {
            let mut found = Vec::new();
            paths(file, "", &mut found);
            found
        })
        .collect();
    let splice = (0.0..1.0, any_json());
    let strategy = (0..files.len(), proptest::collection::vec(splice, 1..3));
    run(3000, &strategy, |(which, splices)| {
        let mut file = files[which].clone();
        for (at, value) in splices {
            let place = &places[which][(at * places[which].len() as f64) as usize];
            if let Some(old) = file.pointer_mut(place) {
                *old = value;
            }
        }
        load(file.to_string().as_bytes()).map(|_| ())
    });
}
