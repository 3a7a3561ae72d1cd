//! Bare inference against the enumeration oracle, which sums the joint term by term.

use std::path::Path;

use serde_json::Value;
use unjitter::inference::{CountTables, Lattice, Marginals, Stamp, Timeline, dense};
use unjitter::math::{log_sigmoid, sigmoid};
use unjitter::model::noise::{Parameter, Setting, Value as SettingValue};
use unjitter::model::{BoundCounts, BoundNoise};
use unjitter::params::{ParameterSpec, Transform};
use unjitter::{Counts, Error, Noise, posterior};

/// One golden case, its known labels still apart from its log-odds.
struct Case<'a> {
    name: &'a str,
    times: Vec<f64>,
    stamps: Vec<f64>,
    log_odds: Vec<f64>,
    labels: Vec<Option<bool>>,
    json: &'a Value,
}

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/golden/oracle.json");
    let text = std::fs::read_to_string(&path).expect("the golden file is part of the repository");
    serde_json::from_str(&text).expect("the golden file is JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().map(|v| v.as_f64().expect("a number")).collect(),
        single => vec![single.as_f64().expect("a number")],
    }
}

impl<'a> Case<'a> {
    fn new(json: &'a Value) -> Self {
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
    fn pinned(&self) -> Vec<f64> {
        let pin = |(&f, label): (&f64, &Option<bool>)| match label {
            None => f,
            Some(true) => f64::INFINITY,
            Some(false) => f64::NEG_INFINITY,
        };
        self.log_odds.iter().zip(&self.labels).map(pin).collect()
    }

    /// Σ log p(y_i | f_i) of the known labels, which ±∞ leaves out and the oracle keeps.
    fn log_labels(&self) -> f64 {
        let term = |(&f, label): (&f64, &Option<bool>)| {
            label.map_or(0.0, |label| log_sigmoid(if label { f } else { -f }))
        };
        self.log_odds.iter().zip(&self.labels).map(term).sum()
    }

    fn is_infeasible(&self) -> bool {
        self.name.starts_with("infeasible-")
    }

    fn expected(&self, field: &str) -> &'a Value {
        &self.json["expected"][field]
    }

    fn counts_kind(&self) -> Counts {
        let json = &self.json["counts"];
        match json["kind"].as_str().expect("a kind") {
            "bernoulli" => Counts::Bernoulli,
            "categorical" => Counts::Categorical { max_count: numbers(&json["hit_split"]).len() },
            "poisson" => Counts::Poisson,
            "geometric" => Counts::Geometric,
            other => panic!("unknown counts {other}"),
        }
    }

    fn counts(&self) -> unjitter::Result<BoundCounts> {
        self.counts_kind().with(&borrowed(&values(&self.json["counts"])))
    }

