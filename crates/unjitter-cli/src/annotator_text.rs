//! What was learned of the annotator, and of runs where labels form them, in words.

use unjitter::labels::Variable;
use unjitter::model::{Estimate, ExpectedRuns, LearnedEstimates, Runs};
use unjitter::{Fitted, Learned, Session};

use crate::report::Fact;
use crate::words::{interval, number, per_hour, percent, seconds, side};

/// The learned annotator, in words.
pub(crate) fn annotator(fitted: &Fitted) -> String {
    let Learned { delay, spread, miss_rate, false_rate, background_rate } = fitted.learned();
    let sure = estimates(fitted);
    let who = match fitted.groups().is_empty() {
        true => "The annotator",
        false => "An annotator in the middle of all groups",
    };
    let is_none = sure.delay.is_some_and(|own| own.low <= 0.0 && own.high >= 0.0);
    let background = interval(sure.background_rate, |rate| number(3600.0 * rate));
    let from_nowhere_alone = fitted.runs().is_some() || fitted.classes().len() > 1;
    let for_nothing = match from_nowhere_alone {
        true => format!("presses for nothing {}{background}", per_hour(background_rate)),
        false => format!(
            "presses for nothing at {} of the other instances{},\n  and {} at no instance{background}",
            percent(false_rate),
            interval(sure.false_rate, percent),
            per_hour(background_rate),
        ),
    };
    format!(
        "{who}\n  \
         presses {} on average{}{}\n  \
         single presses scatter by {}{}, the standard deviation\n  \
         misses {} of the events{}\n  \
         {for_nothing}\n",
        side(delay),
        interval(sure.delay, |time| if time < 0.0 { side(time) } else { seconds(time) }),
        if is_none { ": not distinguishable from 0" } else { "" },
        seconds(spread),
        interval(sure.spread, seconds),
        percent(miss_rate),
        interval(sure.miss_rate, percent),
    ) + &ends_text(fitted)
}

/// How the annotator tells ends, in words; nothing if stamps tell none.
fn ends_text(fitted: &Fitted) -> String {
    let Some(Learned { delay, spread, miss_rate, background_rate, .. }) = fitted.learned_ends()
    else {
        return String::new();
    };
    let sure = fitted.ends_estimates(0.95).expect("95 % is a level").expect("ends are learned");
    format!(
        "The end of an event is pressed\n  \
         {} on average{}\n  \
         with a scatter of {}{}\n  \
         of all but {} of the events{}, and for nothing {}{}\n",
        side(delay),
        interval(sure.delay, |time| if time < 0.0 { side(time) } else { seconds(time) }),
        seconds(spread),
        interval(sure.spread, seconds),
        percent(miss_rate),
        interval(sure.miss_rate, percent),
        per_hour(background_rate),
        interval(sure.background_rate, |rate| number(3600.0 * rate)),
    )
}

/// The runs that labels form, in words; nothing if they are independent.
pub(crate) fn runs(fitted: &Fitted, sessions: &[Session<'_>]) -> String {
    // Sessions that were learned from have the right features.
    let (Some(Runs { stamps, .. }), Ok(Some(expected))) =
        (fitted.runs(), fitted.expected_runs(sessions))
    else {
        return String::new();
    };
    let ExpectedRuns { count, length, gap } = expected;
    let about = match stamps {
        Variable::Onset => "when it begins",
        Variable::End => "when it ends",
        Variable::Presence => "while it is there",
    };
    format!(
        "An event\n  \
         is a run of instances, of which features show {}\n  \
         lasts {} on average, from its first to its last instance\n  \
         is followed by {} without one, on average\n  \
         is stamped {about}\n",
        number(count),
        seconds(length),
        seconds(gap),
    )
}

/// How sure the fit is of the annotator, at 95 %.
pub(crate) fn estimates(fitted: &Fitted) -> LearnedEstimates {
    fitted.learned_estimates(0.95).expect("95 % is a level")
}

/// The same as facts of a report.
pub(crate) fn facts(fitted: &Fitted, sessions: &[Session<'_>]) -> Vec<Fact> {
    let Learned { delay, spread, miss_rate, false_rate, background_rate } = fitted.learned();
    let fact = |label: &str, value: String, explanation: String| Fact {
        label: label.to_owned(),
        value,
        explanation,
    };
    let sure = estimates(fitted);
    let with = |text: &str, own: Option<Estimate>, show: fn(f64) -> String| {
        own.map_or(text.to_owned(), |own| {
            // A number stays with its unit.
            let [low, high] = [own.low, own.high].map(|end| show(end).replace(' ', "\u{a0}"));
            format!("{text}; 95\u{a0}%: {low} to {high}")
        })
    };
    let text = with("from an event to its press", sure.delay, side);
    let mut facts = vec![fact("typical delay", side(delay), text)];
    let text = with("standard deviation of the delay", sure.spread, seconds);
    facts.push(fact("spread", seconds(spread), text));
    let text = with("of the events got no press", sure.miss_rate, percent);
    facts.push(fact("missed", percent(miss_rate), text));
    let hourly = |rate: f64| number(3600.0 * rate);
    let runs = fitted.expected_runs(sessions).ok().flatten();
    if runs.is_none() && fitted.classes().len() < 2 {
        let text = with("of the other instances got one", sure.false_rate, percent);
        facts.push(fact("false presses", percent(false_rate), text));
        let text = with("presses that belong to no instance", sure.background_rate, hourly);
        facts.push(fact("from nowhere", per_hour(background_rate), text));
        return facts;
    }
    let text = with("presses that belong to no event", sure.background_rate, hourly);
    facts.push(fact("false presses", per_hour(background_rate), text));
    if let Some(Learned { delay, spread, .. }) = fitted.learned_ends() {
        let sure = fitted.ends_estimates(0.95).expect("95 % is a level").expect("ends are learned");
        let text = with("from the end of an event to its press", sure.delay, side);
        facts.push(fact("delay of ends", side(delay), text));
        let text = with("standard deviation of the delay of ends", sure.spread, seconds);
        facts.push(fact("spread of ends", seconds(spread), text));
    }
    let Some(ExpectedRuns { length, gap, .. }) = runs else { return facts };
    let own = |text: &str| text.to_owned();
    facts.push(fact("lasting", seconds(length), own("mean length of an event")));
    facts.push(fact("apart", seconds(gap), own("mean time from an event to the next")));
    facts
}
