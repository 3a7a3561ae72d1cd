//! Cases of the golden files, which the enumeration oracle writes.

use std::path::Path;

use serde_json::Value;
use unjitter::inference::{CountTables, Marginals};
use unjitter::math::{log_sigmoid, sigmoid};
use unjitter::model::noise::{Parameter, Setting, Value as SettingValue};
use unjitter::model::{BoundCounts, BoundNoise};
use unjitter::{Counts, Noise};

/// One golden case, its known labels still apart from its log-odds.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) times: Vec<f64>,
    pub(crate) stamps: Vec<f64>,
    pub(crate) log_odds: Vec<f64>,
    labels: Vec<Option<bool>>,
    pub(crate) json: &'a Value,
}

/// A golden file.
pub(crate) fn golden(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/golden");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json")))
        .expect("the golden file is part of the repository");
    serde_json::from_str(&text).expect("the golden file is JSON")
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().map(|v| v.as_f64().expect("a number")).collect(),
        single => vec![single.as_f64().expect("a number")],
    }
}

impl<'a> Case<'a> {
    pub(crate) fn new(json: &'a Value) -> Self {
        let label = |v: &Value| v.as_u64().map(|label| label == 1);
        Self {
            name: json["name"].as_str().expect("a name"),
            times: numbers(&json["times"]),
            stamps: numbers(&json["stamps"]),
            log_odds: numbers(&json["log_odds"]),
            labels: json["labels"].as_array().expect("labels").iter().map(label).collect(),
            json,
        }
    }

    /// ±∞ where the label is known.
    pub(crate) fn pinned(&self) -> Vec<f64> {
        let pin = |(&f, label): (&f64, &Option<bool>)| match label {
            None => f,
            Some(true) => f64::INFINITY,
            Some(false) => f64::NEG_INFINITY,
        };
        self.log_odds.iter().zip(&self.labels).map(pin).collect()
    }

    /// Σ log p(y_i | f_i) of the known labels, which ±∞ leaves out and the oracle keeps.
    pub(crate) fn log_labels(&self) -> f64 {
        let term = |(&f, label): (&f64, &Option<bool>)| {
            label.map_or(0.0, |label| log_sigmoid(if label { f } else { -f }))
        };
        self.log_odds.iter().zip(&self.labels).map(term).sum()
    }

    pub(crate) fn is_infeasible(&self) -> bool {
        self.name.starts_with("infeasible-")
    }

    pub(crate) fn expected(&self, field: &str) -> &'a Value {
        &self.json["expected"][field]
    }

    pub(crate) fn counts_kind(&self) -> Counts {
        let json = &self.json["counts"];
        match json["kind"].as_str().expect("a kind") {
            "bernoulli" => Counts::Bernoulli,
            "categorical" => Counts::Categorical { max_count: numbers(&json["hit_split"]).len() },
            "poisson" => Counts::Poisson,
            "geometric" => Counts::Geometric,
            other => panic!("unknown counts {other}"),
        }
    }

    pub(crate) fn counts(&self) -> unjitter::Result<BoundCounts> {
        self.counts_kind().with(&borrowed(&values(&self.json["counts"])))
    }

    pub(crate) fn noise_kind(&self) -> Noise {
        let json = &self.json["noise"];
        let kind = Noise::kinds().iter().find(|kind| json["kind"] == kind.name).expect("a kind");
        let lists = || kind.parameters.iter().filter(|parameter| parameter.is_list);
        // The oracle sees a length in its lists.
        let length = |list: &Parameter| numbers(&json[list.name]).len() as f64;
        let setting = |setting: &Setting| match setting.value {
            SettingValue::Length => lists().map(length).next().expect("a list"),
            _ => json[setting.name].as_f64().expect("a number"),
        };
        kind.noise(&kind.settings.iter().map(setting).collect::<Vec<_>>()).expect("golden settings")
    }

    pub(crate) fn noise(&self) -> BoundNoise {
        let noise = self.noise_kind();
        let mut values = values(&self.json["noise"]);
        let is_setting = |name: &str| noise.kind().settings.iter().any(|one| one.name == name);
        values.retain(|(name, _)| !is_setting(name));
        noise.with(&borrowed(&values)).expect("golden parameters are in range")
    }

    /// Tables for counts that `Counts::with` cannot spell: a split that ends in zero.
    pub(crate) fn categorical_tables(&self) -> CountTables {
        let json = &self.json["counts"];
        let table = |label: &str| {
            let rate = json[format!("{label}_rate")].as_f64().expect("a rate");
            let split = numbers(&json[format!("{label}_split")]);
            let some = split.iter().map(|share| (rate * share).ln());
            [(1.0 - rate).ln()].into_iter().chain(some).collect()
        };
        CountTables::new([table("false"), table("hit")], None)
    }
}

