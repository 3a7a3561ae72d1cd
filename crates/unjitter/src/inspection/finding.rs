//! Findings, as data.

use serde::Serialize;

use crate::io::TimeUnit;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake.
    Suspicious,
    /// Learning will fail or mislead.
    Problem,
}

/// Events of a session that has no instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stranger {
    /// The name.
    pub session: String,
    /// Number of events with this name.
    pub stamps: usize,
    /// The session that may be meant.
    pub likely: Option<String>,
}

/// Some stamps of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionStamps {
    /// The session.
    pub session: String,
    /// How many.
    pub stamps: usize,
}

/// The apparent shift of stamps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// Seconds to add to the stamps.
    pub seconds: f64,
    /// Uncertainty of the shift, in seconds either way.
    pub give: f64,
    /// The only whole number of hours that fits, if there is one: a time zone.
    pub hours: Option<i32>,
}

/// A feature that follows the stamps too well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Telling {
    /// Its name.
    pub feature: String,
    /// Runs of instances in which it differs from its usual value.
    pub runs: usize,
    /// Stamps.
    pub stamps: usize,
    /// Runs and stamps that match each other.
    pub matched: usize,
    /// Whether its name is that of a label.
    pub named: bool,
}

/// A session with apparently shifted stamps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionShift {
    /// The session.
    pub session: String,
    /// How many stamps it has.
    pub stamps: usize,
    /// By how much.
    pub shift: Shift,
}

/// A finding. Its message says what was seen, where, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum Finding {
    /// Events that name sessions without instances.
    UnknownSessions { stamps: usize, names: usize, examples: Vec<Stranger> },
    /// Events that name no session, though there are several.
    NoSessionColumn { sessions: usize },
    /// Events whose times cannot be read beside those of their session.
    UnreadableTimes { stamps: usize, line: u64, value: String, expected: String },
    /// There is no table of events.
    NoEventsTable,
    /// There is no stamp to learn from.
    NoStamps,
    /// Stamps fit their sessions only when their times are multiplied by `factor`.
    UnitMismatch { factor: f64, doubtless: bool },
    /// Times of instances that make more sense in another unit.
    OtherUnit { unit: TimeUnit, spacing: f64, since_1970: bool },
    /// Stamps that would lie within their sessions after one constant shift.
    ShiftedClock { sessions: Vec<SessionShift>, common: Option<Shift>, doubtless: bool },
    /// Stamps inside their sessions, but a long constant time from where features stand out.
    ShiftedInside { sessions: Vec<SessionShift>, common: Option<Shift>, doubtless: bool },
    /// Stamps far before or after their session.
    OutsideSession { stamps: usize, of: usize, margin: f64, sessions: Vec<SessionStamps> },
    /// Stamps that come long before or after the positive instances, all by about the same time.
    FarFromPositives { delay: Option<f64>, sessions: Vec<SessionShift>, spacing: f64 },
    /// Sessions with the same times and features under several names.
    RepeatedSessions { groups: Vec<Vec<String>> },
    /// Sessions with the same stamps under several names.
    RepeatedStamps { groups: Vec<Vec<String>> },
    /// Stamps at the very time of another.
    SameTime { stamps: usize, of: usize },
    /// Stamps right after another, far more often than by chance.
    DoublePresses { stamps: usize, of: usize, within: f64 },
    /// Most stamps belong to a pair of close ones.
    Pairs { pairs: usize, of: usize, apart: f64 },
    /// Stamps at whole multiples of `grid` seconds, which exceeds the spacing of instances.
    RoundedStamps { stamps: usize, of: usize, grid: f64, spacing: f64 },
    /// A column of the events distinguishes several kinds.
    SeveralKinds { column: String, kinds: Vec<String> },
    /// A column of the events names who pressed.
    SeveralAnnotators { column: String, people: Vec<String> },
    /// A column of the events gives their ends or durations.
    EndsUnused { column: String, time: String },
    /// Sessions without a stamp; `positive` of them have instances labelled positive.
    Unstamped { sessions: Vec<String>, of: usize, positive: usize },
    /// Hardly any stamps.
    FewStamps { stamps: usize },
    /// Fewer stamps than features.
    FewerThanFeatures { stamps: usize, features: usize },
    /// Sessions with more stamps than instances.
    MoreThanInstances { sessions: Vec<String> },
    /// Stamps scatter about the positive instances as widely as they follow each other.
    WideBesideGap { spread: f64, gap: f64 },
    /// All labels are the same.
    OneClass { label: bool },
    /// Most labels are positive.
    MostlyPositive { share: f64 },
    /// Positive instances come in runs, with about one stamp for each run.
    LabelRuns { positives: usize, runs: usize, stamps: usize },
    /// Neighbouring instances share samples, and there are no labels: in every feature neighbours are at least so alike.
    OverlappingWindows { alike: f64, stamps: usize },
    /// Some instances have no label.
    PartlyLabelled { labelled: usize, of: usize },
    /// Instances at the very time of another.
    InstancesAtOneTime { instances: usize, of: usize, session: String },
    /// Long stretches without instances, and stamps in the middle of them.
    LongGaps { gaps: usize, longest: f64, session: String, start: String, stamps: usize },
    /// Features with one value.
    ConstantFeatures { features: Vec<String> },
    /// Features with one value but for very few instances.
    NearlyConstant { features: Vec<String> },
    /// Features that are the same, instance by instance.
    RepeatedFeatures { groups: Vec<Vec<String>> },
    /// Features that give the label away.
    LabelAsFeature { features: Vec<String> },
    /// Features that match the stamps one to one.
    StampsAsFeature { features: Vec<Telling> },
    /// Features named like the label.
    LabelName { features: Vec<String> },
    /// Features with values of absurd size.
    HugeValues { features: Vec<String>, largest: f64 },
}

