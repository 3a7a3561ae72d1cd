//! Noise models of the library's table.

use unjitter::Noise;
use unjitter::model::BoundNoise;
use unjitter::model::noise::{Kind, Value};

/// Every noise model with ordinary values, its times multiplied by `scale`.
pub(crate) fn noise_models(scale: f64) -> Vec<(Noise, BoundNoise)> {
    let bound = |kind: &Kind| {
        let t = |value: f64, is_time: bool| if is_time { value * scale } else { value };
        let settings = kind.settings.iter().map(|one| t(one.example, one.value == Value::Time));
        let noise = kind.noise(&settings.collect::<Vec<_>>()).unwrap();
        let blocks = noise.build(1.0).unwrap().parameters();
        let scaled = kind.parameters.iter().zip(blocks).map(|(parameter, block)| {
            parameter.example.iter().map(|&value| t(value, block.time_power == 1)).collect()
        });
        let scaled: Vec<Vec<f64>> = scaled.collect();
        let names = kind.parameters.iter().map(|parameter| parameter.name);
        let values: Vec<(&str, &[f64])> = names.zip(scaled.iter().map(Vec::as_slice)).collect();
        let bound = noise.with(&values).unwrap();
        (noise, bound)
    };
    Noise::kinds().iter().map(bound).collect()
}
