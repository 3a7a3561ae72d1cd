//! Cycles of waves whose troughs and peaks are known.

use std::f64::consts::TAU;

use unjitter::math::Random;
use unjitter::signal::{Cycle, CycleOptions, Signal, find_cycles};

/// Seconds per breath of the test waves, which have troughs (−1) at its multiples.
const PERIOD: f64 = 4.0;

fn wave(time: f64) -> f64 {
    -(TAU * time / PERIOD).cos()
}

/// Times at 32 Hz, exact in binary, from 1 s to `end`: the first trough comes after 3 s.
fn regular(end: f64) -> Vec<f64> {
    (32..).map(|k| f64::from(k) / 32.0).take_while(|&time| time <= end).collect()
}

fn signal(times: Vec<f64>, value: impl FnMut(&f64) -> f64) -> Signal {
    let values = times.iter().map(value).collect();
    Signal::new(times, values).unwrap()
}

/// Cycles begin at the trough itself, where the wave is known to turn.
fn from_trough() -> CycleOptions {
    CycleOptions { onset: 0.0, ..CycleOptions::default() }
}

fn cycles(signal: &Signal) -> Vec<Cycle> {
    find_cycles(signal, &from_trough()).unwrap().cycles
}

/// Exactly the breaths that begin at `troughs`, placed to within `seconds` and as deep as the wave
/// to within `amplitude`.
#[track_caller]
fn assert_breaths(found: &[Cycle], troughs: &[f64], seconds: f64, amplitude: f64) {
    assert_eq!(found.len(), troughs.len(), "cycles start at {:?}", starts(found));
    for (cycle, trough) in found.iter().zip(troughs) {
        let times = [cycle.start, cycle.peak - PERIOD / 2.0, cycle.end - PERIOD];
        assert!(times.iter().all(|time| (time - trough).abs() <= seconds), "{trough}: {cycle:?}");
        let swings = [cycle.peak_value - cycle.start_value, cycle.peak_value - cycle.end_value];
        assert!(swings.iter().all(|swing| (swing - 2.0).abs() <= amplitude), "{cycle:?}");
    }
}

fn starts(found: &[Cycle]) -> Vec<f64> {
    found.iter().map(|cycle| cycle.start).collect()
}

fn multiples(from: u32, to: u32) -> Vec<f64> {
    (from..=to).map(|k| PERIOD * f64::from(k)).collect()
}

#[test]
fn a_clean_wave_gives_every_cycle() {
    let found = cycles(&signal(regular(61.0), |&t| wave(t)));
    // One step of the grid. The median and the mean filter lower a peak by 1.7 % of the half swing.
    assert_breaths(&found, &multiples(1, 14), 0.05, 0.04);
}

#[test]
fn drift_irregular_sampling_spikes_and_noise_change_nothing() {
    let mut random = Random::new(5);
    let all = multiples(1, 29);

    let drifting = signal(regular(122.0), |&t| wave(t) + 0.01 * t + 2.0 * (t / 40.0).sin());
    // The drift rises by up to 0.06 a second: 0.24 in a cycle. It moves a trough by a few steps
    // near the ends of the signal, where the baseline is held constant.
    assert_breaths(&cycles(&drifting), &all, 0.15, 0.3);

    let mut times: Vec<f64> = (0..2620).map(|_| 1.0 + 121.0 * random.uniform()).collect();
    times.sort_by(f64::total_cmp);
    // Poisson sampling at 21.7 Hz: steps up to 0.5 s are cut short by a straight line.
    assert_breaths(&cycles(&signal(times, |&t| wave(t))), &all, 0.2, 0.1);

    let mut count = 0;
    let spiky = signal(regular(122.0), |&t| {
        count += 1;
        wave(t) - if count % 97 < 2 { 8.0 } else { 0.0 }
    });
    // Spikes of two samples, four times the swing, downwards; a peak beside one is cut by a step or
    // two.
    assert_breaths(&cycles(&spiky), &all, 0.2, 0.06);

    let noisy = signal(regular(122.0), |&t| wave(t) + 0.1 * random.normal());
    // Averages of noise near the flat top move it by a few steps.
    assert_breaths(&cycles(&noisy), &all, 0.35, 0.15);
}

#[test]
fn no_cycle_spans_a_gap() {
    let times = regular(61.0).into_iter().filter(|time| !(21.5..27.0).contains(time)).collect();
    let found = find_cycles(&signal(times, |&t| wave(t)), &from_trough()).unwrap();
    assert_eq!(found.runs, 2);
    // The breath from 16 ends before the gap; 20 and 24 are broken by it.
    let troughs = [multiples(1, 4), multiples(7, 14)].concat();
    assert_breaths(&found.cycles, &troughs, 0.05, 0.04);
    assert_eq!(found.cycles[3].run, 0);
    assert_eq!(found.cycles[4].run, 1);
}

#[test]
fn a_short_loss_is_bridged() {
    // 0.7 s on the slope of each third breath.
    let times = regular(67.0).into_iter().filter(|t| !(0.6..1.3).contains(&(t % 12.0))).collect();
    let found = find_cycles(&signal(times, |&t| wave(t)), &from_trough()).unwrap();
    assert_eq!(found.runs, 1);
    // Two steps: the line that bridges a loss moves the baseline a little.
    assert_breaths(&found.cycles, &multiples(1, 15), 0.1, 0.04);
}

