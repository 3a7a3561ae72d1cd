//! What was learned of each group of stamps: in words, and as a table for other programs.

use unjitter::io::TableText;
use unjitter::model::{GroupEstimate, Variation, Varying};
use unjitter::{Fitted, Learned};

use crate::report::TableView;
use crate::words::{counted, number, percent};

/// Most groups of one kind that are shown.
const SHOWN: usize = 12;

/// The groups between which one number differs.
#[derive(Debug)]
pub(crate) struct Differing {
    pub variation: Variation,
    /// The number of all together.
    pub of_all: f64,
    /// By name, or by how far they are from all together if there are too many to show.
    pub groups: Vec<GroupEstimate>,
}

/// What differs between groups, with intervals at 95 %.
pub(crate) fn estimates(fitted: &Fitted) -> Vec<GroupEstimate> {
    fitted.group_estimates(0.95).expect("95 % is a level")
}

/// The groups of each thing that varies.
pub(crate) fn differing(fitted: &Fitted) -> Vec<Differing> {
    let (estimates, learned) = (estimates(fitted), fitted.learned());
    let own = |groups: &[GroupEstimate]| {
        let (variation, mut groups) = (groups[0].variation, groups.to_vec());
        let of_all = of_all(variation.what, &learned);
        if groups.len() > SHOWN {
            let distance = |own: &GroupEstimate| distance(variation.what, own.value, of_all);
            groups.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        }
        Differing { variation, of_all, groups }
    };
    estimates.chunk_by(|a, b| a.variation == b.variation).map(own).collect()
}

/// The number of a model without groups.
fn of_all(what: Varying, learned: &Learned) -> f64 {
    match what {
        Varying::Delay => learned.delay,
        Varying::Offset | Varying::Drift => 0.0,
        Varying::Spread => learned.spread,
        Varying::MissRate => learned.miss_rate,
        Varying::FalseRate => learned.false_rate,
        Varying::BackgroundRate => learned.background_rate,
    }
}

/// How far a group is from all together, on the scale on which groups scatter.
fn distance(what: Varying, value: f64, of_all: f64) -> f64 {
    let scale = |value: f64| match what {
        Varying::Delay | Varying::Offset | Varying::Drift => value,
        Varying::Spread | Varying::BackgroundRate => value.ln(),
        Varying::MissRate | Varying::FalseRate => (value / (1.0 - value)).ln(),
    };
    (scale(value) - scale(of_all)).abs()
}

/// The unit in which people are told a number, and its factor.
pub(crate) fn unit(what: Varying) -> (&'static str, f64) {
    match what {
        Varying::Delay | Varying::Offset | Varying::Spread => ("s", 1.0),
        Varying::Drift => ("ppm", 1e6),
        Varying::MissRate | Varying::FalseRate => ("%", 100.0),
        Varying::BackgroundRate => ("per hour", 3600.0),
    }
}

/// A number with its unit.
fn shown(what: Varying, value: f64) -> String {
    match (what, unit(what)) {
        (Varying::MissRate | Varying::FalseRate, _) => percent(value),
        (_, (unit, factor)) => format!("{} {unit}", number(factor * value)),
    }
}

/// "Clock offset by session".
pub(crate) fn title(Variation { what, by }: Variation) -> String {
    let what = match what {
        Varying::Delay => "Delay",
        Varying::Offset => "Clock offset",
        Varying::Drift => "Clock drift",
        Varying::Spread => "Spread",
        Varying::MissRate => "Events missed",
        Varying::FalseRate => "Presses for nothing",
        Varying::BackgroundRate => "Presses at no instance",
    };
    format!("{what} by {}", by.name())
}

/// A table for each thing that varies.
pub(crate) fn tables(fitted: &Fitted) -> Vec<TableView> {
    differing(fitted).iter().map(table).collect()
}

