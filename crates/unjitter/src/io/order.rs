//! Times that run backwards, and possible reasons.

use super::clock::Clock;
use super::table::shown;

/// How far clocks are put back at the end of summer time, in seconds: an hour, or half an hour on Lord
/// Howe Island.
const PUT_BACK: [f64; 2] = [3600.0, 1800.0];
/// Longest plausible step from one line to the next where a clock was put back, in seconds.
const LONGEST: f64 = 900.0;
/// The same, as a multiple of the usual step, and its least value, in seconds.
const USUAL: (f64, f64) = (10.0, 5.0);

/// The expected form of a time that precedes the last of `times` of its session.
pub(super) fn expected(clock: &Clock, session: &str, times: &[f64], time: f64) -> String {
    let Some(&previous) = times.last() else { return String::new() };
    let before = format!(
        "at or after {}, the time before it in session {}",
        clock.write(previous),
        shown(session)
    );
    let cure = if clock.is_time_of_day() && previous - time > 12.0 * 3600.0 {
        "at midnight, hours begin anew: write dates like 2024-05-31T14:03:27, or hours that go on \
         past 24"
    } else if clock.may_be_local() && is_put_back(times, previous - time) {
        "the clock was put back, as where summer time ends, and sorting would mix what was before \
         with what came after: write times with their offset, such as +02:00, or in UTC, with Z"
    } else {
        "sort the table by time"
    };
    format!("{before}; {cure}")
}

/// Whether a step back is an hour, or half of one, less the time that passed meanwhile.
fn is_put_back(times: &[f64], back: f64) -> bool {
    let steps = times.len() - 1;
    let usual = (times[steps] - times[0]) / steps.max(1) as f64;
    let passed = (USUAL.0 * usual).clamp(USUAL.1, LONGEST);
    PUT_BACK.iter().any(|by| (0.0..=passed).contains(&(by - back)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::TimeUnit;

    fn told(times: &[&str], last: &str) -> String {
        let clock = Clock::starting_at(times[0], TimeUnit::S).unwrap();
        let seconds: Vec<f64> = times.iter().map(|text| clock.seconds(text).unwrap()).collect();
        expected(&clock, "night", &seconds, clock.seconds(last).unwrap())
    }

    #[test]
    fn the_end_of_summer_time_is_recognised() {
        for (times, last) in [
            (["2024-10-27T02:59:54", "2024-10-27T02:59:57"], "2024-10-27T02:00:00"),
            (["2024-10-27T02:59:54", "2024-10-27T02:59:57"], "2024-10-27T02:00:20"),
            (["2024-11-03 01:40:00", "2024-11-03 01:50:00"], "2024-11-03 01:00:00"),
            (["2024-04-07T01:59:58", "2024-04-07T01:59:59"], "2024-04-07T01:30:00"),
            (["02:59:54", "02:59:57"], "02:00:00"),
            (["1730001597", "1730001599"], "1729998000"),
        ] {
            let told = told(&times, last);
            assert!(told.contains("where summer time ends"), "{last}: {told}");
            assert!(!told.contains("sort the table"), "{told}");
        }
    }

    #[test]
    fn other_steps_back_are_for_sorting() {
        for (times, last) in [
            (["2024-10-27T02:59:54", "2024-10-27T02:59:57"], "2024-10-27T02:59:50"),
            (["2024-10-27T02:59:54", "2024-10-27T02:59:57"], "2024-10-27T02:10:00"),
            (["2024-10-27T02:59:54", "2024-10-27T02:59:57"], "2024-10-27T01:59:00"),
            (["2024-10-27T02:59:54Z", "2024-10-27T02:59:57Z"], "2024-10-27T02:00:00Z"),
            (["3600", "3603"], "3"),
        ] {
            let told = told(&times, last);
            assert!(told.ends_with("; sort the table by time"), "{last}: {told}");
        }
    }

    #[test]
    fn midnight_is_recognised() {
        let told = told(&["23:59:56", "23:59:59"], "00:00:02");
        assert!(told.contains("at midnight, hours begin anew"), "{told}");
    }
}
