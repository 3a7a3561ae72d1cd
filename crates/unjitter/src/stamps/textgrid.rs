//! Praat TextGrids: the stamps are the points of one tier, or its labelled intervals.
//!
//! A tier is written anew in the layout of Praat; all around it stays as it was.

use std::path::Path;

use super::format::{ReadOptions, TierName, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source, rounded};
use super::numerals::number_text;
use super::problem::{quoted, with_option, wrong};
use super::text::Text;
use super::textgrid_text::{Entry, Tier, quoted as in_quotes, read_tiers};
use crate::Result;

/// Borders closer than this are one: far below what Praat shows, far above rounding of sums.
const SAME_BORDER: f64 = 1e-9;
/// Most tiers that a message lists.
const MOST_LISTED: usize = 20;

/// A TextGrid, the tier that holds the stamps, and the entry of each.
#[derive(Debug)]
struct Grid {
    text: Text,
    tier: Tier,
    entries: Vec<Entry>,
}

impl Source for Grid {
    fn holds_ends(&self) -> bool {
        self.tier.intervals
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let body = &self.text.body;
        if moved.is_nothing() {
            return sink(&self.text.encode(body.clone())?);
        }
        let entries = self.rearranged(moved)?;
        let newline = if body.contains("\r\n") { "\r\n" } else { "\n" };
        let tier = tier_text(&entries, self.tier.intervals, self.tier.long, newline);
        let (before, after) = (&body[..self.tier.at.start], &body[self.tier.at.end..]);
        sink(&self.text.encode([before, &tier, after].concat())?)
    }
}

impl Grid {
    /// The entries of the tier, in order of time, blanks between intervals filled.
    fn rearranged(&self, moved: Moved<'_>) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for (stamp, entry) in
            self.entries.iter().enumerate().filter(|(stamp, _)| moved.keeps(*stamp))
        {
            entries.push(match moved.to(stamp) {
                None => entry.clone(),
                Some(time) if self.tier.intervals => {
                    let end = moved.end(stamp).unwrap_or(time + (entry.end - entry.time));
                    let end = rounded(end);
                    if end <= time && entry.end > entry.time {
                        let problem = format!(
                            "{} would last no time at {time:?} s, which no interval can",
                            quoted(&entry.label)
                        );
                        return Err(wrong(&self.text.file, problem));
                    }
                    entry.at(time, end)
                }
                Some(time) => entry.at(time, time),
            });
        }
        entries.sort_by(|a, b| a.time.total_cmp(&b.time));
        arranged(&self.text.file, &self.tier, entries)
    }
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let tiers = read_tiers(&text)?;
    let tier = choose(&text.file, tiers, options.tier.as_ref())?;
    let mut found = Found::default();
    let mut entries = Vec::new();
    // A blank interval is the space between two labelled ones. A point is a point even if blank.
    for entry in tier.entries.iter().filter(|entry| !tier.intervals || !entry.label.is_empty()) {
        found.push(&text.file, entry.time, entry.end - entry.time, entry.label.as_str(), [])?;
        entries.push(entry.clone());
    }
    Ok((found, Box::new(Grid { text, tier, entries })))
}

/// The tier that the user wants; if none is named, the only one, or the only one of points.
fn choose(file: &str, mut tiers: Vec<Tier>, wanted: Option<&TierName>) -> Result<Tier> {
    let mut listed = Vec::new();
    for (k, tier) in tiers.iter().enumerate().take(MOST_LISTED) {
        let kind = if tier.intervals { "intervals" } else { "points" };
        listed.push(format!("{} {} ({kind})", k + 1, quoted(&tier.name)));
    }
    let of =
        |holds: &dyn Fn(&Tier) -> bool| (0..tiers.len()).filter(|&k| holds(&tiers[k])).collect();
    let candidates: Vec<usize> = match wanted {
        None if tiers.len() == 1 => vec![0],
        None => of(&|tier| !tier.intervals),
        Some(TierName::Named(name)) => of(&|tier| tier.name == *name),
        Some(TierName::Numbered(number)) => {
            let place = usize::try_from(*number).ok().and_then(|number| number.checked_sub(1));
            place.filter(|&k| k < tiers.len()).into_iter().collect()
        }
    };
    if let [only] = candidates[..] {
        return Ok(tiers.swap_remove(only));
    }
    let expected = match wanted {
        None => "one that is named".to_owned(),
        Some(TierName::Named(name)) => format!("one tier {}", quoted(name)),
        Some(TierName::Numbered(number)) => format!("a tier {number}"),
    };
    let mut listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    if tiers.len() > MOST_LISTED {
        listed += &format!(" and {} more", tiers.len() - MOST_LISTED);
    }
    let error = wrong(file, format!("found the tiers {listed}; expected {expected}"));
    Err(if wanted.is_none() { with_option(error, "tier") } else { error })
}

/// The entries as Praat can read them, or an error that says why it could not.
fn arranged(file: &str, tier: &Tier, entries: Vec<Entry>) -> Result<Vec<Entry>> {
    check_inside(file, tier, &entries)?;
    if tier.intervals {
        return filled(file, tier, entries);
    }
    for pair in entries.windows(2) {
        // Praat would drop the second without a word.
        if pair[0].time == pair[1].time {
            let [before, after] = [&pair[0], &pair[1]].map(|entry| quoted(&entry.label));
            let problem = format!(
                "points {before} and {after} are both at {:?} s; a tier has one point at a time",
                pair[0].time
            );
            return Err(wrong(file, problem));
        }
    }
    Ok(entries)
}

