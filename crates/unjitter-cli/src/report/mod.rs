//! The report: one self-contained HTML file, to look at rather than to read.
//!
//! **One file.** People mail it, archive it beside the data and open it years later without a network. So
//! styles, script, data and figures are inside, and a content security policy forbids every request. The
//! script runs only because the policy names its hash; text that escaped its quotes would not run.
//!
//! **Pure.** [`page`] turns finished data into text. It computes nothing about sessions, reads no file
//! and no clock: the same report gives the same bytes.
//!
//! **A timeline by hand.** The main thing is a curve from each press to its place, on one time axis with
//! the signal, probabilities and events. No charting library draws that, so a few small scripts do, in
//! SVG because it prints sharply. They draw only the part in view, as one path for each kind of mark, and
//! thin out details finer than a pixel; the number of elements does not grow with the data.
//!
//! **Data are untrusted.** Session names come from other people's files. They are escaped in markup; in
//! the data block `<`, `>` and `&` are escaped; and scripts set text, never markup. Only figures are
//! trusted; this program draws them.
//!
//! | file | one line |
//! |---|---|
//! | `data` | what the page shows |
//! | `encode`, `downsample` | sessions as small JSON |
//! | `escape` | text made harmless |
//! | `markup` | cards, figures, tables |
//! | `theme` | colours, from the palette |
//! | `page.html`, `style.css`, `print.css` | the frame |
//! | `script/` | the timeline, one idea per file |

mod data;
pub(crate) mod downsample;
mod encode;
mod escape;
#[cfg(test)]
mod fixture;
mod markup;
mod theme;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(crate) use data::{
    ClassView, EndView, EventView, Fact, Figure, Report, SessionView, SignalView, StampClass,
    StampView, TableView,
};

/// In the order of use: a script uses only those above it.
const SCRIPTS: [&str; 15] = [
    include_str!("script/scale.js"),
    include_str!("script/clock.js"),
    include_str!("script/decode.js"),
    include_str!("script/svg.js"),
    include_str!("script/view.js"),
    include_str!("script/wording.js"),
    include_str!("script/lanes.js"),
    include_str!("script/events.js"),
    include_str!("script/timeline.js"),
    include_str!("script/overview.js"),
    include_str!("script/pointer.js"),
    include_str!("script/keyboard.js"),
    include_str!("script/address.js"),
    include_str!("script/controls.js"),
    include_str!("script/main.js"),
];

/// The style of the page, which that of the review shares.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The colours, as CSS.
pub(crate) fn theme_css() -> String {
    theme::css()
}

/// The report as a complete HTML document.
pub(crate) fn page(report: &Report) -> String {
    let script = format!("\n(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.join("\n"));
    fill(include_str!("page.html"), |name| match name {
        "title" => escape::html(&report.title),
        "command" => escape::html(&report.command),
        "version" => env!("CARGO_PKG_VERSION").into(),
        "script_hash" => STANDARD.encode(Sha256::digest(&script)),
        "style" => [&theme::css(), STYLE, include_str!("print.css")].concat(),
        "warnings" => markup::warnings(&report.warnings),
        "facts" => markup::facts(&report.facts),
        "timeline" => markup::unless_empty(&report.sessions, include_str!("timeline.html")),
        "figures" => markup::figures(&report.figures),
        "tables" => report.tables.iter().map(markup::table).collect(),
        "sessions" => escape::json(&encode::sessions(&report.sessions)),
        "script" => script.clone(),
        other => unreachable!("the page has no place for {other}"),
    })
}

/// Fills the places `{{name}}` of a template. Inserted text is not scanned again.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").expect("every place in the page is closed");
        filled.push_str(before);
        filled.push_str(&value(name));
        rest = behind;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the page for the browser test (see `tests/page`) and for visual checks.
    #[test]
    fn a_page_with_everything_on_it() {
        let html = page(&fixture::report());
        let usual = || std::env::temp_dir().join("unjitter-report.html");
        let file = std::env::var_os("UNJITTER_PAGE").map_or_else(usual, Into::into);
        std::fs::write(&file, &html).unwrap();
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
        assert!(html.starts_with("<!doctype html>"));
        assert!(!html.contains("{{"), "a place was left open");
        for wanted in ["typical delay", "Learners compared", "Delays of presses", "unjitter report"]
        {
            assert!(html.contains(wanted), "{wanted} is not on the page");
        }
    }

    #[test]
    fn hostile_text_is_harmless_everywhere() {
        let evil =
            "</script><script>alert(1)</script><!--{{title}}\"'><img src=x onerror=alert(1)>";
        let text = || evil.to_string();
        let html = page(&Report {
            title: text(),
            command: text(),
            warnings: vec![text()],
            facts: vec![Fact { label: text(), value: text(), explanation: text() }],
            sessions: vec![SessionView {
                name: text(),
                subject: Some(text()),
                start: Some(text()),
                ..SessionView::default()
            }],
            figures: vec![Figure { title: text(), caption: text(), svg: "<svg></svg>".into() }],
            tables: vec![TableView {
                title: text(),
                caption: text(),
                header: vec![text()],
                rows: vec![vec![text()]],
            }],
        });
        assert!(!html.contains("<img"));
        assert!(!html.contains("<!--"));
        assert!(!html.contains("<script>alert"));
        // Fourteen in markup (two titles stand twice), three in the data.
        assert_eq!(html.matches("{{title}}").count(), 17);
        assert_eq!(html.matches("</script>").count(), 2);
    }

    #[test]
    fn the_policy_names_the_hash_of_the_script_on_the_page() {
        let html = page(&fixture::report());
        let script = html.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
        let hash = STANDARD.encode(Sha256::digest(script));
        assert!(html.contains(&format!("script-src 'sha256-{hash}'")));
    }

    #[test]
    fn an_empty_report_has_no_empty_boxes() {
        let html = page(&Report { title: "nothing".into(), ..Report::default() });
        for absent in ["class=\"warnings\"", "class=\"facts\"", "class=\"figures\"", "id=\"lanes\""]
        {
            assert!(!html.contains(absent), "{absent}");
        }
    }

    #[test]
    fn the_same_report_gives_the_same_bytes() {
        assert_eq!(page(&fixture::report()), page(&fixture::report()));
    }
}
