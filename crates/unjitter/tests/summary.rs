//! Summaries of comparisons, and a fit's density of delays, through the public API.

use ndarray::Array2;
use unjitter::baselines::{AlignmentLearner, HandAligned, Naive};
use unjitter::evaluation::{
    Comparison, Contender, ContenderResult, CrossValidation, EventScoring, FoldResult, FoldWarning,
    GroupBy, SummaryOptions, bonferroni, confusion, paired_t_test, usual_tolerance,
};
use unjitter::labels::Labels;
use unjitter::math::Random;
use unjitter::simulation::Annotator;
use unjitter::{Control, FitOptions, Model, Recording, Session};

/// Eight sessions of two people whose events look alike within a person only.
fn recordings() -> Vec<Recording<'static>> {
    let mut random = Random::new(4);
    let annotator = Annotator::gaussian(0.5, 1.0);
    (0..8)
        .map(|k| {
            let truth: Vec<bool> = (0..120).map(|i| i % 12 == 5).collect();
            let height = if k % 2 == 0 { 2.5 } else { 1.0 };
            let features = Array2::from_shape_fn((120, 2), |(i, _)| {
                random.normal() + if truth[i] { height } else { 0.0 }
            });
            let times = (0..120).map(f64::from).collect();
            let session = Session::new(format!("s{k}"), features, times, vec![]).unwrap();
            let session = session.with_subject(format!("p{}", k % 2));
            let recording = Recording { session, truth: Some(truth) };
            annotator.annotate(&recording, k).unwrap()
        })
        .collect()
}

fn compared(recordings: &[Recording], group_by: GroupBy) -> Comparison {
    let contenders = [
        Contender::single(AlignmentLearner::default()),
        Contender::single(HandAligned::default()),
        Contender::single(Naive::default()),
    ];
    let options = CrossValidation { folds: 4, group_by, ..CrossValidation::default() };
    options.run(recordings, &contenders, None, Control::default()).unwrap()
}

#[test]
fn a_summary_agrees_with_what_it_sums_up() {
    let recordings = recordings();
    let comparison = compared(&recordings, GroupBy::Session);
    let lines =
        comparison.summary(&recordings, 0, &SummaryOptions::default(), Control::default()).unwrap();
    let stamps: usize = recordings.iter().map(|r| r.session.stamps().len()).sum();
    for (line, judged) in lines.iter().zip(&comparison.contenders) {
        let labelled = line.labelled.as_ref().unwrap();
        assert_eq!(labelled.scores, judged.pooled().unwrap().scores());
        let by_hand = comparison
            .probabilities(judged, recordings.len())
            .iter()
            .zip(&recordings)
            .map(|(p, recording)| confusion(p, recording.truth.as_ref().unwrap(), 0.5).unwrap())
            .reduce(|a, b| a + b);
        assert_eq!(by_hand.unwrap(), judged.pooled().unwrap());
        let interval = labelled.f1_interval;
        assert!(interval.low <= labelled.scores.f1 && labelled.scores.f1 <= interval.high);
        assert!(interval.low < interval.high || labelled.scores.f1 == 0.0);
        let evidence: Option<f64> = judged.folds.iter().map(|fold| fold.log_evidence()).sum();
        // No annotator is fitted around a bare detector for its evidence alone.
        assert_eq!(evidence.is_some(), judged.name.ends_with("-M"), "{}", judged.name);
        let per_stamp = evidence.map(|evidence| evidence / stamps as f64);
        // The same sum, divided once.
        let close = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
        assert!(line.log_evidence_per_stamp.zip(per_stamp).is_none_or(close));
        assert_eq!(line.log_evidence_per_stamp.is_some(), per_stamp.is_some());
    }
    let f1 = |k: usize| comparison.contenders[k].f1().unwrap();
    let test = paired_t_test(&f1(2), &f1(0)).unwrap();
    let p = lines[2].labelled.as_ref().unwrap().p_value.unwrap();
    assert_eq!(p, bonferroni(test.p_value, 2).unwrap());
    assert_eq!(lines[0].labelled.as_ref().unwrap().p_value, None);
}

#[test]
fn folds_with_nothing_to_find_are_no_failures() {
    let mut recordings = recordings();
    let empty = recordings[3].truth.as_ref().unwrap().len();
    recordings[3].truth = Some(vec![false; empty]);
    let contenders = [Contender::single(HandAligned::default())];
    let options = CrossValidation { folds: 8, ..CrossValidation::default() };
    let comparison = options.run(&recordings, &contenders, None, Control::default()).unwrap();
    let judged = &comparison.contenders[0];
    let without = comparison.folds.iter().position(|fold| fold == &[3]).unwrap();
    let mut expected = judged.f1().unwrap();
    assert_eq!(expected.remove(without), 0.0);
    assert_eq!(judged.f1_where_positive().unwrap(), expected);
}

