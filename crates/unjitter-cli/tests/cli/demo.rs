use crate::folder::Folder;
use crate::review::Server;

#[test]
fn a_newcomer_gets_a_table_an_annotator_and_a_report() {
    let folder = Folder::new();
    let out = folder.ok(&["demo", "--quiet"]);
    for expected in [
        "LR-M",
        "labels aligned by hand",
        "late on average, single presses scatter by",
        "report.html",
        "Put presses right by hand: unjitter demo --review\n",
        "by clocks that are off",
    ] {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    let report = folder.bytes("unjitter-demo/report.html");
    assert!(report.len() < 2_000_000, "the report has {} bytes", report.len());
    let svg = folder.read("unjitter-demo/figures/comparison.svg");
    assert!(svg.starts_with("<svg") && svg.contains("LR-M"));
    let files = [
        "model.json",
        "evaluation.json",
        "aligned.csv",
        "missed.csv",
        "data/instances.csv",
        "data/signal.csv.gz",
    ];
    for file in files {
        assert!(folder.path("unjitter-demo").join(file).is_file(), "{file} is missing");
    }
    // The simulated truth comes out: sloppy stamps are nearly as good as labels by hand.
    let evaluation = folder.json("unjitter-demo/evaluation.json");
    let f1 = |k: usize| {
        evaluation["learners"][k]["summary"]["labelled"]["scores"]["f1"].as_f64().unwrap()
    };
    assert!(
        f1(0) > f1(1) - 0.05 && f1(0) > f1(5) + 0.3,
        "LR-M {} LR-H {} LR-N {}",
        f1(0),
        f1(1),
        f1(5)
    );
    // Clocks that are off do harm, and learning them undoes it.
    let before = |name: &str| {
        let line = out.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    let (right, off) = (before("  by clocks that are right"), before("  by clocks that are off"));
    let learned = before("  the same, with --clock session");
    assert!(off < right - 0.03 && learned > right - 0.03, "{right} {off} {learned}");
    let found = before(" half a breath.");
    assert!((9.0..=13.0).contains(&found), "{out}");
    // The written files can be used.
    folder.ok(&["align", "unjitter-demo/data", "--model", "unjitter-demo/model.json"]);
    assert_eq!(folder.read("aligned.csv"), folder.read("unjitter-demo/aligned.csv"));
    // The review opens on what is there.
    let server = Server::of(&folder, &["demo", "--review", "--no-open"]);
    assert!(server.queue("").len() > 100);
    server.decide("s0-0", "reject", None);
    drop(server);
    assert_eq!(folder.read("unjitter-demo/review.jsonl").lines().count(), 2);
    // A second run would overwrite.
    let before = folder.bytes("unjitter-demo/model.json");
    let err = folder.fails(4, &["demo", "--quiet", "--seed", "1"]);
    assert!(err.contains("unjitter-demo/report.html exists already"), "{err}");
    assert_eq!(folder.bytes("unjitter-demo/model.json"), before);
}
