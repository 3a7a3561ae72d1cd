//! Drawing in fractions of a pixel on plotters' SVG back end.
//!
//! The back end rounds every coordinate to a whole number, which is visible in curves and small markers.
//! So a figure is drawn ten times as large, and its opening tag gives the size to show.

use plotters::coord::Shift;
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::frame::TITLE;
use crate::palette::INK;

/// Drawn units per pixel shown.
const SCALE: f64 = 10.0;

/// The back end writes sizes divided by this.
const FONT_FACTOR: f64 = 1.24;

/// A place, in pixels from the upper left corner.
pub(super) type Place = (f64, f64);

/// Style of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pen {
    /// From the palette.
    pub(super) colour: &'static str,
    /// 0 to 1.
    pub(super) opacity: f64,
    /// In pixels.
    pub(super) width: f64,
    /// Length of dashes and gaps in pixels; a full line without.
    pub(super) dash: Option<(f64, f64)>,
}

impl Pen {
    pub(super) fn new(colour: &'static str, width: f64) -> Self {
        Self { colour, opacity: 1.0, width, dash: None }
    }

    pub(super) fn dashed(self, dash: Option<(f64, f64)>) -> Self {
        Self { dash, ..self }
    }

    pub(super) fn faint(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    fn stroke(&self) -> ShapeStyle {
        colour(self.colour).mix(self.opacity).stroke_width(drawn(self.width) as u32)
    }
}

/// Position of a text relative to its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Left,
    Centre,
    Right,
    /// Centred and turned to be read from below.
    Upwards,
}

/// A figure being drawn.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a figure of the given size in pixels; `label` describes it for screen readers.
pub(super) fn draw(size: (u32, u32), label: &str, paint: impl FnOnce(&Canvas<'_>)) -> String {
    let mut svg = String::new();
    let (width, height) = (drawn(f64::from(size.0)) as u32, drawn(f64::from(size.1)) as u32);
    let canvas =
        Canvas { area: SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area() };
    paint(&canvas);
    canvas.area.present().expect("a string takes any drawing");
    drop(canvas);
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">{body}",
        size.0,
        size.1,
        escape(label),
    )
}

/// Pixels above a stand-alone figure for its title.
const TITLE_BAND: f64 = 32.0;
/// Pixels to its left.
const TITLE_LEFT: f64 = 16.0;

/// A figure as a file of its own: with its title above, which a page has as text, and on white, since its
/// background is unknown.
pub fn as_file(svg: &str) -> String {
    let (tag, body) = svg.split_once('>').unwrap_or((svg, ""));
    let value = |name: &str| {
        let from = tag.split_once(&format!(" {name}=\"")).map_or("", |(_, rest)| rest);
        from.split('"').next().unwrap_or_default()
    };
    let pixels = |name: &str| value(name).parse::<f64>().unwrap_or(0.0);
    let (title, band, size) = (value("aria-label"), drawn(TITLE_BAND), drawn(TITLE));
    // A narrow figure is widened to the right, so that its title ends inside.
    let width = pixels("width").max((2.0 * TITLE_LEFT + text_width(title, TITLE)).ceil());
    let height = pixels("height") + TITLE_BAND;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 -{band} {} {}\" role=\"img\" aria-label=\"{title}\">\n\
         <rect y=\"-{band}\" width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n\
         <text x=\"{}\" y=\"-{}\" font-family=\"sans-serif\" font-size=\"{size}\" \
         fill=\"{INK}\">{title}</text>{body}",
        drawn(width),
        drawn(height),
        drawn(TITLE_LEFT),
        drawn(8.0),
    )
}

impl<'a> Canvas<'a> {
    /// A line through the places.
    pub(super) fn line(&self, places: &[Place], pen: Pen) {
        if places.len() < 2 {
            return;
        }
        let places = places.iter().map(|&place| at(place));
        match pen.dash {
            None => self.put(&PathElement::new(places.collect::<Vec<_>>(), pen.stroke())),
            Some((dash, gap)) => {
                let (dash, gap) = (drawn(dash), drawn(gap));
                self.put(&DashedPathElement::new(places, dash, gap, pen.stroke()));
            }
        }
    }

    /// A filled area.
    pub(super) fn fill(&self, corners: &[Place], colour: &'static str, opacity: f64) {
        let corners: Vec<_> = corners.iter().map(|&place| at(place)).collect();
        self.put(&Polygon::new(corners, self::colour(colour).mix(opacity).filled()));
    }

    /// A filled rectangle between two corners.
    pub(super) fn rectangle(&self, from: Place, to: Place, colour: &'static str, opacity: f64) {
        let style = self::colour(colour).mix(opacity).filled();
        self.put(&Rectangle::new([at(from), at(to)], style));
    }

    /// A filled dot.
    pub(super) fn dot(&self, place: Place, radius: f64, colour: &'static str, opacity: f64) {
        let style = self::colour(colour).mix(opacity).filled();
        self.put(&Circle::new(at(place), drawn(radius), style));
    }

    /// A circle.
    pub(super) fn ring(&self, place: Place, radius: f64, pen: Pen) {
        self.put(&Circle::new(at(place), drawn(radius), pen.stroke()));
    }

    /// A line of text, `size` pixels high.
    pub(super) fn text(
        &self,
        text: &str,
        place: Place,
        size: f64,
        colour: &'static str,
        anchor: Anchor,
    ) {
        let horizontal = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Centre | Anchor::Upwards => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let font = ("sans-serif", FONT_FACTOR * f64::from(drawn(size))).into_font();
        let font = match anchor {
            Anchor::Upwards => font.transform(FontTransform::Rotate270),
            _ => font,
        };
        let ink = self::colour(colour);
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(horizontal, VPos::Center));
        self.put(&Text::new(text, at(place), style));
    }

    fn put<'e, E>(&self, element: &'e E)
    where
        &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        self.area.draw(element).expect("a string takes any drawing");
    }
}

/// About how wide a text is: letters of a sans-serif font are some 0.58 of their height on average.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

fn drawn(pixels: f64) -> i32 {
    (SCALE * pixels).round() as i32
}

fn at((x, y): Place) -> (i32, i32) {
    (drawn(x), drawn(y))
}

/// A colour of the palette, `#RRGGBB`.
fn colour(hex: &str) -> RGBColor {
    let part = |from: usize| u8::from_str_radix(&hex[from..from + 2], 16).expect("#RRGGBB");
    RGBColor(part(1), part(3), part(5))
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