#[test]
fn intervals_resample_what_folds_keep_together() {
    let recordings = recordings();
    let options = SummaryOptions::default();
    // The same probabilities, once as eight sessions and once as those of two people.
    let mut by_session = compared(&recordings, GroupBy::Subject);
    let by_subject = by_session.clone();
    assert_eq!(by_subject.groups, [[0, 2, 4, 6], [1, 3, 5, 7]]);
    by_session.groups = (0..8).map(|k| vec![k]).collect();
    let width = |comparison: &Comparison| {
        let lines = comparison.summary(&recordings, 0, &options, Control::default()).unwrap();
        let interval = lines[1].labelled.as_ref().unwrap().f1_interval;
        interval.high - interval.low
    };
    assert!(
        width(&by_subject) > 1.2 * width(&by_session),
        "people differ more than their sessions"
    );
}

#[test]
fn with_no_tolerance_events_are_instances() {
    let recordings = recordings();
    let comparison = compared(&recordings, GroupBy::Session);
    let of = |events: EventScoring| -> Vec<_> {
        let options = SummaryOptions { events, ..SummaryOptions::default() };
        let lines = comparison.summary(&recordings, 0, &options, Control::default()).unwrap();
        lines.into_iter().map(|line| line.labelled.unwrap()).collect()
    };
    let exact = EventScoring { tolerance: Some(0.0), ..EventScoring::default() };
    for (line, judged) in of(exact).iter().zip(&comparison.contenders) {
        assert_eq!(line.events.metrics.scores, line.scores);
        let confusion = judged.pooled().unwrap();
        assert_eq!(line.events.metrics.false_alarms, confusion.false_positives);
        // Eight sessions of 119 s.
        let hours = 8.0 * 119.0 / 3600.0;
        let rate = confusion.false_positives as f64 / hours;
        // A quotient of few roundings.
        assert!((line.events.metrics.false_alarms_per_hour.unwrap() - rate).abs() < 1e-9);
    }
    let usual = of(EventScoring::default());
    let ours = &usual[0].events;
    // Instances are 1 s apart, events 12.
    assert_eq!((ours.tolerance, usual_tolerance(&recordings, Labels::Independent)), (2.0, 2.0));
    assert!(ours.metrics.hits >= of(exact)[0].events.metrics.hits);
    let apart = EventScoring { min_separation: 500.0, ..EventScoring::default() };
    let one_each = of(apart)[0].events.metrics;
    assert!(one_each.hits + one_each.false_alarms <= 8, "{one_each:?}");
    let milliseconds = EventScoring { seconds_per_unit: 0.001, ..exact };
    let (slow, fast) = (of(exact), of(milliseconds));
    let rate = |lines: &[unjitter::evaluation::LabelledSummary]| {
        lines[1].events.metrics.false_alarms_per_hour.unwrap()
    };
    // Rounding alone.
    assert!((rate(&fast) / rate(&slow) - 1000.0).abs() < 1e-6);
}

#[test]
fn false_alarms_are_counted_where_somebody_was_annotating() {
    let mut recordings = recordings();
    for recording in &mut recordings {
        let session = recording.session.clone().with_stamps(vec![]).unwrap();
        // There can be no alarm beyond the recording, so that time does not count.
        recording.session = session.with_observed(vec![(-500.0, 29.0), (100.0, 600.0)]).unwrap();
    }
    let comparison = Comparison {
        folds: vec![(0..8).collect()],
        groups: (0..8).map(|k| vec![k]).collect(),
        contenders: vec![all_positive(&recordings)],
    };
    let scoring = EventScoring { tolerance: Some(0.0), ..EventScoring::default() };
    let options = SummaryOptions { events: scoring, ..SummaryOptions::default() };
    let line = comparison.summary(&recordings, 0, &options, Control::default()).unwrap().remove(0);
    let events = line.labelled.unwrap().events.metrics;
    // Of 30 + 20 instances there, those at 5, 17, 29, 101 and 113 are events.
    assert_eq!((events.hits, events.misses, events.false_alarms), (8 * 5, 0, 8 * 45));
    let hours = 8.0 * (29.0 + 19.0) / 3600.0;
    // A quotient of few roundings.
    assert!((events.false_alarms_per_hour.unwrap() - 8.0 * 45.0 / hours).abs() < 1e-9);
}

