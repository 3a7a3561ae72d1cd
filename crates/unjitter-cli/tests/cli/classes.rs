//! Events of several classes.

use crate::folder::Folder;

/// Sessions in which an event of one of two classes comes every tenth instance; a feature tells each, and one record in
/// ten is wrong.
fn with_classes() -> Folder {
    let folder = Folder::new();
    let mut instances = String::from("session,time,dry,wet,label\n");
    let mut events = String::from("session,time,class,note\n");
    for session in 0..16 {
        for i in 0..80 {
            let noise = |k: i32| f64::from((7 * i + 3 * session + k) % 11) / 11.0;
            let class = (i % 10 == 4).then_some((i / 10 + session) % 2);
            let feature = |own: i32| noise(own) + if class == Some(own) { 3.0 } else { 0.0 };
            let label = class.map_or("0", |k| ["cough", "sneeze"][k as usize]);
            instances += &format!("s{session},{i},{},{},{label}\n", feature(0), feature(1));
            if let Some(k) = class {
                let is_wrong = (i / 10 + 3 * session) % 10 == 0;
                let recorded = ["cough", "sneeze"][(k + i32::from(is_wrong)) as usize % 2];
                let time = f64::from(i) + 0.6 * noise(5);
                events += &format!("s{session},{time},{recorded},n{i}\n");
            }
        }
    }
    folder.write("instances.csv", &instances);
    folder.write("events.csv", &events);
    folder
}

#[test]
fn every_verb_tells_of_classes_or_says_that_it_does_not() {
    let folder = with_classes();
    let fit = folder.ok(&["fit", ".", "--classes", "class", "--restarts", "1"]);
    assert!(fit.contains("Events of each class are recorded as"), "{fit}");
    assert!(!fit.contains("kinds apart") && !fit.contains("other instances"), "{fit}");
    folder.ok(&["align", ".", "--level", "0.9"]);
    let aligned = folder.read("aligned.csv");
    let mut lines = aligned.lines();
    assert!(lines.next().unwrap().ends_with(",p_spurious,aligned_class,p_class"), "{aligned}");
    // By column: the record, and what alignment tells.
    let (mut recorded, mut told) = (0, 0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let (session, instance) = (cells[0][1..].parse::<usize>().unwrap(), cells[3]);
        let event = instance[1..].parse::<usize>().unwrap();
        let class = ["cough", "sneeze"][(event / 10 + session) % 2];
        recorded += usize::from(cells[2] == class);
        told += usize::from(cells[cells.len() - 2] == class);
    }
    assert!(told > recorded + 5 && told >= 124, "{told} {recorded}: {aligned}");
    folder.ok(&["predict", ".", "-o", "p.csv", "--detected", "d.csv"]);
    assert!(folder.read("p.csv").starts_with("session,time,probability,p_cough,p_sneeze\n"));
    let detected = folder.read("d.csv");
    assert!(detected.starts_with("session,time,probability,class\ns0,4,"), "{detected}");
    assert_eq!(detected.lines().count(), 129);
    let refused = folder.run(&["diagnose", "."]).err;
    assert!(refused.contains("does not work with several classes of events"), "{refused}");
}

/// The class of the event at an instance of a session of `with_classes`.
fn class_at(session: &str, time: &str) -> &'static str {
    let (session, i) = (session[1..].parse::<usize>().unwrap(), time.parse::<f64>().unwrap());
    ["cough", "sneeze"][(i as usize / 10 + session) % 2]
}

