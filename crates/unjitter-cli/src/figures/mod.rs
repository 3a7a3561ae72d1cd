//! Figures as SVG text, one file per figure, each a pure function of plain numbers.
//!
//! Every colour is from the palette, and background and title are left out, so that a page can restyle
//! figures for dark screens and show the title as text. Figures of a page are narrow enough for a
//! telephone. Series never differ by colour alone. A point that is not finite is left out; a figure
//! without data is an empty frame.

mod alignment;
mod axis;
mod bars;
mod calibration;
mod canvas;
mod changes;
mod clocks;
mod curves;
mod delays;
mod drift;
#[cfg(test)]
mod examples;
mod frame;
mod groups;
mod labels;
mod panels;
mod precision_recall;
mod profiles;
mod quantiles;
mod residuals;
mod style;
#[cfg(test)]
mod tests;

pub(crate) use alignment::{
    Alignment, AlignmentBout, AlignmentInstance, AlignmentStamp, alignment,
};
pub use bars::{Bar, Bars, bars};
pub(crate) use calibration::{Calibration, CalibrationBin, calibration};
pub use canvas::as_file;
pub(crate) use changes::{Changes, changes};
pub(crate) use clocks::{ClockPanel, Clocks, clocks};
pub use curves::{Curve, CurveDot, Curves, curves};
pub(crate) use delays::{Delays, delays};
pub(crate) use drift::{Drift, drift};
pub(crate) use groups::{GroupDot, GroupPanel, Groups, groups};
pub(crate) use panels::{Panel, Panels, panels};
pub(crate) use precision_recall::{PrecisionRecall, PrecisionRecallCurve, precision_recall};
pub(crate) use profiles::{ProfilePanel, Profiles, profiles};
pub(crate) use quantiles::{QuantileDot, Quantiles, quantiles};
pub(crate) use residuals::{Residuals, residuals};
