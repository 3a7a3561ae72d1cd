//! Escaping of text from data in the page.

/// For text between tags and for attributes in double quotes.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // A parser would replace it anyway.
            '\0' => escaped.push('\u{FFFD}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// For JSON inside a `script` element. These characters occur in JSON within strings only, where an
/// escape means the same; without them no `</script>` and no `<!--` can end or prolong the element.
pub(super) fn json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_has_no_active_character_left() {
        let escaped = html("<b a=\"1\" c='2'>&\0");
        assert_eq!(escaped, "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\u{FFFD}");
    }

    #[test]
    fn json_means_the_same_but_cannot_end_its_element() {
        let hostile = "</script><!-- <script> & \u{2028}\u{2029} \"quoted\" \\ done";
        let escaped = json(&serde_json::to_string(hostile).unwrap());
        for forbidden in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
            assert!(!escaped.contains(forbidden), "{escaped}");
        }
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), hostile);
    }
}
