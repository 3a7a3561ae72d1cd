//! Annotations of ELAN (`.eaf`): a stamp is an annotation of a tier that is aligned to time.
//!
//! An annotation points to two slots of time, which others may share. A moved annotation moves its slots, or
//! gets new ones where a slot is shared with one that stays. Slots are kept in order of time, as ELAN writes
//! them. Times are whole milliseconds. Annotations of a tier do not overlap, and a move that would let them is
//! refused. Annotations that refer to others have no time of their own, and follow.
//!
//! The XML is read by `roxmltree`, which tells where everything stands in the text, so that the rest is kept
//! byte for byte. It refuses documents that define entities, and so those that would unfold into memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};

use super::elan_excess::refuse_excess;
use super::format::{ReadOptions, TierName, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::problem::{bad, quoted, wrong};
use super::text::Text;
use crate::{Error, Result};

/// Most parts of a document: each takes memory.
const MOST_NODES: u32 = 4_000_000;
/// Most bytes of a document; attributes take memory too.
const LARGEST: usize = 1 << 26;
/// Milliseconds, as large as anything ELAN shows.
const LAST: f64 = 1e13;

/// A slot of time.
#[derive(Debug)]
struct Slot {
    /// In milliseconds; some slots have no time of their own.
    value: Option<i64>,
    element: Range<usize>,
    /// Where the value stands.
    text: Range<usize>,
}

/// An annotation: the places of its slots among all, and where it refers to them.
#[derive(Debug)]
struct Aligned {
    slots: [usize; 2],
    references: [Range<usize>; 2],
    element: Range<usize>,
    is_referred_to: bool,
    /// Which tier it is of.
    tier: usize,
}

/// A document.
#[derive(Debug)]
struct Eaf {
    text: Text,
    slots: Vec<Slot>,
    /// How many annotations use each slot, whether they are stamps or not.
    users: Vec<usize>,
    annotations: Vec<Aligned>,
    /// A number that no slot's name ends in, nor any larger one.
    free: u64,
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let document = parse(&text)?;
    let at = |node: Node<'_, '_>| text.body[..node.range().start].matches('\n').count() + 1;
    let wrong_node = |node: Node<'_, '_>, expected: &str| {
        bad(&text.file, format!("line {}", at(node)), &text.body[node.range()], expected)
    };
    let root = document.root_element();
    if root.tag_name().name() != "ANNOTATION_DOCUMENT" {
        return Err(wrong_node(root, "an ANNOTATION_DOCUMENT of ELAN"));
    }
    let units = root.descendants().find_map(|node| node.attribute("TIME_UNITS"));
    if units.is_some_and(|units| units != "milliseconds") {
        return Err(wrong_node(root, "times in milliseconds"));
    }
    let (mut slots, mut by_name, mut free) = (Vec::new(), HashMap::new(), 0);
    for node in root.descendants().filter(|node| node.has_tag_name("TIME_SLOT")) {
        let name =
            node.attribute("TIME_SLOT_ID").ok_or_else(|| wrong_node(node, "a TIME_SLOT_ID"))?;
        let value = node.attribute_node("TIME_VALUE");
        let is_time = |value: &i64| value.unsigned_abs() < LAST as u64;
        let number = value.map(|value| value.value().parse::<i64>().ok().filter(is_time));
        if number == Some(None) {
            return Err(wrong_node(node, "a TIME_VALUE in whole milliseconds"));
        }
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        free = free.max(digits.parse::<u32>().map_or(0, u64::from) + 1);
        by_name.insert(name, slots.len());
        slots.push(Slot {
            value: number.flatten(),
            element: node.range(),
            text: value.map_or(0..0, |value| value.range_value()),
        });
    }
    let referred: HashSet<&str> =
        root.descendants().filter_map(|node| node.attribute("ANNOTATION_REF")).collect();
    let tiers: Vec<Node<'_, '_>> =
        root.children().filter(|node| node.has_tag_name("TIER")).collect();
    let wanted = chosen(&text.file, &tiers, options.tier.as_ref())?;
    let mut found = Found::with_facts(["tier", "participant", "annotator", "id"]);
    let (mut annotations, mut users) = (Vec::new(), vec![0; slots.len()]);
    for (k, tier) in tiers.iter().enumerate() {
        for node in tier.descendants().filter(|node| node.has_tag_name("ALIGNABLE_ANNOTATION")) {
            let names = ["TIME_SLOT_REF1", "TIME_SLOT_REF2"];
            let of = names.map(|name| node.attribute_node(name));
            let expected = "TIME_SLOT_REF1 and TIME_SLOT_REF2 of slots that are there";
            let (Some(first), Some(second)) = (of[0], of[1]) else {
                return Err(wrong_node(node, expected));
            };
            let places = [first, second].map(|name| by_name.get(name.value()).copied());
            let (Some(start), Some(end)) = (places[0], places[1]) else {
                return Err(wrong_node(node, expected));
            };
            users[start] += 1;
            users[end] += 1;
            let (Some(from), Some(to)) = (slots[start].value, slots[end].value) else {
                // Between others without a time of its own.
                continue;
            };
            if !wanted[k] {
                continue;
            }
            if to < from {
                return Err(wrong_node(node, "an end not before its start"));
            }
            let value = node.children().find(|node| node.has_tag_name("ANNOTATION_VALUE"));
            let label: String = value
                .into_iter()
                .flat_map(|value| value.children())
                .filter(Node::is_text)
                .filter_map(|node| node.text())
                .collect();
            let id = node.attribute("ANNOTATION_ID").unwrap_or_default();
            let of_tier = ["TIER_ID", "PARTICIPANT", "ANNOTATOR"];
            let facts = of_tier.map(|name| tier.attribute(name).unwrap_or_default());
            let element =
                node.parent().filter(|parent| parent.has_tag_name("ANNOTATION")).unwrap_or(node);
            annotations.push(Aligned {
                slots: [start, end],
                references: [first.range_value(), second.range_value()],
                element: element.range(),
                is_referred_to: referred.contains(id),
                tier: k,
            });
            let lasting = (to - from) as f64 / 1000.0;
            found.push(
                &text.file,
                from as f64 / 1000.0,
                lasting,
                label,
                facts.into_iter().chain([id]),
            )?;
        }
    }
    drop(document);
    Ok((found, Box::new(Eaf { text, slots, users, annotations, free })))
}

fn parse(text: &Text) -> Result<Document<'_>> {
    if text.body.len() > LARGEST {
        return Err(wrong(&text.file, format!("expected at most {LARGEST} bytes of ELAN")));
    }
    refuse_excess(text)?;
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(&text.body, options)
        .map_err(|error| wrong(&text.file, format!("expected a document of ELAN: {error}")))
}