/// Refuses an entry outside of its tier, which Praat would not read.
fn check_inside(file: &str, tier: &Tier, entries: &[Entry]) -> Result<()> {
    let is_outside = |entry: &&Entry| {
        entry.time < tier.begin - SAME_BORDER || entry.end > tier.finish + SAME_BORDER
    };
    let Some(entry) = entries.iter().find(is_outside) else { return Ok(()) };
    let problem = format!(
        "{} at {:?} to {:?} s is outside of tier {}, which is from {:?} to {:?} s",
        quoted(&entry.label),
        entry.time,
        entry.end,
        quoted(&tier.name),
        tier.begin,
        tier.finish
    );
    Err(wrong(file, problem))
}

/// Intervals from border to border of the tier, with blank ones between.
fn filled(file: &str, tier: &Tier, entries: Vec<Entry>) -> Result<Vec<Entry>> {
    let border = |time| Entry::new(time, time, "");
    let mut complete: Vec<Entry> = Vec::new();
    let mut before = border(tier.begin);
    for after in entries.into_iter().chain([border(tier.finish)]) {
        let gap = after.time - before.end;
        if gap < -SAME_BORDER {
            let problem = format!(
                "intervals {}, to {:?} s, and {}, from {:?} s, would overlap; intervals of a tier cannot",
                quoted(&before.label),
                before.end,
                quoted(&after.label),
                after.time
            );
            return Err(wrong(file, problem));
        }
        if gap > SAME_BORDER {
            let mut blank = Entry::new(before.end, after.time, "");
            blank.time_text.clone_from(&before.end_text);
            blank.end_text.clone_from(&after.time_text);
            complete.push(blank);
        } else if let Some(last) = complete.last_mut().filter(|_| gap != 0.0) {
            last.end = after.time;
            last.end_text.clone_from(&after.time_text);
        }
        complete.push(after.clone());
        before = after;
    }
    complete.pop();
    Ok(complete)
}

/// The number of entries and the entries, without what stands around them.
fn tier_text(entries: &[Entry], intervals: bool, long: bool, newline: &str) -> String {
    let mut text = entries.len().to_string();
    for (k, entry) in entries.iter().enumerate() {
        let fields: Vec<(&str, &str)> = match intervals {
            true => vec![
                ("xmin", &entry.time_text),
                ("xmax", &entry.end_text),
                ("text", &entry.label_text),
            ],
            false => vec![("number", &entry.time_text), ("mark", &entry.label_text)],
        };
        if long {
            let kind = if intervals { "intervals" } else { "points" };
            text += &format!(" {newline}        {kind} [{}]:{newline}", k + 1);
            let lines: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("            {name} = {value}"))
                .collect();
            text += &lines.join(&format!(" {newline}"));
        } else {
            for (_, value) in fields {
                text += newline;
                text += value;
            }
        }
    }
    text
}

/// A TextGrid with one tier: points, or intervals if the stamps last.
pub(super) fn compose(stamps: &Found, options: &WriteOptions) -> Result<Vec<u8>> {
    let name = options.tier.as_deref().unwrap_or("stamps");
    let intervals = stamps.durations.iter().any(|&lasting| lasting > 0.0);
    if intervals && !stamps.durations.iter().all(|&lasting| lasting > 0.0) {
        let problem = "found stamps with and without a duration, expected one or other";
        return Err(wrong("TextGrid", problem));
    }
    if intervals && stamps.labels.iter().any(String::is_empty) {
        let problem = "found an interval without a label, which would be blank";
        return Err(wrong("TextGrid", problem));
    }
    let ends: Vec<f64> = stamps.times.iter().zip(&stamps.durations).map(|(t, d)| t + d).collect();
    let begin = stamps.times.iter().fold(0.0, |least: f64, &time| least.min(time));
    let finish = options.end.unwrap_or_else(|| ends.iter().fold(begin, |most, &end| most.max(end)));
    let entries = stamps.times.iter().zip(&ends).zip(&stamps.labels);
    let entries = entries.map(|((&time, &end), label)| Entry::new(time, end, label)).collect();
    let tier = Tier {
        name: name.to_owned(),
        intervals,
        begin,
        finish,
        at: 0..0,
        entries: Vec::new(),
        long: true,
    };
    let entries = tier_text(&arranged("TextGrid", &tier, entries)?, intervals, true, "\n");
    let (class, kind) = match intervals {
        true => ("IntervalTier", "intervals"),
        false => ("TextTier", "points"),
    };
    let [begin, finish, name] = [number_text(begin), number_text(finish), in_quotes(name)];
    Ok(format!(
        "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\n\
         xmin = {begin} \nxmax = {finish} \ntiers? <exists> \nsize = 1 \nitem []: \n    item [1]:\n        \
         class = \"{class}\" \n        name = {name} \n        xmin = {begin} \n        xmax = {finish} \n        \
         {kind}: size = {entries} \n"
    )
    .into_bytes())
}
