//! Clocks that were looked for, as a table for people and one for other programs.

use unjitter::io::TableText;
use unjitter::model::Factor;
use unjitter::sync::{SyncedClock, Verdict};

use crate::report::TableView;
use crate::tables::as_text;
use crate::words::{counted, number, seconds};

/// Most clocks that are shown.
const SHOWN: usize = 30;

/// A verdict as users know it.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Found => "found",
        Verdict::Several => "several",
        Verdict::Flat => "flat",
        Verdict::NoStamps => "no stamps",
    }
}

/// The clocks to show if there is room for so many: by name, or those that were not found first and then those
/// that are furthest off.
pub(crate) fn shown(clocks: &[SyncedClock], most: usize) -> Vec<&SyncedClock> {
    let mut all: Vec<&SyncedClock> = clocks.iter().collect();
    if all.len() > most {
        let is_doubtful =
            |own: &SyncedClock| matches!(own.verdict, Verdict::Several | Verdict::Flat);
        all.sort_by(|a, b| {
            let by_offset = b.offset.abs().total_cmp(&a.offset.abs());
            is_doubtful(b).cmp(&is_doubtful(a)).then(by_offset)
        });
        all.truncate(most);
    }
    all
}

/// The clocks in words.
pub(crate) fn text(by: Factor, clocks: &[SyncedClock], with_drift: bool) -> String {
    let found = clocks.iter().filter(|own| own.verdict == Verdict::Found).count();
    let stamps = clocks.iter().map(|own| own.stamps).sum();
    format!(
        "{}\n{found} of {} with {} found",
        as_text(&table(by, clocks, with_drift), 2),
        counted(clocks.len(), "clock"),
        counted(stamps, "stamp"),
    )
}

fn table(by: Factor, clocks: &[SyncedClock], with_drift: bool) -> TableView {
    let has = |wanted: Verdict| clocks.iter().any(|own| own.verdict == wanted);
    let is_doubtful = has(Verdict::Several);
    let row = |own: &&SyncedClock| {
        let told = |text: String| match own.verdict {
            Verdict::NoStamps => "–".to_owned(),
            _ => text,
        };
        let mut row = vec![
            own.name.clone(),
            verdict(own.verdict).to_owned(),
            own.stamps.to_string(),
            told(seconds(own.offset)),
            told(format!("{} to {}", seconds(own.low), seconds(own.high))),
        ];
        row.extend(with_drift.then(|| told(format!("{} ppm", number(1e6 * own.drift)))));
        row.extend(is_doubtful.then(|| match own.verdict {
            Verdict::Several => others(own, ", ", seconds),
            _ => String::new(),
        }));
        row
    };
    let mut header = vec![by.name(), "verdict", "stamps", "offset", "95 % interval"];
    header.extend(with_drift.then_some("drift"));
    header.extend(is_doubtful.then_some("or"));
    let mut caption = "Offset: how far stamps are late, beyond the delay that all share; below 0 \
                       they are early."
        .to_owned();
    if with_drift {
        caption += " Drift: what the clock gains.";
    }
    if is_doubtful {
        caption += " Several: other offsets explain the stamps about as well.";
    }
    if has(Verdict::Flat) {
        caption += " Flat: the stamps hardly tell where they belong.";
    }
    if let Some(more) = clocks.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        caption += &format!(" And {} that are found and less off.", counted(more, "other"));
    }
    TableView {
        title: format!("Clocks by {}", by.name()),
        caption,
        header: header.into_iter().map(str::to_owned).collect(),
        rows: shown(clocks, SHOWN).iter().map(row).collect(),
    }
}

/// The other offsets of a clock.
fn others(own: &SyncedClock, between: &str, show: impl Fn(f64) -> String) -> String {
    own.others.iter().map(|place| show(place.offset)).collect::<Vec<_>>().join(between)
}

/// All clocks, as a table for other programs; times in seconds.
pub(crate) fn csv(clocks: &[SyncedClock]) -> Vec<u8> {
    let header = [
        "name",
        "stamps",
        "verdict",
        "offset",
        "low",
        "high",
        "drift_ppm",
        "probability",
        "others",
    ];
    let mut table = TableText::new(b',', header);
    for own in clocks {
        let numbers = [own.offset, own.low, own.high, 1e6 * own.drift, own.probability];
        let [offset, low, high, drift, probability] = numbers.map(|value| value.to_string());
        let others = others(own, "; ", |offset| offset.to_string());
        let (stamps, verdict) = (own.stamps.to_string(), verdict(own.verdict).replace(' ', "_"));
        let cells =
            [&own.name, &stamps, &verdict, &offset, &low, &high, &drift, &probability, &others];
        table.push(cells);
    }
    table.into()
}

#[cfg(test)]
mod tests {
    use unjitter::sync::Place;

    use super::*;

    fn clock(name: &str, verdict: Verdict, offset: f64) -> SyncedClock {
        SyncedClock {
            name: name.to_owned(),
            stamps: 3,
            verdict,
            offset,
            low: offset - 1.0,
            high: offset + 1.0,
            drift: 5e-5,
            probability: 0.5,
            others: Vec::new(),
            profile: Vec::new(),
        }
    }

    #[test]
    fn every_verdict_is_told_in_words() {
        let place = |offset: f64| Place { offset, drift: 0.0, log_evidence: -0.5 };
        let unsure = SyncedClock {
            others: vec![place(-7.0), place(30.0)],
            ..clock("b", Verdict::Several, 2.0)
        };
        let clocks = [
            clock("a", Verdict::Found, -12.0),
            unsure,
            clock("c", Verdict::Flat, 0.0),
            clock("d", Verdict::NoStamps, 0.0),
        ];
        let rows = table(Factor::Device, &clocks, true).rows;
        assert_eq!(rows[0], ["a", "found", "3", "-12 s", "-13 s to -11 s", "50 ppm", ""]);
        assert_eq!((rows[1][1].as_str(), rows[1][6].as_str()), ("several", "-7 s, 30 s"));
        assert_eq!((rows[2][1].as_str(), rows[3][1].as_str()), ("flat", "no stamps"));
        assert_eq!(rows[3][3], "–");
        let text = text(Factor::Device, &clocks, false);
        assert!(text.ends_with("1 of 4 clocks with 12 stamps found"), "{text}");
        assert!(text.contains("Flat: ") && !text.contains("ppm"), "{text}");
        let table = String::from_utf8(csv(&clocks)).unwrap();
        assert!(table.contains("\nb,3,several,2,1,3,50,0.5,-7; 30\n"), "{table}");
        assert!(table.contains("\nd,3,no_stamps,0,"), "{table}");
    }

    #[test]
    fn of_many_the_doubtful_and_the_furthest_are_shown() {
        let offset = |k: usize| f64::from(u32::try_from(k).unwrap());
        let mut clocks: Vec<SyncedClock> =
            (0..40).map(|k| clock(&format!("c{k}"), Verdict::Found, offset(k))).collect();
        clocks[3].verdict = Verdict::Flat;
        let names: Vec<&str> = shown(&clocks, 3).iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["c3", "c39", "c38"]);
        assert_eq!(shown(&clocks, 40)[0].name, "c0");
        let caption = table(Factor::Session, &clocks, true).caption;
        assert!(caption.ends_with("And 10 others that are found and less off."), "{caption}");
    }
}
