//! "Did you mean": known names similar to an unknown one.

use super::table::shown;

/// Similarity from which a name counts as a slip of another.
const ALIKE: f64 = 0.8;
/// Longest name that is compared, in bytes: the comparison takes the product of two lengths.
const COMPARED: usize = 256;
/// Most names that a hint lists.
const LISTED: usize = 12;

/// The known name that `name` is probably a slip of.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_short = |name: &str| name.len() <= COMPARED;
    let lower = name.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| is_short(name) && is_short(candidate))
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// A hint after a request for `name`: a likely name, or the known names.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    if let Some(likely) = suggest(name, known.iter().copied()) {
        return format!("did you mean `{}`?", shown(likely));
    }
    listed(known)
}

/// The known names as text, up to a limit.
pub(super) fn listed(known: &[&str]) -> String {
    match known.is_empty() {
        true => "there is nothing".to_owned(),
        false => format!("it has {}", quoted(known)),
    }
}

/// Some names as text, up to a limit.
pub(super) fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let quote = |name: &T| format!("`{}`", shown(name.as_ref()));
    let quoted: Vec<String> = names.iter().take(LISTED).map(quote).collect();
    let more = names.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["session", "time", "label"];
        assert_eq!(suggest("sesion", known), Some("session"));
        assert_eq!(suggest("Time", known), Some("time"));
        assert_eq!(suggest("lable", known), Some("label"));
        assert_eq!(suggest("heart_rate", known), None);
    }

    #[test]
    fn a_hint_lists_what_there_is_but_not_without_end() {
        let many: Vec<String> = (0..20).map(|k| format!("x{k}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(hint("qqq", &many).ends_with("`x11` and 8 more"));
        assert_eq!(hint("tim", &["time"]), "did you mean `time`?");
    }
}