/// Which tiers are wanted: the one that is named, or all.
fn chosen(file: &str, tiers: &[Node<'_, '_>], wanted: Option<&TierName>) -> Result<Vec<bool>> {
    let name = |k: usize| tiers[k].attribute("TIER_ID").unwrap_or_default();
    let is_wanted = |k: usize| match wanted {
        None => true,
        Some(TierName::Named(wanted)) => name(k) == wanted,
        Some(TierName::Numbered(number)) => i64::try_from(k + 1) == Ok(*number),
    };
    let chosen: Vec<bool> = (0..tiers.len()).map(is_wanted).collect();
    if wanted.is_none() || chosen.contains(&true) {
        return Ok(chosen);
    }
    let listed: Vec<String> = (0..tiers.len().min(20)).map(|k| quoted(name(k))).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    let expected = match wanted {
        Some(TierName::Numbered(number)) => format!("a tier {number}"),
        Some(TierName::Named(name)) => format!("a tier {}", quoted(name)),
        None => String::new(),
    };
    Err(wrong(file, format!("found the tiers {listed}; expected {expected}")))
}

impl Source for Eaf {
    fn holds_ends(&self) -> bool {
        true
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let body = &self.text.body;
        if moved.is_nothing() {
            return sink(&self.text.encode(body.clone())?);
        }
        self.refuse_overlaps(moved)?;
        let mut changes: BTreeMap<usize, (Range<usize>, String)> = BTreeMap::new();
        let mut change = |at: Range<usize>, text: String| changes.insert(at.start, (at, text));
        let (mut values, mut fresh) = (vec![None; self.slots.len()], Vec::new());
        for (stamp, annotation) in self.annotations.iter().enumerate() {
            if !moved.keeps(stamp) {
                if annotation.is_referred_to {
                    let problem = "an annotation that others refer to cannot be taken out";
                    return Err(wrong(&self.text.file, problem));
                }
                change(annotation.element.clone(), String::new());
                continue;
            }
            let Some(time) = moved.to(stamp) else { continue };
            let ends = self.span(annotation, time, moved.end(stamp))?;
            let is_instant = annotation.slots[0] == annotation.slots[1];
            for (k, &slot) in annotation.slots.iter().enumerate() {
                // An instant that lasts now keeps its slot for its start.
                let is_own = is_instant && self.users[slot] == 2 && (k == 0 || ends[0] == ends[1]);
                if self.users[slot] == 1 || is_own {
                    values[slot] = Some(ends[k]);
                    continue;
                }
                let name = format!("ts{}", self.free + fresh.len() as u64);
                change(annotation.references[k].clone(), name.clone());
                fresh.push((
                    ends[k],
                    format!("<TIME_SLOT TIME_SLOT_ID=\"{name}\" TIME_VALUE=\"{}\"/>", ends[k]),
                ));
            }
        }
        let is_moved = values.iter().any(Option::is_some) || !fresh.is_empty();
        if let (true, Some(first), Some(last)) = (is_moved, self.slots.first(), self.slots.last()) {
            let order = self.time_order(&values, fresh);
            let at = first.element.start..last.element.end;
            changes.insert(at.start, (at, order));
        }
        let (mut written, mut at) = (String::with_capacity(body.len()), 0);
        for (place, text) in changes.into_values() {
            // What is inside of an element that is taken out goes with it.
            if place.start >= at {
                written.push_str(&body[at..place.start]);
                written.push_str(&text);
                at = place.end;
            }
        }
        written.push_str(&body[at..]);
        sink(&self.text.encode(written)?)
    }
}

