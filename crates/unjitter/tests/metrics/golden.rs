//! Same numbers as scikit-learn, mir_eval and SciPy; `reference/metrics.py` wrote them.

use serde::Deserialize;
use unjitter::evaluation::*;
use unjitter::math::student_t_cdf;

#[derive(Deserialize)]
struct Golden {
    instances: Vec<Instances>,
    events: Vec<Events>,
    ranked: Vec<Ranked>,
    paired: Vec<Paired>,
    student_t: Vec<StudentT>,
}

#[derive(Deserialize)]
struct Instances {
    name: String,
    probabilities: Vec<f64>,
    labels: Vec<bool>,
    at: Vec<AtThreshold>,
    curve: Curve,
    average_precision: f64,
    brier_score: f64,
    log_loss: f64,
    reliability: Vec<Reliability>,
}

#[derive(Deserialize)]
struct AtThreshold {
    threshold: f64,
    /// True negatives, false positives, false negatives, true positives.
    confusion: [usize; 4],
    precision: f64,
    recall: f64,
    f1: f64,
}

#[derive(Deserialize)]
struct Curve {
    precision: Vec<f64>,
    recall: Vec<f64>,
    thresholds: Vec<f64>,
}

#[derive(Deserialize)]
struct Reliability {
    strategy: String,
    bins: usize,
    predicted: Vec<f64>,
    observed: Vec<f64>,
    counts: Vec<usize>,
    calibration_error: f64,
}

#[derive(Deserialize)]
struct Events {
    name: String,
    detections: Vec<f64>,
    truths: Vec<f64>,
    before: f64,
    after: f64,
    hits: usize,
    precision: f64,
    recall: f64,
    f1: f64,
    total_error: f64,
}

#[derive(Deserialize)]
struct Ranked {
    sessions: Vec<RankedSession>,
    before: f64,
    after: f64,
    average_precision: f64,
}

#[derive(Deserialize)]
struct RankedSession {
    detections: Vec<f64>,
    scores: Vec<f64>,
    truths: Vec<f64>,
}

#[derive(Deserialize)]
struct Paired {
    first: Vec<f64>,
    second: Vec<f64>,
    t: f64,
    p_value: f64,
}

#[derive(Deserialize)]
struct StudentT {
    t: f64,
    degrees_of_freedom: f64,
    cdf: f64,
}

fn golden() -> Golden {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/golden/metrics.json");
    let text = std::fs::read_to_string(path).expect("the golden file is there");
    let golden: Golden = serde_json::from_str(&text).expect("the golden file is well formed");
    assert_eq!((golden.instances.len(), golden.events.len(), golden.ranked.len()), (9, 33, 20));
    assert_eq!((golden.paired.len(), golden.student_t.len()), (8, 120));
    golden
}

fn assert_close(got: f64, want: f64, tolerance: f64, place: &str) {
    assert!((got - want).abs() <= tolerance, "{place}: {got:e} is not {want:e}");
}

fn assert_all_close(got: &[f64], want: &[f64], tolerance: f64, place: &str) {
    assert_eq!(got.len(), want.len(), "{place}");
    for (got, want) in got.iter().zip(want) {
        assert_close(*got, *want, tolerance, place);
    }
}

#[test]
fn confusion_and_its_scores_match_scikit_learn() {
    for case in golden().instances {
        for want in &case.at {
            let got = confusion(&case.probabilities, &case.labels, want.threshold).unwrap();
            let Confusion { true_positives, false_positives, false_negatives, true_negatives } =
                got;
            let cases = [true_negatives, false_positives, false_negatives, true_positives];
            assert_eq!(cases, want.confusion, "{}", case.name);
            let Scores { precision, recall, f1 } = got.scores();
            let want = [want.precision, want.recall, want.f1];
            // Quotients of the same integers.
            assert_all_close(&[precision, recall, f1], &want, 1e-15, &case.name);
        }
    }
}

#[test]
fn curves_match_scikit_learn() {
    for Instances { name, probabilities, labels, curve, average_precision: area, .. } in
        golden().instances
    {
        let mut got = precision_recall_curve(&probabilities, &labels).unwrap();
        got.reverse();
        let column = |read: fn(&CurvePoint) -> f64| got.iter().map(read).collect::<Vec<f64>>();
        assert_eq!(column(|point| point.threshold), curve.thresholds, "{name}");
        // Theirs ends with a point that has no threshold.
        let last = got.len();
        let precision = column(|point| point.scores.precision);
        assert_all_close(&precision, &curve.precision[..last], 1e-15, &name); // quotients
        let recall = column(|point| point.scores.recall);
        if labels.contains(&true) {
            assert_all_close(&recall, &curve.recall[..last], 1e-15, &name); // quotients
        } else {
            assert!(recall.iter().all(|&recall| recall == 0.0), "{name}");
        }
        let got = average_precision(&probabilities, &labels).unwrap();
        assert_close(got, area, 1e-12, &name); // a sum of 400 terms below one
    }
}

#[test]
fn the_best_f1_is_the_highest_on_the_curve() {
    for Instances { name, probabilities, labels, curve, .. } in golden().instances {
        let harmonic =
            |(&p, &r): (&f64, &f64)| if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 };
        let want = curve.precision.iter().zip(&curve.recall).map(harmonic).fold(0.0, f64::max);
        let got = best_f1(&probabilities, &labels).unwrap();
        assert_close(got.scores.f1, want, 1e-15, &name); // two roundings apart
        let again = confusion(&probabilities, &labels, got.threshold).unwrap();
        assert_eq!(again.scores(), got.scores, "{name}");
    }
}

