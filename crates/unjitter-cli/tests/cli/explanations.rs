//! Presses that belong to nothing, events that two people press for, and stamps with two explanations.

use unjitter::math::Random;

use crate::folder::{Folder, small};

/// Tables of six sessions in which an event is pressed for by people with these delays; `context` is how
/// many neighbours on each side a row has as features.
struct Drawn {
    delays: &'static [f64],
    context: usize,
    /// Presses besides, with times in the first session; its sensor is off from 100 to 160.
    strays: &'static [f64],
}

impl Drawn {
    fn write(&self, folder: &Folder) {
        let mut random = Random::new(5);
        let (mut instances, mut events) = (String::from("session,time"), String::new());
        for k in 0..=2 * self.context {
            instances += &format!(",x{k}");
        }
        instances += ",label\n";
        for session in 0..6 {
            let labels: Vec<bool> = (0..400).map(|_| random.uniform() < 0.05).collect();
            let feature = |label: &bool| random.normal() + if *label { 4.0 } else { 0.0 };
            let x: Vec<f64> = labels.iter().map(feature).collect();
            for (i, &label) in labels.iter().enumerate() {
                let mut press = |delay: &f64| {
                    let time = i as f64 + delay + 0.6 * random.normal();
                    (label && random.uniform() < 0.95).then_some(time)
                };
                let presses: Vec<f64> = self.delays.iter().filter_map(&mut press).collect();
                if session == 0 && (100..160).contains(&i) {
                    continue;
                }
                instances += &format!("s{session},{i}");
                for k in 0..=2 * self.context {
                    instances += &format!(",{:.4}", x[(i + 400 + k - self.context) % 400]);
                }
                instances += &format!(",{}\n", u8::from(label));
                presses.iter().for_each(|time| events += &format!("s{session},{time:.3}\n"));
            }
        }
        self.strays.iter().for_each(|time| events += &format!("s0,{time}\n"));
        std::fs::create_dir_all(folder.path("data")).unwrap();
        folder.write("data/instances.csv", &instances);
        folder.write("data/events.csv", &format!("session,time\n{events}"));
    }
}

fn learned(folder: &Folder, name: &str, options: &[&str]) -> (f64, f64, serde_json::Value) {
    let all = [&["fit", "data", "--json", "--quiet", "-o", name], options].concat();
    let result = folder.ok_json(&all);
    let number = |name: &str| result["learned"][name].as_f64().unwrap();
    (number("delay"), number("spread"), result)
}

#[test]
fn presses_at_nothing_change_nothing() {
    let folder = Folder::new();
    Drawn { delays: &[0.7], context: 0, strays: &[] }.write(&folder);
    let (delay, spread, _) = learned(&folder, "clean.json", &[]);
    // Three while the sensor was off, and one three hours later.
    let strays = &[115.0, 130.0, 145.0, 11_200.0];
    Drawn { delays: &[0.7], context: 0, strays }.write(&folder);
    let (new_delay, new_spread, result) = learned(&folder, "model.json", &[]);
    assert!((new_delay / delay - 1.0).abs() < 0.1, "{delay} became {new_delay}");
    assert!((new_spread / spread - 1.0).abs() < 0.1, "{spread} became {new_spread}");
    assert_eq!(result["warnings"], serde_json::json!([]));
    let told = folder.run(&["align", "data"]);
    assert!(told.code == 0 && !told.err.contains("warning"), "{}", told.err);
    let aligned = folder.read("aligned.csv");
    let mut found = 0;
    for line in aligned.lines().filter(|line| line.starts_with("s0,")) {
        let cells: Vec<&str> = line.split(',').collect();
        let is_stray = strays.contains(&cells[2].parse().unwrap());
        found += usize::from(is_stray);
        assert!(!is_stray || cells[6].parse::<f64>().unwrap() > 0.9, "{line}");
    }
    assert_eq!(found, 4, "{aligned}");
    let text = folder.ok(&["fit", "data", "--force"]);
    assert!(text.contains(" times per hour at no instance"), "{text}");
}

