use unjitter::Noise;

use crate::folder::{Folder, small};

#[test]
fn the_model_records_options_features_and_data() {
    let folder = Folder::with_small_data();
    let result = folder.ok_json(&small("fit", &["--json", "--ignore", "noise", "--seed", "7"]));
    assert_eq!(result["stamps"], 24);
    assert_eq!(result["instances"], 240);
    // Every stamp is 0.75 s after its instance.
    let delay = result["learned"]["delay"].as_f64().unwrap();
    assert!((delay - 0.75).abs() < 0.1, "delay {delay}");
    let notes = &folder.json("model.json")["metadata"];
    assert_eq!(notes["features"], serde_json::json!(["x"]));
    assert_eq!(notes["fingerprint"], result["fingerprint"]);
    assert_eq!(notes["options"]["seed"], 7);
    assert_eq!(notes["options"]["model"]["noise"], "gaussian");
    assert_eq!(notes["options"]["input"]["columns"]["session_column"], "who");
}

#[test]
fn threads_do_not_change_a_bit() {
    let folder = Folder::with_data();
    folder.ok(&["fit", "data", "--restarts", "1", "--threads", "1", "-o", "one.json"]);
    folder.ok(&["fit", "data", "--restarts", "1", "--threads", "2", "-o", "two.json"]);
    let parameters = |name: &str| {
        let mut model = folder.json(name);
        model.as_object_mut().unwrap().remove("metadata");
        model
    };
    assert_eq!(parameters("one.json"), parameters("two.json"));
}

#[test]
fn an_existing_model_is_kept_unless_forced() {
    let folder = Folder::with_small_data();
    folder.write("model.json", "precious");
    let err = folder.fails(4, &small("fit", &[]));
    assert!(err.contains("model.json exists already; say --force"), "{err}");
    assert_eq!(folder.read("model.json"), "precious");
    folder.ok(&small("fit", &["--force"]));
    assert!(folder.read("model.json").starts_with('{'));
}

#[test]
fn people_are_told_about_the_annotator() {
    let folder = Folder::with_small_data();
    let out = folder.ok(&small("fit", &["-o", "new/folder/model.json"]));
    assert!(out.contains("6 sessions: 240 instances, 24 stamps, 2 features"), "{out}");
    for words in ["s late on average (95 %: ", "scatter by", "misses", "at no instance (95 %: "] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(out.contains("the standard deviation") && !out.contains("give or take"), "{out}");
    assert!(folder.path("new/folder/model.json").is_file());
}

#[test]
fn parameters_can_be_held_and_priors_set() {
    let folder = Folder::with_small_data();
    let result = folder.ok_json(&small(
        "fit",
        &[
            "--json",
            "--freeze",
            "noise.delay=-0.5",
            "--prior",
            "hit-rate=20,1",
            "--weight-precision",
            "0.1",
        ],
    ));
    assert_eq!(result["learned"]["delay"], -0.5);
    for (option, value, expected) in [
        ("--freeze", "noise.dely=0", "there is no parameter noise.dely"),
        ("--freeze", "noise.delay", "expected NAME=VALUE"),
        ("--prior", "hitrate=1,2", "did you mean `hit-rate`?"),
        ("--prior", "delay=1", "1 values, `delay` takes 2"),
        ("--weight-precision", "-1", "expected a number of at least 0"),
    ] {
        let option = format!("{option}={value}");
        let err = folder.fails(2, &small("fit", &["-o", "x.json", &option]));
        assert!(err.contains(expected), "{option}: {err}");
    }
}

#[test]
fn every_kind_of_model_can_be_asked_for() {
    let folder = Folder::with_small_data();
    for arguments in [
        &["--classifier", "kernel", "--landmarks", "20"][..],
        &["--classifier", "mlp", "--hidden", "3,2"],
        &["--counts", "categorical", "--max-count", "3"],
        &["--counts", "poisson"],
        &["--counts", "geometric"],
    ] {
        folder.ok(&small("fit", &[&["--force", "--restarts", "0"], arguments].concat()));
    }
}