#[test]
fn inhalation_begins_where_a_pause_ends() {
    // Two seconds of pause, sinking a little and noisy, then a breath of three.
    let mut random = Random::new(6);
    let breathing = signal(regular(101.0), |&t| {
        let at = t % 5.0;
        let breath = if at < 3.0 { 1.0 - (TAU * at / 3.0).cos() } else { -0.02 * (at - 3.0) };
        breath + 0.02 * random.normal()
    });
    let found = find_cycles(&breathing, &CycleOptions::default()).unwrap();
    assert_eq!(found.cycles.len(), 19);
    for (k, cycle) in found.cycles.iter().enumerate() {
        let want = 5.0 * (k + 1) as f64;
        // A tenth of the rise is reached after acos(0.8)/TAU·3 = 0.31 s; the noise moves it by 0.1
        // s.
        assert!((0.15..0.45).contains(&(cycle.start - want)), "{want}: {cycle:?}");
    }
}

#[test]
fn a_few_deep_breaths_do_not_hide_ordinary_ones() {
    let deep = |t: f64| if (t / PERIOD) as u32 % 4 == 2 { 3.0 } else { 1.0 };
    let found = cycles(&signal(regular(121.0), |&t| deep(t) * (1.0 + wave(t))));
    assert_eq!(found.len(), 29);
    let deepest = found.iter().filter(|cycle| cycle.stretch > 4.0).count();
    assert_eq!(deepest, 7);
}

#[test]
fn noise_in_a_still_stretch_is_not_breathing() {
    let mut random = Random::new(7);
    let breathing = |t: f64| if t < 160.0 { wave(t) } else { -1.0 };
    let still = signal(regular(260.0), |&t| breathing(t) + 0.05 * random.normal());
    let found = find_cycles(&still, &from_trough()).unwrap();
    assert!(found.cycles.iter().all(|cycle| cycle.start < 160.0), "{:?}", starts(&found.cycles));
    assert_eq!(found.cycles.len(), 38);
}

#[test]
fn the_origin_of_time_does_not_matter() {
    let here = cycles(&signal(regular(61.0), |&t| wave(t) + 0.2 * (3.0 * t).sin()));
    // Epoch seconds; multiples of 1/32 stay exact beside them.
    let shift = 1_480_453_825.0;
    let times = regular(61.0).iter().map(|time| time + shift).collect();
    let there = cycles(&signal(times, |&t| wave(t - shift) + 0.2 * (3.0 * (t - shift)).sin()));
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        // Times have steps of 2.4e-7 there; values are the same to the bit.
        assert!((here.start + shift - there.start).abs() < 1e-6);
        assert_eq!(
            (here.start_value, here.peak_value, here.stretch),
            (there.start_value, there.peak_value, there.stretch)
        );
        assert!((here.inhalation_area - there.inhalation_area).abs() < 1e-5);
    }
}

#[test]
fn the_scale_and_offset_of_values_do_not_matter() {
    let plain = cycles(&signal(regular(61.0), |&t| wave(t) + 0.2 * (3.0 * t).sin()));
    let scaled = signal(regular(61.0), |&t| 1e4 + 500.0 * (wave(t) + 0.2 * (3.0 * t).sin()));
    let scaled = cycles(&scaled);
    assert_eq!(starts(&plain), starts(&scaled));
    for (plain, scaled) in plain.iter().zip(&scaled) {
        // Values near 1e4 are rounded at 1e-12; running sums of 1200 of them lose three digits.
        assert!((500.0 * plain.stretch - scaled.stretch).abs() < 1e-8);
        assert!((1e4 + 500.0 * plain.peak_value - scaled.peak_value).abs() < 1e-8);
    }
}

#[test]
fn rejected_cycles_are_counted_by_reason() {
    let breathing = signal(regular(61.0), |&t| wave(t) * if t < 32.0 { 1.0 } else { 0.6 });
    let count = |options: CycleOptions| {
        let found = find_cycles(&breathing, &options).unwrap();
        (found.cycles.len(), found.rejected)
    };
    let (all, none) = count(from_trough());
    assert_eq!((all, none), (14, Default::default()));
    let (deep, rejected) = count(CycleOptions { min_amplitude: 1.5, ..from_trough() });
    assert_eq!((deep, rejected.small), (7, 7));

    let none_left = |options| find_cycles(&breathing, &options).is_err();
    assert!(none_left(CycleOptions { min_duration: 4.2, ..from_trough() }));
    assert!(none_left(CycleOptions { max_duration: 3.8, ..from_trough() }));

    // Breaths of 4 s and of 6 s, told apart by either limit.
    let slow = |t: f64| if t < 32.0 { t } else { 32.0 + (t - 32.0) / 1.5 };
    let mixed = signal(regular(83.0), |&t| wave(slow(t)));
    let long = find_cycles(&mixed, &CycleOptions { max_duration: 5.0, ..from_trough() }).unwrap();
    assert_eq!((long.cycles.len(), long.rejected.long), (7, 8));
    let short = find_cycles(&mixed, &CycleOptions { min_duration: 5.0, ..from_trough() }).unwrap();
    assert_eq!((short.cycles.len(), short.rejected.short), (8, 7));
}