impl Eaf {
    /// Start and end of a moved annotation in milliseconds; it lasts as long as before if no end is given.
    fn span(&self, annotation: &Aligned, start: f64, end: Option<f64>) -> Result<[i64; 2]> {
        let [from, to] = self.values_of(annotation);
        let start = milliseconds(start)?;
        match end {
            Some(end) => Ok([start, milliseconds(end)?]),
            None => Ok([start, start + (to - from)]),
        }
    }

    /// Start and end of an annotation in the file, in milliseconds.
    fn values_of(&self, annotation: &Aligned) -> [i64; 2] {
        annotation.slots.map(|slot| self.slots[slot].value.unwrap_or_default())
    }

    /// Refuses annotations of a tier that would overlap, unless they did before: ELAN does not show them.
    fn refuse_overlaps(&self, moved: Moved<'_>) -> Result<()> {
        let mut spans = Vec::new();
        for (stamp, annotation) in
            self.annotations.iter().enumerate().filter(|(stamp, _)| moved.keeps(*stamp))
        {
            let before = self.values_of(annotation);
            let now = match moved.to(stamp) {
                Some(time) => self.span(annotation, time, moved.end(stamp))?,
                None => before,
            };
            spans.push((annotation.tier, now, before));
        }
        spans.sort_unstable();
        // That of the tier which ends last so far, and the next.
        let mut last: Option<(usize, [i64; 2], [i64; 2])> = None;
        for next in spans {
            let Some(before) = last.filter(|last| last.0 == next.0) else {
                last = Some(next);
                continue;
            };
            let did = before.2[1] > next.2[0] && next.2[1] > before.2[0];
            if next.1[0] < before.1[1] && !did {
                let [from, to, start] =
                    [before.1[0], before.1[1], next.1[0]].map(|value| value as f64 / 1000.0);
                let problem = format!(
                    "annotations from {from} to {to} s and from {start} s would overlap; annotations of a tier cannot"
                );
                return Err(wrong(&self.text.file, problem));
            }
            last = Some(if next.1[1] > before.1[1] { next } else { before });
        }
        Ok(())
    }