/// A larger share of odd stamps or instances is more than slips.
const MORE_THAN_SLIPS: f64 = 0.05;
/// A grid of so many usual spacings of instances blurs stamps more than a fit can undo.
const BLURRED: f64 = 8.0;

impl Finding {
    /// Its severity.
    pub fn severity(&self) -> Severity {
        use Severity::{Note, Problem, Suspicious};
        let unless = |fine: bool| if fine { Note } else { Suspicious };
        let few = |some: usize, all: usize| some as f64 <= MORE_THAN_SLIPS * all as f64;
        match self {
            Self::UnknownSessions { .. }
            | Self::NoSessionColumn { .. }
            | Self::UnreadableTimes { .. }
            | Self::NoStamps
            | Self::UnitMismatch { doubtless: true, .. }
            | Self::ShiftedClock { doubtless: true, .. }
            | Self::ShiftedInside { doubtless: true, .. } => Problem,
            Self::OutsideSession { stamps, of, .. }
                if 2 * stamps > *of && *stamps >= super::outside::ENOUGH =>
            {
                Problem
            }
            Self::StampsAsFeature { features } if features.iter().any(|one| one.named) => Problem,
            Self::RoundedStamps { grid, spacing, .. } => unless(*grid < BLURRED * spacing),
            Self::OtherUnit { since_1970: true, .. } => Problem,
            Self::OtherUnit { spacing, .. } => unless(*spacing < super::units::ABSURD_SPACING),
            Self::SameTime { stamps, of } => unless(few(*stamps, *of)),
            Self::InstancesAtOneTime { instances, of, .. } => unless(few(*instances, *of)),
            Self::Unstamped { positive, .. } => unless(*positive == 0),
            Self::LongGaps { stamps, .. } => unless(*stamps == 0),
            Self::OutsideSession { .. }
            | Self::UnitMismatch { .. }
            | Self::ShiftedClock { .. }
            | Self::ShiftedInside { .. }
            | Self::Pairs { .. }
            | Self::SeveralKinds { .. }
            | Self::StampsAsFeature { .. }
            | Self::LabelName { .. }
            | Self::FarFromPositives { .. }
            | Self::RepeatedSessions { .. }
            | Self::RepeatedStamps { .. }
            | Self::DoublePresses { .. }
            | Self::FewStamps { .. }
            | Self::MoreThanInstances { .. }
            | Self::OneClass { .. }
            | Self::LabelAsFeature { .. } => Suspicious,
            Self::NoEventsTable
            | Self::SeveralAnnotators { .. }
            | Self::EndsUnused { .. }
            | Self::FewerThanFeatures { .. }
            | Self::WideBesideGap { .. }
            | Self::MostlyPositive { .. }
            | Self::LabelRuns { .. }
            | Self::OverlappingWindows { .. }
            | Self::PartlyLabelled { .. }
            | Self::ConstantFeatures { .. }
            | Self::NearlyConstant { .. }
            | Self::RepeatedFeatures { .. }
            | Self::HugeValues { .. } => Note,
        }
    }
}
