//! The files of the page, inside the program: no path from outside reaches the file system.

use crate::report::theme_css;

/// Names and texts. `build.rs` lists the folder of the page and the report's scripts, whose drawing code it shares.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The page itself.
pub(super) const PAGE: &str = "index.html";

/// A file of the page, and its type; none if there is none of that name.
pub(super) fn file(name: &str) -> Option<(&'static str, String)> {
    let text = match name {
        "theme.css" => theme_css(),
        "style.css" => crate::report::STYLE.to_owned(),
        _ => FILES.iter().find(|(own, _)| *own == name)?.1.to_owned(),
    };
    Some((kind(name)?, text))
}

fn kind(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_page_asks_for_is_there() {
        let (kind, page) = file(PAGE).unwrap();
        assert!(kind.starts_with("text/html"));
        let mut asked = 0;
        for part in page.split("\"assets/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(file(name).is_some(), "{name} is not there");
            asked += 1;
        }
        assert!(asked > 3, "{asked}");
        for name in ["", "..", "../Cargo.toml", "/etc/passwd", "index.html/", "assets.rs"] {
            assert!(file(name).is_none(), "{name}");
        }
    }
}
