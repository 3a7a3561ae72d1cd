//! Where else a stamp can be looked at, such as a video.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::failure::usage;

/// Refuses an address that is none, so that the page can link to it whatever a session is called.
pub(crate) fn checked(template: String) -> anyhow::Result<String> {
    let is_web = ["http://", "https://"].iter().any(|scheme| template.starts_with(scheme));
    let host = template.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("");
    match is_web && !host.is_empty() && !host.contains('{') {
        true => Ok(template),
        false => Err(usage(format!(
            "--link {template}: expected an address such as https://host/{{session}}.mp4#t={{seconds}}"
        ))),
    }
}

/// The address for a time of a session.
pub(super) fn link(desk: &Desk, k: usize, time: f64) -> Option<Value> {
    let template = desk.link.as_ref()?;
    let name = desk.recordings.session(k).name();
    let href = filled(template, name, time);
    Some(json!({ "label": format!("{name} at {time:.1} s"), "seconds": time, "href": href }))
}

fn filled(template: &str, session: &str, time: f64) -> String {
    template.replace("{session}", &encoded(session)).replace("{seconds}", &format!("{time:.3}"))
}

/// A text that means nothing but itself in an address.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_change_where_a_link_leads() {
        let template = checked("https://host/{session}.mp4#t={seconds}".to_owned()).unwrap();
        assert_eq!(
            filled(&template, "day 1/..?x#\"", 3.5),
            "https://host/day%201%2F..%3Fx%23%22.mp4#t=3.500"
        );
        for wrong in ["javascript:alert(1)", "https://{session}/", "file:///x", "http://", "x"] {
            assert!(checked(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