/// Natural parameters by name.
fn values(json: &Value) -> Vec<(String, Vec<f64>)> {
    let fields = json.as_object().expect("an object").iter();
    fields.filter(|(n, _)| *n != "kind").map(|(n, v)| (n.clone(), numbers(v))).collect()
}

fn borrowed(values: &[(String, Vec<f64>)]) -> Vec<(&str, &[f64])> {
    values.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect()
}

/// Every number of the marginals, with a relative tolerance for those above one.
pub(crate) fn assert_marginals(case: &Case<'_>, got: &Marginals, tolerance: f64, how: &str) {
    let what = format!("{}, {how}", case.name);
    let close = |got: f64, want: f64, field: &str| {
        let allowed = tolerance * want.abs().max(1.0);
        assert!((got - want).abs() < allowed, "{what}: {field} {got} {want}");
    };
    let want = case.expected("log_evidence").as_f64().expect("feasible");
    close(got.log_evidence + case.log_labels(), want, "log evidence");

    let tables = case.expected("counts").as_array().expect("counts");
    assert_eq!(got.counts.instances(), tables.len(), "{what}");
    for (i, table) in tables.iter().enumerate() {
        let row = got.counts.row(i);
        let table: Vec<Vec<f64>> = table.as_array().expect("a table").iter().map(numbers).collect();
        assert!(row.len() <= table.len(), "{what}: counts beyond the number of stamps");
        for (c, pair) in table.iter().enumerate() {
            for y in [0, 1] {
                let got = row.get(c).map_or(0.0, |pair| pair[y]);
                close(got, pair[y], &format!("p(o_{i} = {c}, y = {y})"));
            }
        }
        close(got.counts.missed(i), table[0][1], &format!("missed {i}"));
        let positive = case.expected("positive")[i].as_f64().expect("a number");
        close(got.counts.positive(i), positive, &format!("positive {i}"));
        // With a known label the oracle differentiates its own factor, which inference lacks.
        let prior = sigmoid(case.log_odds[i]);
        let slope = case.json["gradient"]["log_odds"][i].as_f64().expect("a number");
        close(got.counts.positive(i) - prior, slope, &format!("d log-odds {i}"));
    }

    let spurious = numbers(case.expected("spurious"));
    assert_eq!(got.responsibilities.stamps(), spurious.len(), "{what}");
    for (l, spurious) in spurious.iter().enumerate() {
        let own = got.responsibilities.instances(l);
        for i in 0..case.times.len() {
            let want = case.expected("responsibilities")[i][l].as_f64().expect("a number");
            close(got.responsibilities.get(i, l), want, &format!("w({i},{l})"));
            let want = case.expected("responsibilities_positive")[i][l].as_f64().expect("a number");
            let positive = got.responsibilities.of_stamp_positive(l);
            let got = if own.contains(&i) { positive[i - own.start] } else { 0.0 };
            close(got, want, &format!("w({i},{l}) and positive"));
        }
        let positive: f64 = got.responsibilities.of_stamp_positive(l).iter().sum();
        close(1.0 - positive, *spurious, &format!("spurious {l}"));
    }
}