#[test]
fn calibration_matches_scikit_learn() {
    for case in golden().instances {
        let Instances { name, probabilities, labels, .. } = &case;
        let brier = brier_score(probabilities, labels).unwrap();
        let loss = log_loss(probabilities, labels).unwrap();
        // Means of up to 400 terms; they clip the loss at 2.2e-16.
        assert_close(brier, case.brier_score, 1e-12, name);
        assert_close(loss, case.log_loss, 1e-12, name);
        for want in &case.reliability {
            let place = format!("{name}, {} {} bins", want.bins, want.strategy);
            let bins = match want.strategy.as_str() {
                "uniform" => Bins::EqualWidth(want.bins),
                "quantile" => Bins::Quantile(want.bins),
                other => panic!("unknown strategy {other}"),
            };
            let got = reliability_curve(probabilities, labels, bins).unwrap();
            let counts: Vec<usize> = got.iter().map(|bin| bin.count).collect();
            assert_eq!(counts, want.counts, "{place}");
            let predicted: Vec<f64> = got.iter().map(|bin| bin.mean_predicted).collect();
            let observed: Vec<f64> = got.iter().map(|bin| bin.observed_share).collect();
            // Means of up to 400 terms below one.
            assert_all_close(&predicted, &want.predicted, 1e-12, &place);
            assert_all_close(&observed, &want.observed, 1e-12, &place);
            let error = expected_calibration_error(probabilities, labels, bins).unwrap();
            assert_close(error, want.calibration_error, 1e-12, &place);
        }
    }
}

#[test]
fn event_scores_match_mir_eval_and_errors_the_assignment_problem() {
    for case in golden().events {
        let Events { name, detections, truths, before, after, .. } = &case;
        let tolerance = Tolerance { before: *before, after: *after };
        let pairs = match_events(detections, truths, &tolerance).unwrap();
        assert_eq!(pairs.len(), case.hits, "{name}");
        let error: f64 =
            pairs.iter().map(|pair| (detections[pair.detection] - truths[pair.truth]).abs()).sum();
        assert_eq!(error, case.total_error, "{name}"); // multiples of 1/128: exact
        let detections: Vec<Detection> =
            detections.iter().map(|&time| Detection::at(time, 1.0)).collect();
        let session = SessionEvents { detections: &detections, truths, observed: 1.0 };
        let got = event_metrics(&[session], &tolerance, 1.0).unwrap();
        let Scores { precision, recall, f1 } = got.scores;
        let want = [case.precision, case.recall, case.f1];
        // Their F1 comes from precision and recall: three roundings.
        assert_all_close(&[precision, recall, f1], &want, 1e-15, name);
        let mean_absolute = got.timing.map_or(0.0, |timing| timing.mean_absolute);
        let total = mean_absolute * case.hits as f64;
        assert_close(total, case.total_error, 1e-12, name); // a division and a product
    }
}

#[test]
fn average_precision_matches_mir_eval_at_every_score() {
    for (k, case) in golden().ranked.iter().enumerate() {
        let detections: Vec<Vec<Detection>> = case.sessions.iter().map(detections_of).collect();
        let sessions: Vec<SessionEvents<'_>> = detections
            .iter()
            .zip(&case.sessions)
            .map(|(detections, session)| SessionEvents {
                detections,
                truths: &session.truths,
                observed: 8.0,
            })
            .collect();
        let tolerance = Tolerance { before: case.before, after: case.after };
        let got = event_average_precision(&sessions, &tolerance).unwrap();
        assert_close(got, case.average_precision, 1e-14, &format!("case {k}")); // eight terms
        let grid = [tolerance, Tolerance::symmetric(0.0)];
        let exact = event_average_precision(&sessions, &grid[1]).unwrap();
        let mean = mean_event_average_precision(&sessions, &grid).unwrap();
        assert_close(mean, 0.5 * (got + exact), 1e-15, &format!("case {k}")); // one rounding
    }
}

fn detections_of(session: &RankedSession) -> Vec<Detection> {
    let both = session.detections.iter().zip(&session.scores);
    both.map(|(&time, &score)| Detection::at(time, score)).collect()
}

#[test]
fn the_t_test_matches_scipy() {
    for (k, case) in golden().paired.iter().enumerate() {
        let got = paired_t_test(&case.first, &case.second).unwrap();
        let place = format!("case {k}");
        // Relative: differences of scores near 0.7 lose a digit or two.
        assert_close(got.t, case.t, 1e-12 * case.t.abs(), &place);
        assert_close(got.p_value, case.p_value, 1e-12 * case.p_value, &place);
        assert_eq!(got.degrees_of_freedom, case.first.len() - 1);
    }
}

#[test]
fn the_t_distribution_matches_scipy() {
    for StudentT { t, degrees_of_freedom, cdf } in golden().student_t {
        let got = student_t_cdf(t, degrees_of_freedom);
        // Relative, as promised: tails go down to 1e-114 here.
        assert_close(got, cdf, 1e-12 * cdf, &format!("t = {t}, {degrees_of_freedom} degrees"));
    }
}
