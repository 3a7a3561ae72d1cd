use crate::folder::{Folder, small};
use crate::stamped::by_people;

#[test]
fn a_page_and_its_figures_are_written() {
    let folder = Folder::with_model();
    folder.ok(&["evaluate", "data", "--folds", "2", "--learners", "lr-m,lr-h"]);
    folder.ok(&["report", "data", "--evaluation", "evaluation.json", "--figures", "figures"]);
    let page = folder.read("report.html");
    assert!(page.to_lowercase().starts_with("<!doctype html>"));
    for expected in ["typical delay", "Learners compared", "Goodness of fit", "session-01", "<svg"]
    {
        assert!(page.contains(expected), "{expected} is missing");
    }
    let mut figures: Vec<String> = std::fs::read_dir(folder.path("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    figures.sort();
    let expected = [
        "alignment.svg",
        "calibration.svg",
        "changes.svg",
        "comparison.svg",
        "delays.svg",
        "drift.svg",
        "precision-recall.svg",
        "profiles.svg",
        "quantiles.svg",
        "residuals.svg",
    ];
    assert_eq!(figures, expected);
    // Nothing on the page is fetched from anywhere.
    for address in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn names_from_data_are_text_and_never_markup() {
    let folder = Folder::with_small_data();
    let evil = "</script><script>alert(1)</script>";
    for file in ["instances.csv", "events.csv"] {
        folder.write(file, &folder.read(file).replace("p3,", &format!("{evil},")));
    }
    folder.ok(&small("fit", &[]));
    folder.ok(&small("report", &[]));
    let page = folder.read("report.html");
    assert!(!page.contains("<script>alert"), "the name of a session became a script");
    assert!(page.contains("alert(1)"), "the name is gone");
}

#[test]
fn other_data_are_noticed() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    folder.ok(&small("evaluate", &["--folds", "2", "--learners", "lr-m"]));
    let events = folder.read("events.csv").replacen("9.25", "9.26", 1);
    folder.write("events.csv", &events);
    let err = folder.fails(3, &small("report", &["--evaluation", "evaluation.json"]));
    assert!(err.contains("evaluation.json: it was made from other data"), "{err}");
    folder.ok(&small("report", &[]));
    assert!(folder.read("report.html").contains("the model was fitted to other data"));
    folder.write("evaluation.json", "{\"program\": 1}");
    let err = folder.fails(3, &small("report", &["--evaluation", "evaluation.json", "-o", "x"]));
    assert!(err.contains("expected a file that `evaluate` wrote"), "{err}");
}

#[test]
fn groups_and_annotators_are_on_the_page() {
    let folder = by_people();
    folder.ok(&["fit", "data", "--restarts", "0", "--varies", "delay=annotator", "--quiet"]);
    folder.ok(&["report", "data", "--figures", "figures"]);
    let page = folder.read("report.html");
    for expected in [
        "<h2>Groups</h2>",
        "<h2>Delay by annotator</h2>",
        "How far annotators agree",
        "ada and ben",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let drawn = folder.read("figures/groups.svg");
    for expected in ["Delay by annotator", "ada", "ben", "all together", "in seconds"] {
        assert!(drawn.contains(expected), "{expected}");
    }
}
