//! Colours of every figure and of the report: Okabe and Ito's, which colour-blind people can tell apart.
//!
//! The report restyles figures for dark screens by these exact values, so a figure uses no others.

/// Lines and text.
pub(crate) const INK: &str = "#1A1A1A";
/// Captions, axes.
pub(crate) const MUTED: &str = "#6B6B6B";
/// Grid lines.
pub(crate) const GRID: &str = "#DCDCDC";
/// The method itself.
pub(crate) const BLUE: &str = "#0072B2";
/// Hand-aligned labels; the truth.
pub(crate) const BLACK: &str = "#000000";
/// Stamps; multiple instance.
pub(crate) const ORANGE: &str = "#E69F00";
/// Warnings; naive alignment.
pub(crate) const VERMILION: &str = "#D55E00";
/// Detected events.
pub(crate) const GREEN: &str = "#009E73";
/// Probably missed events.
pub(crate) const PURPLE: &str = "#CC79A7";
/// Further series.
pub(crate) const SKY: &str = "#56B4E9";
