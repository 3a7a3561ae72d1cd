//! Colours of every figure and of the report: Okabe and Ito's, which colour-blind people can tell apart.
//!
//! The report restyles figures for dark screens by these exact values, so a figure uses no others.

/// Lines and text.
pub const INK: &str = "#1A1A1A";
/// Captions, axes.
pub const MUTED: &str = "#6B6B6B";
/// Grid lines.
pub const GRID: &str = "#DCDCDC";
/// The method itself.
pub const BLUE: &str = "#0072B2";
/// Hand-aligned labels; the truth.
pub const BLACK: &str = "#000000";
/// Stamps; multiple instance.
pub const ORANGE: &str = "#E69F00";
/// Warnings; naive alignment.
pub const VERMILION: &str = "#D55E00";
/// Detected events.
pub const GREEN: &str = "#009E73";
/// Probably missed events.
pub const PURPLE: &str = "#CC79A7";
/// Further series.
pub const SKY: &str = "#56B4E9";
