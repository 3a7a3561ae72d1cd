//! A range of numbers with ticks at round ones.

/// The position of a range of numbers on paper, and its ticks.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// Values with their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over exactly `low..high`, with ticks at round numbers inside.
    pub(super) fn exactly(low: f64, high: f64) -> Self {
        let (low, high) = widen(low, high);
        let step = step(high - low);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let label = |k: i64| {
            let value = k as f64 * step;
            (value, format!("{value:.decimals$}").replace('-', "−"))
        };
        Self { low, high, ticks: (first..=last).map(label).collect() }
    }

    /// An axis that contains all finite values, with ends at round numbers.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let (low, high) = widen(low, high);
        let step = step(high - low);
        Self::exactly((low / step).floor() * step, (high / step).ceil() * step)
    }

    /// An axis with a tick for each name, at 0, 1, 2, …
    pub(super) fn named(names: &[String]) -> Self {
        let ticks = names.iter().enumerate().map(|(k, name)| (k as f64, name.clone())).collect();
        Self { low: -0.5, high: names.len().max(1) as f64 - 0.5, ticks }
    }

    /// Leaves out every second tick, keeping zero, until labels have room beside each other in so many pixels.
    pub(super) fn thin(&mut self, room: f64, width: impl Fn(&str) -> f64) {
        let widest = self.ticks.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        while self.ticks.len() > 2 && self.ticks.len() as f64 * (widest + 8.0) > room {
            let kept = self.ticks.iter().position(|(value, _)| *value == 0.0).unwrap_or(0) % 2;
            let ticks = std::mem::take(&mut self.ticks).into_iter().enumerate();
            self.ticks = ticks.filter(|(k, _)| k % 2 == kept).map(|(_, tick)| tick).collect();
        }
    }

    /// Position of a value along the axis: 0 at its beginning, 1 at its end.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Whether a value lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.share(value))
    }

    /// The value, or the end beyond which it lies.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }
}

/// Smallest and largest of the finite values; `None` if there is none.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| {
        let (low, high) = extent.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// A range with an inside: a single value gets half its size, or a half, on either side.
fn widen(low: f64, high: f64) -> (f64, f64) {
    if high - low > 1e-9 * low.abs().max(high.abs()) {
        return (low, high);
    }
    let around = if low == 0.0 { 0.5 } else { 0.5 * low.abs() };
    (low - around, low + around)
}

/// A round step (1, 2 or 5 times a power of ten) that cuts `width` into four to nine pieces.
fn step(width: f64) -> f64 {
    let rough = width / 8.0;
    let power = 10f64.powf(rough.log10().floor());
    let choices = [1.0, 2.0, 5.0].map(|factor| factor * power);
    choices.into_iter().find(|&step| step >= rough * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let labels = |low, high| -> Vec<String> {
            Axis::exactly(low, high).ticks.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.25, 5.0), ["1", "2", "3", "4", "5"]);
        assert_eq!(labels(-7.0, 8.0), ["−6", "−4", "−2", "0", "2", "4", "6", "8"]);
        assert_eq!(labels(0.81, 0.86)[..3], ["0.81", "0.82", "0.83"]);
    }

    #[test]
    fn labels_without_room_are_left_out_and_zero_stays() {
        let mut axis = Axis::exactly(-300.0, 300.0);
        axis.thin(120.0, |label| 7.0 * label.chars().count() as f64);
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["−200", "0", "200"]);
    }

    #[test]
    fn any_range_has_an_inside() {
        for (low, high) in [(0.0, 0.0), (3.0, 3.0), (-2.0, -2.0), (1e300, 1e300), (1e-300, 1e-300)]
        {
            let axis = Axis::exactly(low, high);
            assert!(axis.share(low) > 0.0 && axis.share(low) < 1.0, "{low}: {axis:?}");
            assert!(axis.ticks.len() < 20, "{low}: {axis:?}");
        }
        assert_eq!(Axis::around([f64::NAN].into_iter()).ticks.len(), 6);
    }
}
