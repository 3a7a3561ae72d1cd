//! Numbers of the summary, and time that grows with the data alone.

use std::time::{Duration, Instant};

use super::{Made, Tables, healthy};

#[test]
fn the_summary_counts() {
    let sessions = healthy(2);
    let inspection = Tables::of(&sessions).inspect();
    let summary = &inspection.summary;
    let stamps: Vec<usize> = sessions.iter().map(|session| session.stamps.len()).collect();
    assert_eq!((summary.sessions, summary.instances, summary.features), (2, 600, 2));
    assert_eq!(summary.stamps, stamps[0] + stamps[1]);
    assert_eq!(summary.subjects, None);
    assert_eq!(summary.stamps_per_session.lowest, stamps[0].min(stamps[1]) as f64);
    let spacing = summary.spacing.unwrap();
    assert!((spacing.median - 1.0).abs() < 0.05 && spacing.irregular, "{spacing:?}");
    // Twice 299 seconds, give or take two fifths of a second.
    assert!((summary.hours * 3600.0 - 598.0).abs() < 0.8);
    let balance = summary.balance.unwrap();
    assert_eq!((balance.labelled, balance.unlabelled), (600, 0.0));
    assert_eq!(balance.positives, stamps[0] + stamps[1]);
    for histogram in [&inspection.from_nearest_instance, &inspection.from_nearest_positive] {
        let histogram = histogram.as_ref().unwrap();
        let all: usize = histogram.counts.iter().sum();
        assert_eq!(all + histogram.below + histogram.above, summary.stamps);
    }
    // The annotator was late by 0.4 s, half a second more or less; 60 stamps.
    let median = inspection.from_nearest_positive.unwrap().median;
    assert!((median - 0.4).abs() < 0.25, "{median}");
    assert!(Tables::of(&sessions).unlabelled().inspect().from_nearest_positive.is_none());
}

#[test]
fn findings_come_worst_first() {
    let mut sessions = healthy(2);
    sessions[0].labels[0].clear();
    sessions[1].stamps.clear();
    let mut tables = Tables::of(&sessions);
    tables.events += "nobody,3\n";
    let severities: Vec<_> = tables.findings().iter().map(|finding| finding.severity()).collect();
    assert!(severities.len() >= 3 && severities.is_sorted_by(|a, b| a >= b), "{severities:?}");
}

#[test]
fn large_data_is_looked_at_in_no_time() {
    // As many positives and stamps as instances: the worst for the search of a delay.
    let count = 100_000;
    let times: Vec<f64> = (0..count).map(f64::from).collect();
    let long = Made {
        name: "long".to_owned(),
        stamps: times.iter().map(|t| t + 0.3 * (t * 0.7).sin()).collect(),
        features: times.iter().map(|t| vec![t.sin()]).collect(),
        labels: vec!["1".to_owned(); times.len()],
        times,
    };
    let session = |k: u32| Made {
        name: format!("s{k}"),
        times: vec![0.0, 1.0],
        features: vec![vec![f64::from(k).sin()], vec![f64::from(k).cos()]],
        labels: vec!["1".to_owned(), String::new()],
        stamps: vec![0.1 + f64::from(k % 7) / 10.0],
    };
    let short: Vec<Made> = (0..50_000).map(session).collect();
    for sessions in [vec![long], short] {
        let mut tables = Tables::of(&sessions);
        // A thousand unknown names.
        tables.events.extend((0..1000).map(|k| format!("t{k},1\n")));
        let start = Instant::now();
        tables.inspect();
        // Seconds on a busy machine; minutes if anything were quadratic.
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}

#[test]
fn absurd_numbers_are_survived() {
    for times in [["-1e308", "0", "1e308"], ["1e-300", "1e-300", "1e-300"], ["0", "1e-9", "1e30"]] {
        for stamp in ["1e308", "-1e308", "0", "-1e-308"] {
            let rows: String =
                times.iter().enumerate().map(|(k, t)| format!("a,{t},{k}e307,1\n")).collect();
            let tables = Tables {
                instances: format!("session,time,x,label\n{rows}"),
                events: "session,time\n".to_owned() + &format!("a,{stamp}\n").repeat(20),
            };
            let inspection = tables.inspect();
            assert!(inspection.findings.iter().all(|finding| !finding.to_string().is_empty()));
        }
    }
}
