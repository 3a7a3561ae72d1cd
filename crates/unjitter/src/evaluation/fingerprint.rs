//! A short name for the content of recordings, so that results are not mixed up.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::Recording;

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
    }
    finish(&hasher)
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