#[test]
fn a_run_is_one_event_that_does_not_leave_what_was_annotated() {
    let mut recordings = recordings();
    for recording in &mut recordings {
        let session = recording.session.clone().with_stamps(vec![]).unwrap();
        recording.session = session.with_observed(vec![(0.0, 29.0), (41.0, 60.0)]).unwrap();
        // Two runs of three, one of which begins where nobody looked, and a single instance.
        let truth = recording.truth.as_mut().unwrap();
        truth.fill(false);
        [4, 5, 6, 40, 41, 42, 55].into_iter().for_each(|i| truth[i] = true);
    }
    let comparison = Comparison {
        folds: vec![(0..8).collect()],
        groups: (0..8).map(|k| vec![k]).collect(),
        contenders: vec![all_positive(&recordings)],
    };
    let events =
        EventScoring { tolerance: Some(0.0), labels: Labels::Chain, ..EventScoring::default() };
    let options = SummaryOptions { events, ..SummaryOptions::default() };
    let line = comparison.summary(&recordings, 0, &options, Control::default()).unwrap().remove(0);
    let found = line.labelled.unwrap().events.metrics;
    // Everything is positive: a run from 0 on, and one from 41 on, where a true one begins too.
    assert_eq!((found.hits, found.misses, found.false_alarms), (8, 8 * 2, 8));
    assert_eq!(usual_tolerance(&recordings, Labels::Chain), 2.0);
}

/// A contender that calls every instance positive, all recordings in one fold.
fn all_positive(recordings: &[Recording]) -> ContenderResult {
    let probabilities: Vec<Vec<f64>> =
        recordings.iter().map(|one| vec![1.0; one.session.len()]).collect();
    let pooled = recordings
        .iter()
        .zip(&probabilities)
        .map(|(one, p)| confusion(p, one.truth.as_ref().unwrap(), 0.5).unwrap())
        .reduce(|a, b| a + b);
    let fold = FoldResult {
        chosen: 0,
        threshold: 0.5,
        evidence: None,
        probabilities,
        confusion: pooled,
        classes: None,
    };
    ContenderResult { name: "all".into(), folds: vec![fold], candidates: vec![] }
}

#[test]
fn folds_that_say_little_are_named() {
    let mut recordings = recordings();
    let asked = |folds| CrossValidation { folds, ..CrossValidation::default() };
    let contenders = [Contender::single(HandAligned::default())];
    let of = |recordings: &[Recording], options: CrossValidation| -> Vec<String> {
        let comparison = options.run(recordings, &contenders, None, Control::default()).unwrap();
        comparison.warnings(recordings, &options).iter().map(ToString::to_string).collect()
    };
    assert_eq!(of(&recordings, asked(8)), Vec::<String>::new());
    assert_eq!(of(&recordings, asked(20)), ["8 folds instead of 20: there are only 8 sessions"]);
    let by_subject = CrossValidation { group_by: GroupBy::Subject, ..asked(10) };
    let found = of(&recordings, by_subject);
    assert_eq!(found, ["2 folds instead of 10: there are only 2 subjects"]);
    recordings[3].truth = Some(vec![false; 120]);
    recordings[4].truth = Some((0..120).map(|i| i == 7).collect());
    let found = of(&recordings, asked(8));
    let folds = 8;
    let expected =
        [FoldWarning::NoPositive { count: 1, folds }, FoldWarning::OnePositive { count: 1, folds }];
    assert_eq!(found, expected.map(|warning| warning.to_string()));
    assert!(found[0].starts_with("1 of 8 folds have no positive instance"), "{found:?}");
    assert!(found[1].starts_with("1 of 8 folds have a single positive instance"), "{found:?}");
}

#[test]
fn the_learned_density_integrates_to_one_in_the_unit_of_the_data() {
    let sessions: Vec<Session> = recordings().into_iter().map(|r| r.session).collect();
    // Spacings are one second; a unit of three must not show.
    let model = Model { time_unit: Some(3.0), ..Model::default() };
    let fitted = model.fit(&sessions, &FitOptions::default(), Control::default()).unwrap();
    let step = 0.01;
    let delays: Vec<f64> = (-2000..=2000).map(|k| f64::from(k) * step).collect();
    let density = fitted.delay_density(&delays);
    let total: f64 = density.iter().sum::<f64>() * step;
    // Sums of a smooth density on a fine grid are exact to far more digits.
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    let mean: f64 = delays.iter().zip(&density).map(|(d, p)| d * p).sum::<f64>() * step;
    assert!((mean - fitted.learned().delay).abs() < 1e-9, "{mean}");
}
