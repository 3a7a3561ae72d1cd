//! The method against its alternatives, on simulated respiration of reduced size. The full figures come
//! from `experiments/spread.toml`, by `make experiments`.

use unjitter::baselines::{AlignmentLearner, HandAligned, MultipleInstance, Naive};
use unjitter::evaluation::{Contender, ContenderResult, Criterion, CrossValidation};
use unjitter::signal::CycleOptions;
use unjitter::simulation::{Annotator, Respiration};
use unjitter::{Control, Model, Priors, Recording};

/// About half of the preset's recordings.
fn reduced() -> Respiration {
    Respiration { sessions: 8, puffs: 100, negatives: 1780, ..Respiration::mpuff() }
}

/// Recordings of a seed, and the median spacing of their breaths.
fn breaths(preset: &Respiration, seed: u64) -> (Vec<Recording<'static>>, f64) {
    let recordings: Vec<Recording> = preset
        .simulate(seed, Control::default())
        .unwrap()
        .iter()
        .map(|band| band.session(&CycleOptions::default()).unwrap().recording())
        .collect();
    let gaps = |recording: &Recording| -> Vec<f64> {
        recording.session.times().windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let mut gaps: Vec<f64> = recordings.iter().flat_map(gaps).collect();
    gaps.sort_by(f64::total_cmp);
    (recordings, gaps[gaps.len() / 2])
}

fn annotate<'a>(data: &[Recording<'a>], annotator: &Annotator) -> Vec<Recording<'a>> {
    data.iter().zip(0..).map(|(recording, k)| annotator.annotate(recording, k).unwrap()).collect()
}

fn judge(
    data: &[Recording],
    contenders: &[Contender],
    options: &CrossValidation,
) -> Vec<ContenderResult> {
    options.run(data, contenders, None, Control::default()).unwrap().contenders
}

/// Pooled F1 of LR-H, LR-M, MI and LR-N over four folds.
fn f1(data: &[Recording]) -> [f64; 4] {
    let contenders = [
        Contender::single(HandAligned::default()),
        Contender::single(AlignmentLearner::default()),
        Contender::single(MultipleInstance::default()),
        Contender::single(Naive::default()),
    ];
    let options = CrossValidation { folds: 4, ..CrossValidation::default() };
    let judged = judge(data, &contenders, &options);
    std::array::from_fn(|k| judged[k].pooled().unwrap().scores().f1)
}

/// The mean over three seeds: one seed alone says little about half a dozen sessions.
fn mean_f1(annotator: impl Fn(f64) -> Annotator) -> [f64; 4] {
    let mut mean = [0.0; 4];
    for seed in 0..3 {
        let (recordings, spacing) = breaths(&reduced(), seed);
        let scores = f1(&annotate(&recordings, &annotator(spacing)));
        mean.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score / 3.0);
    }
    mean
}

#[test]
fn ours_degrades_least_as_stamps_scatter() {
    let at = |sigma: f64| mean_f1(|spacing| Annotator::paper_spread(sigma * spacing));
    let [exact, one, two, four] = [at(0.25), at(1.0), at(2.0), at(4.0)];
    for [hand, ours, witnesses, naive] in [one, two, four] {
        assert!(ours > witnesses && ours > naive, "{one:?} {two:?} {four:?}");
        assert!(ours > 0.95 * hand, "{one:?} {two:?} {four:?}");
    }
    let fall = |learner: usize| exact[learner] - four[learner];
    assert!(fall(1) < fall(2) && fall(1) < fall(3), "{exact:?} {four:?}");
}

#[test]
fn ours_degrades_least_as_stamps_go_missing() {
    let at = |pressed: f64| {
        let miss = 1.0 - pressed;
        mean_f1(|spacing| Annotator { miss, ..Annotator::gaussian(0.0, spacing) })
    };
    let (all, some) = (at(1.0), at(0.7));
    for learner in [2, 3] {
        assert!(some[1] > some[learner], "{some:?}");
        assert!(all[1] - some[1] < all[learner] - some[learner], "{all:?} {some:?}");
    }
}

#[test]
fn held_out_evidence_chooses_nearly_as_well_as_clean_labels() {
    let grid = || {
        Contender::grid([0.1, 1.0, 10.0, 100.0].map(|weight_precision| {
            let priors = Priors { weight_precision, ..Priors::default() };
            AlignmentLearner {
                model: Model { priors, ..Model::default() },
                ..AlignmentLearner::default()
            }
        }))
    };
    let by = |criterion, seed| {
        let (recordings, spacing) = breaths(&Respiration::mpuff(), seed);
        let data = annotate(&recordings, &Annotator::paper_spread(spacing));
        let criterion = Some(criterion);
        let options =
            CrossValidation { folds: 4, inner_folds: 3, criterion, ..CrossValidation::default() };
        judge(&data, &[grid()], &options)[0].pooled().unwrap().scores().f1
    };
    let mean = |criterion| (by(criterion, 0) + by(criterion, 1)) / 2.0;
    let (labels, evidence) = (mean(Criterion::F1), mean(Criterion::LogEvidence));
    // The promise: at most 2 % of the F1.
    assert!(evidence > 0.98 * labels, "{evidence} by evidence, {labels} by labels");
}