#[test]
fn every_noise_model_of_the_library_can_be_asked_for() {
    let folder = Folder::with_small_data();
    let help = folder.ok(&["fit", "--help"]);
    for kind in Noise::kinds() {
        let name = kind.name.replace('_', "-");
        assert!(help.contains(&format!("- {name}: ")), "{name}: {help}");
        let mut arguments = vec!["--force".to_owned(), "--restarts=0".to_owned()];
        arguments.push(format!("--noise={name}"));
        let option = |name: &str| format!("--{}", name.replace('_', "-"));
        let given = kind.settings.iter().map(|one| format!("{}={}", option(one.name), one.example));
        arguments.extend(given);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        folder.ok(&small("fit", &arguments));
        let file = folder.json("model.json");
        assert_eq!(file["model"]["noise"], serde_json::to_value(kind.example()).unwrap());
        let noted = &file["metadata"]["options"]["model"];
        assert_eq!(noted["noise"], name);
        for setting in kind.settings {
            assert_eq!(noted[setting.name].as_f64(), Some(setting.example));
            assert!(help.contains(&option(setting.name)), "{}: {help}", setting.name);
        }
    }
    folder.ok(&small("fit", &["--force", "--restarts=0", "--noise", "gaussian-mixture"]));
    assert_eq!(folder.json("model.json")["model"]["noise"]["components"], 2);
    let err = folder.fails(2, &small("fit", &["--force", "--noise=uniform", "--latest=inf"]));
    assert!(err.contains("uniform noise needs --earliest and --latest"), "{err}");
    let endless = ["--force", "--noise=uniform", "--earliest=0", "--latest=inf"];
    let err = folder.fails(2, &small("fit", &endless));
    assert!(err.contains("noise.latest is inf, expected a finite time after"), "{err}");
    let err = folder.fails(2, &small("fit", &["--force", "--noise", "uniform"]));
    assert!(err.contains("uniform noise needs --earliest and --latest"), "{err}");
}

#[test]
fn labels_take_part_only_when_asked() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &["--label-column", "label"]));
    folder.ok(&small("fit", &["--use-labels", "-o", "labelled.json"]));
    assert_ne!(folder.json("model.json")["parameters"], folder.json("labelled.json")["parameters"]);
    // Without labels the result is the same as with unused labels.
    let text = folder.read("instances.csv");
    let bare: String =
        text.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    folder.write("instances.csv", &bare);
    folder.ok(&small("fit", &["-o", "bare.json"]));
    assert_eq!(folder.json("model.json")["parameters"], folder.json("bare.json")["parameters"]);
}

#[test]
fn settings_of_parts_that_are_not_in_use_are_refused() {
    let folder = Folder::with_small_data();
    let cases: [(&[&str], &str); 7] = [
        (&["--hidden", "4"], "--classifier mlp"),
        (&["--length-scale", "2"], "--classifier kernel"),
        (&["--landmarks", "9", "--classifier", "mlp"], "--classifier kernel"),
        (&["--max-count", "3", "--counts", "poisson"], "--counts categorical"),
        (&["--components", "2"], "--noise gaussian-mixture"),
        (&["--earliest", "-1", "--noise", "laplace"], "--noise uniform"),
        (&["--latest", "3"], "--noise uniform"),
    ];
    for (arguments, part) in cases {
        // Errors are for people, also with `--json`.
        for json in [&[][..], &["--json"]] {
            let err = folder.fails(2, &small("fit", &[arguments, json].concat()));
            let expected =
                format!("error: {} has no effect here: it belongs to {part}", arguments[0]);
            assert!(err.contains(&expected), "{arguments:?}: {err}");
        }
    }
    let learners = ["--learners", "lr-m,nn-h", "--folds", "2"];
    let err = folder.fails(2, &small("evaluate", &[&learners[..], &["--landmarks", "5"]].concat()));
    assert!(err.contains("--landmarks has no effect here"), "{err}");
    let err =
        folder.fails(2, &small("evaluate", &[&learners[..], &["--classifier", "mlp"]].concat()));
    assert!(err.contains("--classifier has no effect here: --learners names"), "{err}");
}
