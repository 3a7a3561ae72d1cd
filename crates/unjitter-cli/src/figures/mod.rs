//! Figures as SVG text, one file per figure, each a pure function of plain numbers.
//!
//! Every colour is from the palette and the background is left out, so that a page can restyle
//! them for dark screens. No series is told apart by colour alone. A point that is not finite is
//! left out; a figure without data is an empty frame.

mod alignment;
mod axis;
mod bars;
mod calibration;
mod canvas;
mod curves;
mod delays;
#[cfg(test)]
mod examples;
mod frame;
mod labels;
mod precision_recall;
mod style;
#[cfg(test)]
mod tests;

pub(crate) use alignment::{Alignment, AlignmentInstance, AlignmentStamp, alignment};
pub(crate) use bars::{Bar, Bars, bars};
pub(crate) use calibration::{Calibration, CalibrationBin, calibration};
pub(crate) use curves::{Curve, CurveDot, Curves, curves};
pub(crate) use delays::{Delays, delays};
pub(crate) use precision_recall::{PrecisionRecall, PrecisionRecallCurve, precision_recall};

/// A figure as a file of its own: on white, since nobody knows what it will be laid on.
pub(crate) fn on_white(svg: &str) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    let Some(end) = svg[start..].find('>') else { return svg.to_owned() };
    let (tag, rest) = svg.split_at(start + end + 1);
    format!("{tag}\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>{rest}")
}