fn table(own: &Differing) -> TableView {
    let Variation { what, by } = own.variation;
    let row = |group: &GroupEstimate| {
        let interval = group.estimate.map_or("–".to_owned(), |sure| {
            format!("{} to {}", shown(what, sure.low), shown(what, sure.high))
        });
        vec![group.group.clone(), shown(what, group.value), interval]
    };
    let mut caption = match what {
        Varying::Offset | Varying::Drift => Vec::new(),
        _ => vec![format!("In the middle of all: {}.", shown(what, own.of_all))],
    };
    if let Some(others) = own.groups.len().checked_sub(SHOWN).filter(|others| *others > 0) {
        let differ = if others == 1 { "differs" } else { "differ" };
        caption.push(format!("And {} that {differ} less.", counted(others, by.name())));
    }
    TableView {
        title: title(own.variation),
        caption: caption.join(" "),
        header: [by.name(), what.name(), "95 % interval"]
            .map(|name| name.replace('_', " "))
            .to_vec(),
        rows: own.groups.iter().take(SHOWN).map(row).collect(),
    }
}

/// All groups, as a table for other programs.
pub(crate) fn csv(estimates: &[GroupEstimate]) -> Vec<u8> {
    let header = ["what", "by", "group", "value", "standard_error", "low", "high", "unit"];
    let mut table = TableText::new(b',', header);
    for GroupEstimate { variation: Variation { what, by }, group, value, estimate } in estimates {
        let (unit, factor) = unit(*what);
        let scaled = |value: f64| (factor * value).to_string();
        let sure = |of: fn(&unjitter::model::Estimate) -> f64| {
            estimate.as_ref().map_or(String::new(), |own| scaled(of(own)))
        };
        let [error, low, high] =
            [sure(|own| own.standard_error), sure(|own| own.low), sure(|own| own.high)];
        let value = scaled(*value);
        table.push([what.name(), by.name(), group, &value, &error, &low, &high, unit]);
    }
    table.into()
}

#[cfg(test)]
mod tests {
    use unjitter::model::Factor;

    use super::*;

    fn estimate(what: Varying, group: &str, value: f64) -> GroupEstimate {
        let variation = Variation { what, by: Factor::Session };
        GroupEstimate { variation, group: group.to_owned(), value, estimate: None }
    }

    #[test]
    fn numbers_are_told_in_their_units() {
        for (what, value, told) in [
            (Varying::Delay, -0.25, "-0.25 s"),
            (Varying::Drift, 3e-5, "30 ppm"),
            (Varying::MissRate, 0.125, "12.5 %"),
            (Varying::FalseRate, 1e-9, "less than 0.01 %"),
            (Varying::BackgroundRate, 1.0 / 1800.0, "2 per hour"),
        ] {
            assert_eq!(shown(what, value), told);
        }
        let text =
            csv(&[estimate(Varying::Drift, "a,b", 2e-6), estimate(Varying::Delay, "c", 1.5)]);
        let rows = "drift,session,\"a,b\",2,,,,ppm\ndelay,session,c,1.5,,,,s\n";
        assert!(String::from_utf8(text).unwrap().ends_with(rows));
    }

    #[test]
    fn groups_are_as_far_as_they_scatter() {
        // Twice and half a spread are alike; so are 10 % more and less of events missed at one half.
        for (what, of_all, one, other) in [
            (Varying::Spread, 1.0, 2.0, 0.5),
            (Varying::MissRate, 0.5, 0.4, 0.6),
            (Varying::Delay, 1.0, 3.0, -1.0),
        ] {
            let far = distance(what, one, of_all) - distance(what, other, of_all);
            // Rounding of logarithms of order one.
            assert!(far.abs() < 1e-12, "{what:?}: {far}");
        }
        assert!(distance(Varying::MissRate, 0.01, 0.1) > distance(Varying::MissRate, 0.2, 0.1));
    }

    #[test]
    fn too_many_groups_are_counted() {
        let value = |k: usize| f64::from(u32::try_from(k).unwrap());
        let groups: Vec<GroupEstimate> =
            (0..15).map(|k| estimate(Varying::Spread, &format!("s{k}"), 1.0 + value(k))).collect();
        let of = |groups| {
            let variation = Variation { what: Varying::Spread, by: Factor::Session };
            table(&Differing { variation, of_all: 1.0, groups })
        };
        let all = of(groups.clone());
        assert_eq!(
            (all.rows.len(), &all.rows[0][..2]),
            (12, &["s0".to_owned(), "1 s".to_owned()][..])
        );
        assert_eq!(all.caption, "In the middle of all: 1 s. And 3 sessions that differ less.");
        assert_eq!(of(groups[..12].to_vec()).caption, "In the middle of all: 1 s.");
    }
}
