//! Learners side by side on simulated respiration, as stamps get sloppier.
//!
//! `cargo run --release --example comparison -- mpuff` (or `puffmarker`), and a seed if you like.
//! Ten folds over sessions, weight precision 1, threshold 0.5; F1 pooled over the folds, for the
//! paper's two sweeps in multiples of the median spacing of breaths.

use std::ops::ControlFlow;

use unjitter::baselines::{DropNear, HandAligned, Imprecise, MultipleInstance, Naive, Smear};
use unjitter::evaluation::{Contender, CrossValidation};
use unjitter::signal::CycleOptions;
use unjitter::simulation::{Annotator, Respiration};
use unjitter::{Recording, Result};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let preset = match arguments.next().as_deref() {
        None | Some("mpuff") => Respiration::mpuff(),
        Some("puffmarker") => Respiration::puffmarker(),
        Some(other) => panic!("unknown preset {other}, expected mpuff or puffmarker"),
    };
    let seed = arguments.next().map_or(0, |seed| seed.parse().expect("a seed is a whole number"));
    let mut recordings = Vec::new();
    for band in preset.simulate(seed)? {
        recordings.push(band.session(&CycleOptions::default())?.recording());
    }
    let spacing = median_spacing(&recordings);
    let instances: usize = recordings.iter().map(|recording| recording.session.len()).sum();
    let positives = recordings.iter().flat_map(|r| r.truth.iter().flatten()).filter(|y| **y);
    println!("{instances} breaths, {} puffs, spacing {spacing:.2} s", positives.count());
    println!("{:>12} {}", "", ["LR-H", "LR-M", "MI", "LR-D", "LR-S", "LR-N"].map(pad).join(" "));
    for sigma in [0.25, 0.5, 1.0, 2.0, 3.0, 5.0] {
        let annotator = Annotator::gaussian(0.0, sigma * spacing);
        compare(&format!("spread {sigma}"), &annotator, sigma * spacing, &recordings, seed)?;
    }
    for pressed in [1.0, 0.9, 0.8, 0.7] {
        let annotator = Annotator { miss: 1.0 - pressed, ..Annotator::gaussian(0.0, spacing) };
        compare(&format!("pressed {pressed}"), &annotator, spacing, &recordings, seed)?;
    }
    Ok(())
}

fn compare(
    name: &str,
    annotator: &Annotator,
    spread: f64,
    recordings: &[Recording],
    seed: u64,
) -> Result<()> {
    let mut annotated = Vec::new();
    for (k, recording) in recordings.iter().enumerate() {
        annotated.push(annotator.annotate(recording, 1000 * seed + k as u64)?);
    }
    let contenders = [
        Contender::single(HandAligned::default()),
        Contender::single(Imprecise::default()),
        Contender::single(MultipleInstance::default()),
        Contender::single(DropNear { radius: 2.0 * spread, ..DropNear::default() }),
        Contender::single(Smear { width: spread, ..Smear::default() }),
        Contender::single(Naive::default()),
    ];
    let options = CrossValidation { seed, ..CrossValidation::default() };
    let result = options.run(&annotated, &contenders, None, &|_| ControlFlow::Continue(()))?;
    let f1 = result.contenders.iter().filter_map(|judged| Some(judged.pooled()?.scores().f1));
    let row: Vec<String> = f1.map(|f1| pad(&format!("{f1:.3}"))).collect();
    println!("{name:>12} {}", row.join(" "));
    Ok(())
}

fn pad(text: &str) -> String {
    format!("{text:>6}")
}

fn median_spacing(recordings: &[Recording]) -> f64 {
    let mut gaps: Vec<f64> = Vec::new();
    for recording in recordings {
        gaps.extend(recording.session.times().windows(2).map(|pair| pair[1] - pair[0]));
    }
    gaps.sort_by(f64::total_cmp);
    gaps[gaps.len() / 2]
}