    fn noise_kind(&self) -> Noise {
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

    fn noise(&self) -> BoundNoise {
        let noise = self.noise_kind();
        let mut values = values(&self.json["noise"]);
        let is_setting = |name: &str| noise.kind().settings.iter().any(|one| one.name == name);
        values.retain(|(name, _)| !is_setting(name));
        noise.with(&borrowed(&values)).expect("golden parameters are in range")
    }

    /// Tables for counts that `Counts::with` cannot spell: a split that ends in zero.
    fn categorical_tables(&self) -> CountTables {
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
fn assert_marginals(case: &Case<'_>, got: &Marginals, tolerance: f64, how: &str) {
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

#[test]
fn the_posterior_is_the_enumerated_one() {
    let golden = golden();
    let cases = golden["cases"].as_array().expect("cases");
    assert!(cases.len() > 80, "{} cases", cases.len());
    for case in cases.iter().map(Case::new) {
        let noise = case.noise();
        let pinned = case.pinned();
        // A simplex is kept relative to its last weight, so a split cannot end in zero.
        let Ok(counts) = case.counts() else {
            assert_eq!(case.name, "split-with-zeros");
            continue;
        };
        let found = posterior(&case.times, &case.stamps, &pinned, &counts, &noise);
        if case.is_infeasible() {
            let error = found.err().unwrap_or_else(|| panic!("{} is infeasible", case.name));
            let named = matches!(error, Error::Infeasible { .. } | Error::TooManyStamps { .. });
            assert!(named, "{}: {error}", case.name);
            continue;
        }
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let marginals = Marginals {
            log_evidence: found.log_evidence(),
            counts: found.counts().clone(),
            responsibilities: found.responsibilities().clone(),
        };
        // The promise of inference: 1e-10, of logs down to −6000 and of probabilities.
        assert_marginals(&case, &marginals, 1e-10, "posterior");
        for (i, (got, want)) in
            found.positive().iter().zip(numbers(case.expected("positive"))).enumerate()
        {
            assert!((got - want).abs() < 1e-10, "{}: positive {i}", case.name); // as above
        }
        let best = found.best_alignment();
        assert_best(&case, &best.instances, best.log_weight);
    }
}

#[test]
fn lattices_banded_and_dense_are_the_enumerated_ones() {
    let golden = golden();
    for case in golden["cases"].as_array().expect("cases").iter().map(Case::new) {
        let noise = case.noise();
        let pinned = case.pinned();
        let tables = match case.counts() {
            Ok(counts) => counts.tables(case.stamps.len()),
            Err(_) => case.categorical_tables(),
        };
        let stamps = Stamp::at(&case.stamps);
        let density = noise.density();
        let lattice = Lattice {
            stamped: Timeline::new(&case.times, &stamps, 1.0).with(&density),
            log_odds: &pinned,
            counts: &tables,
        };
        if case.is_infeasible() {
            assert!(dense::marginals(&lattice).is_err(), "{}", case.name);
            assert!(lattice.marginals().is_err(), "{}", case.name);
            continue;
        }
        // The promise of inference, as above.
        assert_marginals(&case, &dense::marginals(&lattice).unwrap(), 1e-10, "dense");
        let banded = lattice.marginals().unwrap();
        assert_marginals(&case, &banded, 1e-10, "banded");
        let best = lattice.best_alignment(&banded);
        assert_best(&case, &best.instances, best.log_weight);
    }
}

/// The best alignment to the instance, unless several are best, and its weight.
fn assert_best(case: &Case<'_>, instances: &[usize], log_weight: f64) {
    if !case.name.starts_with("tie-") {
        let want: Vec<usize> =
            numbers(case.expected("best_alignment")).iter().map(|&i| i as usize).collect();
        assert_eq!(instances, want, "{}", case.name);
    }
    let want = case.expected("best_log_weight").as_f64().expect("feasible");
    let got = log_weight + case.log_labels();
    // A sum of at most thirty logs, down to −6000: rounding only, as for the evidence.
    assert!((got - want).abs() < 1e-10 * want.abs().max(1.0), "{}: {got} {want}", case.name);
}

/// The derivatives that the parts make of the marginals are those of the enumerated evidence.
#[test]
fn pulled_back_marginals_are_the_enumerated_derivatives() {
    let golden = golden();
    let mut compared = 0;
    for case in golden["cases"].as_array().expect("cases").iter().map(Case::new) {
        let (Ok(counts), false) = (case.counts(), case.is_infeasible()) else { continue };
        let (noise, pinned) = (case.noise(), case.pinned());
        let found = posterior(&case.times, &case.stamps, &pinned, &counts, &noise).unwrap();
        let close = |got: f64, want: &Value, name: &str| {
            // No two-sided derivative at a bound or a kink.
            let Some(want) = want.as_f64() else { return 0 };
            // Sums of at most twenty terms with posteriors good to 1e-10.
            let tolerance = 1e-9 * want.abs().max(1.0);
            assert!((got - want).abs() < tolerance, "{}: {name} {got} {want}", case.name);
            1
        };

        let json = &case.json["counts"];
        let rate = |name: &str| json[name].as_f64().expect("a rate");
        let model = case.counts_kind().build().unwrap();
        let params = model.start(rate("false_rate"), rate("hit_rate"));
        let mut d_params = vec![0.0; params.len()];
        for label in [0, 1] {
            let expected: Vec<f64> = (0..=case.stamps.len())
                .map(|c| {
                    let of = |i| found.counts().row(i).get(c).map_or(0.0, |pair| pair[label]);
                    (0..case.times.len()).map(of).sum()
                })
                .collect();
            model.pull_back(&params, label, &expected, &mut d_params);
        }
        let gradient = &case.json["gradient"];
        compared += close(d_params[0], &gradient["false_rate_logit"], "false_rate");
        compared += close(d_params[1], &gradient["hit_rate_logit"], "hit_rate");

        let model = case.noise_kind().build(1.0).unwrap();
        let json = &case.json["noise"];
        let unconstrained = |block: &ParameterSpec| {
            block.transform.unconstrained(&numbers(&json[&block.name])).expect("in range")
        };
        let params: Vec<f64> = model.parameters().iter().flat_map(unconstrained).collect();
        let (mut delays, mut shares) = (Vec::new(), Vec::new());
        for (l, z) in case.stamps.iter().enumerate() {
            let own = found.responsibilities().instances(l);
            delays.extend(case.times[own].iter().map(|t| z - t));
            shares.extend_from_slice(found.responsibilities().of_stamp(l));
        }
        let mut d_params = vec![0.0; params.len()];
        model.pull_back(&params, &delays, &shares, &mut d_params);
        let mut at = 0;
        for block in model.parameters() {
            let natural = numbers(&json[&block.name]);
            let want = &gradient["noise"][&block.name];
            for (k, value) in natural.iter().enumerate() {
                // d natural / d unconstrained; a simplex is not differentiated along itself there.
                let slope = match block.transform {
                    Transform::Free => 1.0,
                    Transform::Positive => *value,
                    Transform::AboveOne => value - 1.0,
                    _ => continue,
                };
                let want = if want.is_array() { &want[k] } else { want };
                let scaled = want.as_f64().map_or(Value::Null, |want| (want * slope).into());
                compared += close(d_params[at + k], &scaled, &block.name);
            }
            at += block.transform.dim(block.len);
        }
    }
    assert!(compared > 250, "{compared} derivatives compared");
}