#[test]
fn two_people_are_noticed() {
    let folder = Folder::new();
    Drawn { delays: &[0.5, 1.0], context: 0, strays: &[] }.write(&folder);
    let run = folder.run(&["fit", "data", "--quiet"]);
    assert!(run.err.contains("warning: events have several stamps"), "{}", run.err);
    assert_eq!(folder.json("model.json")["model"]["counts"]["kind"], "poisson");
    let f1 = |counts: &str, name: &str| {
        let run = ["evaluate", "data", "--folds", "2", "--learners", "lr-m", "--json", "--quiet"];
        let all = [&run[..], &["--counts", counts, "-o", name]].concat();
        let result = folder.ok_json(&all);
        result[0]["labelled"]["scores"]["f1"].as_f64().unwrap()
    };
    let (auto, poisson) = (f1("auto", "auto.json"), f1("poisson", "poisson.json"));
    assert!((auto - poisson).abs() < 0.01 && auto > 0.8, "{auto} and {poisson}");
}

#[test]
fn a_range_of_delays_or_a_number_chooses_the_explanation() {
    let folder = Folder::new();
    Drawn { delays: &[6.0], context: 8, strays: &[] }.write(&folder);
    let run = folder.run(&["fit", "data"]);
    for expected in ["two explanations", "--delay 0.2..3s", "--use-labels", "--mode"] {
        assert!(run.err.contains(expected), "{expected}: {}", run.err);
    }
    assert!(run.out.contains("Explanations of the stamps"), "{}", run.out);
    for (range, middle) in [("5.5..6.5s", 6.0), ("-2500..-1500ms", -2.0), ("0.05..0.06min", 3.3)] {
        let range = format!("--delay={range}");
        let (delay, _, result) = learned(&folder, "model.json", &[&range, "--force"]);
        assert!((delay - middle).abs() < 0.6, "{range}: {delay}");
        assert_eq!(result["modes"][0]["learned"]["delay"].as_f64(), Some(delay));
    }
    folder.ok(&["fit", "data", "--force"]);
    let modes = folder.json("model.json")["modes"].clone();
    let (delay, _, _) = learned(&folder, "model.json", &["--mode", "2", "--force"]);
    assert_eq!(modes[1]["learned"]["delay"].as_f64(), Some(delay));
    assert_eq!(folder.json("model.json")["modes"][0], modes[1]);
    let shown = |options: &[&str]| {
        folder.ok(&[&["report", "data", "--force"], options].concat());
        folder.read("report.html")
    };
    // The other's other is the first again.
    let (first, second) = (shown(&[]), shown(&["--mode", "2"]));
    assert!(first.contains("Explanations of the stamps") && first.contains("from nowhere"));
    assert!(first != second);
    let count = modes.as_array().unwrap().len();
    let err = folder.fails(2, &["align", "data", "--mode", "99"]);
    assert!(err.contains(&format!("--mode 99: expected 1 to {count}")), "{err}");
    for range in ["3..1s", "1s", "..", "a..b"] {
        let err = folder.fails(2, &["fit", "data", "-o", "x.json", &format!("--delay={range}")]);
        assert!(err.contains("expected the earliest"), "{range}: {err}");
    }
}

#[test]
fn a_mode_that_is_not_there_costs_no_fit() {
    let folder = Folder::with_small_data();
    for number in ["0", "-1", "two", "1.5"] {
        let err = folder.fails(2, &small("fit", &[&format!("--mode={number}")]));
        assert!(err.contains("expected a number in the table of modes: 1, 2, …"), "{err}");
        assert!(!folder.path("model.json").exists(), "{number}");
        let err = folder.fails(2, &["align", "data", &format!("--mode={number}")]);
        assert!(err.contains("expected a number in the table of modes"), "{err}");
    }
    // How many there are is known only after the fit, which is not thrown away.
    folder.ok(&small("fit", &["-o", "plain.json"]));
    let run = folder.run(&small("fit", &["--mode", "99"]));
    assert_eq!(run.code, 2);
    assert!(run.err.contains("error: --mode 99: expected 1"), "{}", run.err);
    assert!(run.err.contains("; the model was written with mode 1 in use"), "{}", run.err);
    assert!(run.out.contains("The annotator"), "{}", run.out);
    let parameters = |name: &str| folder.json(name)["parameters"].clone();
    assert_eq!(parameters("model.json"), parameters("plain.json"));
}

#[test]
fn the_paper_s_model_can_be_asked_for() {
    let folder = Folder::with_data();
    let options = ["--alignment", "ordered", "--counts", "bernoulli", "--freeze"];
    folder.ok(&[&["fit", "data"], &options[..], &["background.rate=0"]].concat());
    let model = folder.json("model.json");
    assert_eq!(model["model"]["alignment"], "ordered");
    assert_eq!(model["modes"][0]["learned"]["background_rate"], 0.0);
    folder.ok(&["align", "data"]);
}
