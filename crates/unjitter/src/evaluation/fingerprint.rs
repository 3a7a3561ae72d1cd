//! A short name for the content of recordings, so that results are not mixed up.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::session::Label;
use crate::{Recording, Session};

/// 32 hexadecimal digits that change with any value of any recording or their order. For telling
/// data apart, not for security.
pub fn fingerprint(recordings: &[Recording]) -> String {
    let mut hasher = SipHasher24::new();
    hasher.write_usize(recordings.len());
    for recording in recordings {
        let session = &recording.session;
        text(&mut hasher, Some(session.name()));
        text(&mut hasher, session.subject());
        hasher.write_usize(session.features().ncols());
        numbers(&mut hasher, session.times());
        numbers(&mut hasher, session.stamps());
        session.features().visit_rows(|row| row.iter().for_each(|x| hasher.write_u64(x.to_bits())));
        for i in 0..session.len() {
            let known = session.label(i).map_or(2, u8::from);
            let truth = recording.truth.as_ref().map_or(2, |truth| u8::from(truth[i]));
            hasher.write(&[known, truth]);
        }
        for &(start, end) in session.observed().unwrap_or_default() {
            numbers(&mut hasher, &[start, end]);
        }
        groups(&mut hasher, session);
        told(&mut hasher, session);
    }
    finish(&hasher)
}

/// Adds whose stamps they are, where that is known; what is not known changes no fingerprint.
fn groups(hasher: &mut SipHasher24, session: &Session<'_>) {
    for (what, name) in [("device", session.device()), ("clock", session.clock())] {
        if name.is_some() {
            text(hasher, Some(what));
            text(hasher, name);
        }
    }
    if !session.annotators().is_empty() {
        session.annotators().iter().for_each(|name| text(hasher, Some(name)));
        (0..session.stamps().len())
            .filter_map(|stamp| session.annotator_of(stamp))
            .for_each(|annotator| hasher.write_usize(annotator));
    }
    if session.observed().is_some_and(<[_]>::is_empty) {
        text(hasher, Some("observed by nobody"));
    }
}

/// Adds what stamps and labels tell beside their times, where they tell it.
fn told(hasher: &mut SipHasher24, session: &Session<'_>) {
    for stamp in 0..session.stamps().len() {
        let width = session.width_of(stamp);
        if width > 0.0 {
            text(hasher, Some("width"));
            numbers(hasher, &[stamp as f64, width]);
        }
        if let Some(end) = session.end_of(stamp) {
            text(hasher, Some("end"));
            numbers(hasher, &[stamp as f64, end]);
        }
        if let Some(class) = session.class_of(stamp) {
            text(hasher, Some("class"));
            text(hasher, Some(class));
        }
    }
    for instance in 0..session.len() {
        if let Some(Label::Event(class)) = session.class_label(instance) {
            text(hasher, Some("label"));
            hasher.write_usize(instance);
            text(hasher, Some(class));
        }
    }
}

/// 32 hexadecimal digits that change with any of the texts or their order.
pub fn digest(texts: &[&str]) -> String {
    let mut hasher = SipHasher24::new();
    texts.iter().for_each(|part| text(&mut hasher, Some(part)));
    finish(&hasher)
}

fn finish(hasher: &SipHasher24) -> String {
    let hash = hasher.finish128();
    format!("{:016x}{:016x}", hash.h1, hash.h2)
}

fn text(hasher: &mut SipHasher24, text: Option<&str>) {
    let bytes = text.unwrap_or_default().as_bytes();
    hasher.write(&[u8::from(text.is_some())]);
    hasher.write_usize(bytes.len());
    hasher.write(bytes);
}

fn numbers(hasher: &mut SipHasher24, values: &[f64]) {
    hasher.write_usize(values.len());
    values.iter().for_each(|value| hasher.write_u64(value.to_bits()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    #[test]
    fn whose_stamps_they_are_tells_data_apart() {
        let session = || {
            let features = Features::new(vec![0.0; 3], 3, 1).unwrap();
            Session::new("walk", features, vec![0.0, 1.0, 2.0], vec![0.5, 1.5]).unwrap()
        };
        let stamped = |names: [&str; 2], also: &[String]| {
            session().with_annotators(&names.map(str::to_owned), also).unwrap()
        };
        let sessions = [
            session(),
            session().with_device("watch"),
            session().with_clock("watch"),
            stamped(["Ada", "Ada"], &[]),
            stamped(["Ada", "Ben"], &[]),
            stamped(["Ben", "Ada"], &[]),
            stamped(["Ada", "Ada"], &["Ben".to_owned()]),
            session().with_widths(vec![0.25, 0.0]).unwrap(),
            session().with_ends(vec![Some(0.9), None]).unwrap(),
            session().with_ends(vec![None, Some(1.9)]).unwrap(),
            session().with_classes(&["cough".to_owned(), "sneeze".to_owned()]).unwrap(),
            session().with_classes(&["sneeze".to_owned(), "cough".to_owned()]).unwrap(),
            session().with_stamps(vec![]).unwrap(),
            session().with_stamps(vec![]).unwrap().with_observed(vec![]).unwrap(),
        ];
        let prints = sessions.map(|session| fingerprint(&[Recording { session, truth: None }]));
        let distinct: std::collections::BTreeSet<&String> = prints.iter().collect();
        assert_eq!(distinct.len(), prints.len(), "{prints:?}");
    }
}