    /// All slots in order of time, with what stands between them; slots without a time stay behind the one
    /// before them.
    fn time_order(&self, values: &[Option<i64>], fresh: Vec<(i64, String)>) -> String {
        let body = &self.text.body;
        let mut groups: Vec<(i64, String)> = Vec::new();
        let gap = match &self.slots[..] {
            [first, second, ..] => &body[first.element.end..second.element.start],
            _ => "\n        ",
        };
        for (slot, moved) in self.slots.iter().zip(values) {
            let Slot { element, text, value } = slot;
            let written = match moved {
                Some(now) => format!(
                    "{}{now}{}",
                    &body[element.start..text.start],
                    &body[text.end..element.end]
                ),
                None => body[element.clone()].to_owned(),
            };
            match (moved.or(*value), groups.last_mut()) {
                (None, Some((_, group))) => {
                    group.push_str(gap);
                    group.push_str(&written);
                }
                (value, _) => groups.push((value.unwrap_or(i64::MIN), written)),
            }
        }
        groups.extend(fresh);
        if !groups.is_sorted_by_key(|(value, _)| *value) {
            groups.sort_by_key(|(value, _)| *value);
        }
        groups.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(gap)
    }
}

/// A time in whole milliseconds.
fn milliseconds(time: f64) -> Result<i64> {
    let value = (time * 1000.0).round_ties_even();
    match (0.0..=LAST).contains(&value) {
        true => Ok(value as i64),
        false => Err(too_far(time)),
    }
}

fn too_far(time: f64) -> Error {
    wrong(&format!("time {time} s"), format!("times of ELAN are 0 to {} s", LAST / 1000.0))
}

/// A document with one tier.
pub(super) fn compose(stamps: &Found, options: &WriteOptions) -> Result<Vec<u8>> {
    let tier = escaped(options.tier.as_deref().unwrap_or("stamps"))?;
    let (mut slots, mut annotations) = (Vec::new(), String::new());
    for (k, label) in stamps.labels.iter().enumerate() {
        let start = milliseconds(stamps.times[k])?;
        let end = milliseconds(stamps.times[k] + stamps.durations[k])?;
        let [first, second] = [2 * k + 1, 2 * k + 2];
        slots.push((start, first));
        slots.push((end, second));
        annotations += &format!(
            "        <ANNOTATION>\n            <ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a{}\" \
             TIME_SLOT_REF1=\"ts{first}\" TIME_SLOT_REF2=\"ts{second}\">\n                \
             <ANNOTATION_VALUE>{}</ANNOTATION_VALUE>\n            </ALIGNABLE_ANNOTATION>\n        \
             </ANNOTATION>\n",
            k + 1,
            escaped(label)?
        );
    }
    slots.sort();
    let slots: String = slots
        .iter()
        .map(|(value, slot)| {
            format!("        <TIME_SLOT TIME_SLOT_ID=\"ts{slot}\" TIME_VALUE=\"{value}\"/>\n")
        })
        .collect();
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ANNOTATION_DOCUMENT AUTHOR=\"\" DATE=\"1970-01-01T00:00:00+00:00\" FORMAT=\"3.0\" VERSION=\"3.0\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:noNamespaceSchemaLocation=\"http://www.mpi.nl/tools/elan/EAFv3.0.xsd\">\n    \
         <HEADER MEDIA_FILE=\"\" TIME_UNITS=\"milliseconds\"/>\n    \
         <TIME_ORDER>\n{slots}    </TIME_ORDER>\n    \
         <TIER LINGUISTIC_TYPE_REF=\"default-lt\" TIER_ID=\"{tier}\">\n{annotations}    </TIER>\n    \
         <LINGUISTIC_TYPE GRAPHIC_REFERENCES=\"false\" LINGUISTIC_TYPE_ID=\"default-lt\" TIME_ALIGNABLE=\"true\"/>\n\
         </ANNOTATION_DOCUMENT>\n"
    )
    .into_bytes())
}

/// A text within XML, which has no control characters.
fn escaped(text: &str) -> Result<String> {
    if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n')) {
        return Err(wrong("label", format!("{}: XML has no control characters", quoted(text))));
    }
    let replaced = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(replaced.replace('"', "&quot;"))
}
