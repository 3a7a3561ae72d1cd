//! Learn a detector from presses that are late, scattered, missing or wrong.

use unjitter::math::Random;
use unjitter::{Control, FitOptions, Fitted, Model, Session};

fn main() -> unjitter::Result<()> {
    // An instance every 3 s, one in twelve an event. Presses are 1.5 s late on average, scatter by
    // 2 s (standard deviation), miss one event in ten, and are at times for nothing.
    let mut random = Random::new(1);
    let mut sessions = Vec::new();
    for k in 0..10 {
        let times: Vec<f64> = (0..300).map(|i| 3.0 * f64::from(i)).collect();
        let mut features = ndarray::Array2::zeros((300, 2));
        let mut presses = Vec::new();
        for (i, time) in times.iter().enumerate() {
            let event = random.uniform() < 1.0 / 12.0;
            features[[i, 0]] = random.normal() + if event { 3.0 } else { 0.0 };
            features[[i, 1]] = random.normal() - if event { 2.0 } else { 0.0 };
            if random.uniform() < if event { 0.9 } else { 0.01 } {
                presses.push(time + 1.5 + 2.0 * random.normal());
            }
        }
        presses.sort_by(f64::total_cmp);
        sessions.push(Session::new(format!("day {k}"), features, times, presses)?);
    }

    let fitted = Model::default().fit(&sessions, &FitOptions::default(), Control::default())?;
    println!("{:#?}", fitted.learned());
    for stamp in &fitted.align(&sessions[0])?.stamps[..3] {
        println!(
            "pressed at {:6.2}, belongs to {:5.1} ({:.1} to {:.1}), spurious with p = {:.3}",
            stamp.stamp, stamp.instance_time, stamp.low, stamp.high, stamp.p_spurious
        );
    }
    let file = std::env::temp_dir().join("quickstart.model.json");
    fitted.save(&file)?;
    let p = Fitted::load(&file)?.predict(sessions[1].features())?;
    println!("{} events detected in day 1", p.iter().filter(|p| **p > 0.5).count());
    Ok(())
}
