//! Bouts: the same numbers as sed_scores_eval and SciPy, which `reference/bouts.py` wrote, and what they refuse.

use serde::Deserialize;
use unjitter::evaluation::*;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    sessions: Vec<Lists>,
    overlap: f64,
    detection: f64,
    truth: f64,
    stretch: f64,
    overlap_hits: usize,
    intersection: Scores,
    stretches: Scores,
    error_rate: f64,
}

#[derive(Deserialize)]
struct Lists {
    detections: Vec<[f64; 2]>,
    truths: Vec<[f64; 2]>,
}

fn bouts(ends: &[[f64; 2]]) -> Vec<Bout> {
    ends.iter().map(|&[start, end]| Bout { start, end }).collect()
}

fn metrics(sessions: &[(Vec<Bout>, Vec<Bout>)], options: &BoutOptions) -> BoutMetrics {
    let session = |(detections, truths)| SessionBouts { detections, truths, begins: 0.0 };
    let sessions: Vec<SessionBouts<'_>> =
        sessions.iter().map(|(found, truths)| session((found, truths))).collect();
    bout_metrics(&sessions, options).unwrap()
}

#[test]
fn scores_of_bouts_are_those_of_the_reference() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../../../reference/golden/bouts.json")).unwrap();
    for (k, case) in golden.cases.iter().enumerate() {
        let Case { overlap, detection, truth, stretch, .. } = *case;
        let lists = |own: &Lists| {
            // Any order is the same.
            let reversed = own.detections.iter().rev().copied().collect::<Vec<_>>();
            (bouts(&reversed), bouts(&own.truths))
        };
        let sessions: Vec<_> = case.sessions.iter().map(lists).collect();
        let found = metrics(&sessions, &BoutOptions { overlap, detection, truth, stretch });
        let hits = (found.overlap.recall * found.bouts as f64).round() as usize;
        assert_eq!(hits, case.overlap_hits, "{k}");
        let pairs = [(found.intersection, case.intersection), (found.stretches, case.stretches)];
        for (own, want) in pairs {
            for (own, want) in
                [(own.precision, want.precision), (own.recall, want.recall), (own.f1, want.f1)]
            {
                assert!((own - want).abs() < 1e-15, "{k}: {own} {want}"); // one division
            }
        }
        let rate = found.error_rate.unwrap();
        assert!((rate - case.error_rate).abs() < 1e-15, "{k}: {rate}"); // one division
    }
    assert!(golden.cases.iter().any(|case| case.overlap_hits > 4));
}

#[test]
fn both_ends_of_what_was_found_have_their_errors() {
    let truths = bouts(&[[1.0, 3.0], [5.0, 9.0]]);
    let found = metrics(
        &[(bouts(&[[1.5, 3.0], [5.0, 8.0], [20.0, 21.0]]), truths.clone())],
        &BoutOptions::default(),
    );
    assert_eq!((found.bouts, found.detections, found.errors), (2, 3, Some((0.25, 0.5))));
    assert_eq!((found.overlap.recall, found.overlap.precision), (1.0, 2.0 / 3.0));
    let same = metrics(
        &[(truths.clone(), truths.clone())],
        &BoutOptions { stretch: 0.3, ..BoutOptions::default() },
    );
    assert_eq!((same.overlap.f1, same.intersection.f1, same.stretches.f1), (1.0, 1.0, 1.0));
    assert_eq!((same.errors, same.error_rate), (Some((0.0, 0.0)), Some(0.0)));
    let nothing = metrics(&[(Vec::new(), Vec::new())], &BoutOptions::default());
    assert_eq!((nothing.overlap.f1, nothing.errors, nothing.error_rate), (0.0, None, None));
}

#[test]
fn pieces_of_a_bout_cover_it_and_are_one_at_most() {
    let (pieces, whole) = (bouts(&[[0.0, 2.0], [2.0, 4.0]]), bouts(&[[0.0, 4.0]]));
    let found =
        metrics(&[(pieces, whole)], &BoutOptions { overlap: 0.5, ..BoutOptions::default() });
    assert_eq!(found.overlap.precision, 0.5);
    assert_eq!((found.intersection.precision, found.intersection.recall), (1.0, 1.0));
}

#[test]
fn lists_that_overlap_and_options_that_ask_nothing_are_refused() {
    let told = |own: &[[f64; 2]]| match_bouts(&bouts(own), &[], 0.5).unwrap_err().to_string();
    let early = told(&[[4.0, 5.0], [1.0, 4.5]]);
    assert!(early.contains("detected bout 0 is 4") && early.contains("after the end"), "{early}");
    let reversed = told(&[[0.0, 1.0], [3.0, 2.0]]);
    assert!(
        reversed.contains("detected bout 1 is 2") && reversed.contains("not before"),
        "{reversed}"
    );
    assert!(match_bouts(&[], &bouts(&[[f64::NAN, 2.0]]), 0.5).is_err());
    for options in [
        BoutOptions { overlap: 0.0, ..BoutOptions::default() },
        BoutOptions { detection: 1.1, ..BoutOptions::default() },
        BoutOptions { stretch: 0.0, ..BoutOptions::default() },
    ] {
        let session = SessionBouts { detections: &[], truths: &[], begins: 0.0 };
        assert!(bout_metrics(&[session], &options).is_err(), "{options:?}");
    }
}
