//! The figure of groups that differ.

use unjitter::Fitted;
use unjitter::model::GroupEstimate;

use crate::figures::{GroupDot, GroupPanel, Groups, groups};
use crate::gallery::{Drawing, drawing};
use crate::groups_text::{Differing, differing, title, unit};
use crate::words::counted;

/// Most groups of one kind that are drawn.
const DRAWN: usize = 40;

/// What differs between groups; none if nothing does.
pub(crate) fn groups_drawing(fitted: &Fitted) -> Option<Drawing> {
    let panels: Vec<GroupPanel> = differing(fitted).iter().map(panel).collect();
    let caption = "What was learned of each group of stamps, with its 95 % interval, beside all \
                   together. A group with few stamps is drawn to the others.";
    let is_any = !panels.is_empty();
    let data = Groups { title: "Groups".to_owned(), panels };
    is_any.then(|| drawing("groups", "Groups", caption, groups(&data)))
}

fn panel(own: &Differing) -> GroupPanel {
    let (unit, factor) = unit(own.variation.what);
    let dot = |group: &GroupEstimate| GroupDot {
        name: group.group.clone(),
        value: factor * group.value,
        low: group.estimate.map_or(f64::NAN, |sure| factor * sure.low),
        high: group.estimate.map_or(f64::NAN, |sure| factor * sure.high),
    };
    // Of many, those that differ most come first.
    let mut groups: Vec<GroupDot> = own.groups.iter().take(DRAWN).map(dot).collect();
    groups.sort_by(|a, b| a.value.total_cmp(&b.value));
    let more = own.groups.len().saturating_sub(DRAWN);
    let differ = if more == 1 { "differs" } else { "differ" };
    let others = counted(more, own.variation.by.name());
    GroupPanel {
        name: title(own.variation),
        x_label: match unit {
            "s" => "in seconds".to_owned(),
            "per hour" => "per hour".to_owned(),
            unit => format!("in {unit}"),
        },
        of_all: factor * own.of_all,
        groups,
        more: (more > 0).then(|| format!("and {others} that {differ} less")),
    }
}

#[cfg(test)]
mod tests {
    use unjitter::model::{Factor, Variation, Varying};

    use super::*;

    #[test]
    fn groups_are_drawn_by_value_and_those_left_out_are_counted() {
        let variation = Variation { what: Varying::MissRate, by: Factor::Session };
        let group = |k: u32| GroupEstimate {
            variation,
            group: format!("s{k}"),
            value: 0.01 * f64::from(k),
            estimate: None,
        };
        // From those that differ most to those that differ least.
        let groups = (1..=43).rev().map(group).collect();
        let drawn = panel(&Differing { variation, of_all: 0.01, groups });
        assert_eq!(drawn.groups.len(), 40);
        assert_eq!((drawn.groups[0].name.as_str(), drawn.groups[39].name.as_str()), ("s4", "s43"));
        assert_eq!(drawn.more.as_deref(), Some("and 3 sessions that differ less"));
        assert_eq!((drawn.x_label.as_str(), drawn.of_all), ("in %", 1.0));
        assert!(drawn.groups[0].low.is_nan());
    }
}