#[test]
fn events_that_were_missed_or_merged_have_a_class() {
    let folder = with_classes();
    // Every sixth event has no press, and the others have one or two, of which Bob's names the class rightly.
    let mut pressed = String::from("session,time,class,note,annotator\n");
    for (k, line) in folder.read("events.csv").lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let right = class_at(cells[0], &cells[3][1..]);
        for (who, class) in
            &[("ann", cells[2]), ("bob", right)][..if k % 6 == 0 { 0 } else { 1 + k % 2 }]
        {
            pressed += &format!("{},{},{class},{},{who}\n", cells[0], cells[1], cells[3]);
        }
    }
    folder.write("events.csv", &pressed);
    for labels in ["independent", "chain"] {
        let with = ["--classes", "class", "--restarts", "1", "--force", "--labels", labels];
        folder.ok(&[&["fit", "."], &with[..]].concat());
        let some = ["--merged", "merged.csv", "--missed-above", "0.3", "--force"];
        folder.ok(&[&["align", "."], &some[..]].concat());
        let (missed, merged) = (folder.read("missed.csv"), folder.read("merged.csv"));
        let end = if labels == "chain" { "end," } else { "" };
        let header = format!("session,time,{end}class,");
        assert!(missed.starts_with(&format!("{header}p_missed,p_detector\n")), "{missed}");
        assert!(merged.starts_with(&format!("{header}p_positive,stamps,seen_by\n")), "{merged}");
        let at = 2 + usize::from(!end.is_empty());
        for (table, least) in [(missed, 6), (merged, 100)] {
            let rows = table.lines().skip(1).map(|line| line.split(',').collect());
            let rows: Vec<Vec<&str>> = rows.collect();
            let right = rows.iter().filter(|row| row[at] == class_at(row[0], row[1])).count();
            // A feature tells the class, which one press in ten names wrongly.
            assert!(rows.len() >= least && right * 20 >= rows.len() * 19, "{right}: {table}");
        }
    }
}

#[test]
fn classes_are_on_the_page() {
    let folder = with_classes();
    folder.ok(&["fit", ".", "--classes", "class", "--restarts", "0", "--quiet"]);
    folder.ok(&["report", "."]);
    let page = folder.read("report.html");
    assert!(!page.contains("of the other instances got one"), "classes have no false rate");
    for expected in [
        "Events of each class are recorded as",
        "Scores by class",
        "goodness of fit and agreement of annotators are not told of several classes",
        "\"classes\":[\"cough\",\"sneeze\"]",
        "\"by_class\":",
        "\"records\":[[",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn classes_are_not_reviewed() {
    let folder = with_classes();
    let with = ["--export", "out", "--quiet"];
    let refused = |given: &[&str]| folder.fails(2, &[&["review", "."], given, &with].concat());
    let err = refused(&["--classes", "class"]);
    assert!(err.contains("a review is of one class of events"), "{err}");
    assert!(err.contains("--only class=cough"), "{err}");
    folder.ok(&["fit", ".", "--classes", "class", "--restarts", "0", "--quiet"]);
    let err = refused(&["-m", "model.json"]);
    assert!(err.contains("fit a model of one, as with --only class=cough"), "{err}");
    // What it asks for.
    let one = ["--classes", "class", "--only", "class=cough"];
    folder.ok(&[&["review", "."], &one[..], &with].concat());
}

#[test]
fn learners_are_compared_by_class() {
    let folder = with_classes();
    let some = ["--classes", "class", "--folds", "2", "--restarts", "0"];
    let told = folder.ok(&[&["evaluate", "."], &some[..]].concat());
    for expected in ["by class", "cough", "sneeze", "macro", "micro", "events of any class"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let found = folder.json("evaluation.json");
    let of = |k: usize| &found["learners"][k]["summary"]["labelled"];
    let classes = &of(0)["classes"];
    assert_eq!(classes["classes"][0]["class"], "cough");
    assert_eq!(classes["classes"][0]["events"], 64);
    assert_eq!(classes["micro_average"]["events"], 128);
    // A feature tells each class.
    assert!(classes["macro_average"]["f1"].as_f64().unwrap() > 0.95, "{classes}");
    assert!(of(1).get("classes").is_none(), "the others know no classes");
    folder.ok(&["fit", ".", "--classes", "class", "--restarts", "0", "--quiet"]);
    folder.ok(&["report", ".", "--evaluation", "evaluation.json"]);
    assert!(folder.read("report.html").contains("Learners compared by class"));
}

#[test]
fn classes_that_are_not_there_are_refused() {
    let folder = with_classes();
    let told = |column: &str| folder.run(&["fit", ".", "--classes", column]).err;
    assert!(told("kind").contains("no column `kind`"), "{}", told("kind"));
    let events = folder.read("events.csv").replacen(",cough,", ",,", 1);
    folder.write("events.csv", &events);
    assert!(told("class").contains("is not the class of the event"), "{}", told("class"));
}
