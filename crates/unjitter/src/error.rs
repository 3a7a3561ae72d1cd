//! Every error, with the place, the value and the limit.

use std::path::PathBuf;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A mistake in the input, described so that it can be found and corrected.
///
/// Instances, stamps and columns are counted from zero, as in the slices that were passed in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A session without instances.
    #[error("session {session}: it has no instances")]
    EmptySession {
        /// Name of the session.
        session: String,
    },
    /// A slice that must run parallel to the instances but has another length.
    #[error("session {session}: {found} {what} for {expected} instances")]
    LengthMismatch {
        /// Name of the session.
        session: String,
        /// What was counted: "times", "labels", …
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many instances there are.
        expected: usize,
    },
    /// Names of classes that are not in order, or given twice, or empty.
    #[error("classes {found}: expected names in order, each once, and none empty")]
    ClassNames {
        /// The names.
        found: String,
    },
    /// A session with a class that the model does not know.
    #[error("session {session}: class {class} is not among those of the model: {known}")]
    UnknownClass {
        /// Name of the session.
        session: String,
        /// The class.
        class: String,
        /// Those of the model.
        known: String,
    },
    /// A label of an event without its class, where there are several.
    #[error("session {session}: instance {instance} is an event without a class")]
    LabelWithoutClass {
        /// Name of the session.
        session: String,
        /// Position of the instance.
        instance: usize,
    },
    /// A clock for each class of events.
    #[error("{variation}: classes of events share a clock; delay by class lets them differ")]
    ClockOfClass {
        /// What was to vary.
        variation: String,
    },
    /// Something that can be asked only of a model whose events are of one class.
    #[error(
        "{what} does not work with several classes of events, and the model has {classes}; fit a model of one class, \
         from its stamps alone"
    )]
    SeveralClasses {
        /// What was asked.
        what: &'static str,
        /// The classes.
        classes: String,
    },
    /// Numbers that do not fill a matrix.
    #[error("{found} numbers for {rows} rows of {columns} features, expected {}", rows.saturating_mul(*columns))]
    BadShape {
        /// How many were given.
        found: usize,
        /// Rows that they should fill.
        rows: usize,
        /// Numbers of a row.
        columns: usize,
    },
    /// A feature that is NaN or infinite.
    #[error(
        "session {session}: feature {column} of instance {instance} is {value}, expected a finite number"
    )]
    NonFiniteFeature {
        /// Name of the session.
        session: String,
        /// Row of the feature matrix.
        instance: usize,
        /// Column of the feature matrix.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// An instance time or a stamp that is NaN or infinite.
    #[error("session {session}: {what} {index} is {value}, expected a finite time")]
    NonFiniteTime {
        /// Name of the session.
        session: String,
        /// "time" (of an instance) or "stamp".
        what: &'static str,
        /// Its position.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// Times or stamps that run backwards.
    #[error(
        "session {session}: {what} {index} at {value} precedes the one before it at {previous}"
    )]
    OutOfOrder {
        /// Name of the session.
        session: String,
        /// "time" (of an instance) or "stamp".
        what: &'static str,
        /// Position of the later entry with the earlier time.
        index: usize,
        /// Its time.
        value: f64,
        /// The time before it.
        previous: f64,
    },
    /// A label that is neither 0 nor 1.
    #[error("session {session}: label of instance {instance} is {value}, expected 0, 1 or unknown")]
    BadLabel {
        /// Name of the session.
        session: String,
        /// Position of the instance.
        instance: usize,
        /// The offending value.
        value: f64,
    },
    /// An observed interval that is empty, not finite, or overlaps the one before it.
    #[error(
        "session {session}: observed interval {index} runs from {start} to {end}, expected \
         start < end, both finite, after the interval before it"
    )]
    BadInterval {
        /// Name of the session.
        session: String,
        /// Position of the interval.
        index: usize,
        /// Its start.
        start: f64,
        /// Its end.
        end: f64,
    },
    /// A stamp outside the session's observed intervals.
    #[error("session {session}: stamp {index} at {time} lies outside every observed interval")]
    StampOutsideObserved {
        /// Name of the session.
        session: String,
        /// Position of the stamp.
        index: usize,
        /// Its time.
        time: f64,
    },
    /// Two sessions of one name.
    #[error("session {session}: sessions {first} and {second} both have this name")]
    DuplicateSession {
        /// The shared name.
        session: String,
        /// Position of the first.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// Sessions, or a session and a detector, that disagree on the number of features.
    #[error("session {session}: {found} features, expected {expected}")]
    FeatureCount {
        /// Name of the session.
        session: String,
        /// How many it has.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// No session at all.
    #[error("no sessions were given")]
    NoSessions,
    /// Nothing to learn from: no session has a stamp.
    #[error("none of the {sessions} sessions has a stamp to learn from")]
    NoStamps {
        /// How many sessions were given.
        sessions: usize,
    },
    /// Sessions that leave some parameters of a fitted model open.
    #[error(
        "the sessions do not tell all parameters of the model, so nothing can be planned from them; hold some \
         parameters, label some instances and learn from them, or use fewer features"
    )]
    NotInformative,
    /// Deviations of groups, which cannot be summed over sessions in several places.
    #[error(
        "a number that varies between groups cannot be learned from sessions in several places; learn it from \
         sessions in memory, or without `varies` and `clock`"
    )]
    GroupsInParts,
    /// Parameters of another model.
    #[error("{found} parameters, expected the {expected} of the model")]
    ParameterCount {
        /// How many were given.
        found: usize,
        /// How many the model has.
        expected: usize,
    },
    /// What a worker in another place said when it failed.
    #[error("{0}")]
    Worker(String),
    /// A slice that must run parallel to the stamps but has another length.
    #[error("session {session}: {found} {what} for {expected} stamps")]
    StampMismatch {
        /// Name of the session.
        session: String,
        /// What was counted: "annotators", …
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many stamps there are.
        expected: usize,
    },
    /// A number that is to differ between groups of which there are none.
    #[error(
        "{variation}: no session says which group it is of; name annotators, subjects or devices, or \
         let it differ by session"
    )]
    NoGroups {
        /// What was asked for.
        variation: String,
    },
    /// A stamp in an interval whose width is none.
    #[error(
        "session {session}: the width of stamp {index} is {width}, expected a number of at least 0"
    )]
    StampWidth {
        /// Its session.
        session: String,
        /// Its position.
        index: usize,
        /// The width.
        width: f64,
    },
    /// An end before its beginning, or none at all.
    #[error(
        "session {session}: stamp {index} begins at {start} and ends at {end}, expected an end that is not earlier"
    )]
    StampEnd {
        /// Its session.
        session: String,
        /// Its position.
        index: usize,
        /// When it begins.
        start: f64,
        /// When it ends.
        end: f64,
    },
    /// Stamps with ends whose own times are not beginnings.
    #[error(
        "session {session}: stamps with an end tell when something began and ended, and the model has them about \
         something else; leave out the ends, or let stamps be about onsets"
    )]
    EndsOfOther {
        /// The first such session.
        session: String,
    },
    /// Ends of what has no length.
    #[error("ends of stamps need labels that form a chain, and stamps about onsets")]
    EndsWithoutRuns,
    /// A group of stamps that a model has not seen.
    #[error(
        "session {session}: {variation} is not known of {group}, which the model has not seen; adapt it to \
         the session first"
    )]
    UnseenGroup {
        /// Its name.
        session: String,
        /// What differs.
        variation: String,
        /// The group.
        group: String,
    },
    /// A variation that was given twice.
    #[error("{variation}: it is given twice")]
    VariesTwice {
        /// What was asked for.
        variation: String,
    },
    /// A number that is to differ but that the model does not have.
    #[error("{variation}: the model has no such number; take other noise, or leave it out")]
    NothingVaries {
        /// What was asked for.
        variation: String,
    },
    /// Stamps about an end or the presence of runs, of labels that do not form any.
    #[error("stamps are about {stamps}, but labels are independent: let them form a chain")]
    NoRuns {
        /// What stamps are about.
        stamps: &'static str,
    },
    /// Rows by themselves, of labels that depend on their neighbours.
    #[error(
        "labels form a chain, so that probabilities take a whole session with its times, not rows of features alone"
    )]
    RowsOfChain,
    /// Two instances at one time with labels that differ, where labels form a chain.
    #[error(
        "session {session}: instances {first} and {second} are both at {time} and have different labels, \
         which no chain allows"
    )]
    SameTime {
        /// Name of the session.
        session: String,
        /// Position of one instance.
        first: usize,
        /// Position of the other.
        second: usize,
        /// Their time.
        time: f64,
    },
    /// Something that supposes independent labels.
    #[error("{what}: it supposes independent labels, and these form a chain; {instead}")]
    NotOfChain {
        /// What was asked for.
        what: &'static str,
        /// What helps.
        instead: &'static str,
    },
    /// Work that was stopped before it had a result.
    #[error("the work was stopped before it had found anything")]
    Cancelled,
    /// Supervised learning without a known label, or with labels of one class only.
    #[error(
        "the labels have {positives} positives and {negatives} negatives, expected some of each"
    )]
    OneClass {
        /// Total weight of the positive targets.
        positives: f64,
        /// Total weight of the negative targets.
        negatives: f64,
    },
    /// Hand-aligned labels are needed and a recording has none.
    #[error("session {session}: it has no hand-aligned labels, which this learner or score needs")]
    NoTruth {
        /// Name of the session.
        session: String,
    },
    /// More stamps than the count model can explain.
    #[error(
        "session {session}: {stamps} stamps, but {instances} observed instances with at most \
         {max_count} stamps each explain at most {capacity}"
    )]
    TooManyStamps {
        /// Name of the session.
        session: String,
        /// Number of stamps.
        stamps: usize,
        /// Number of instances that can emit.
        instances: usize,
        /// Largest count of one instance.
        max_count: usize,
        /// instances × max_count.
        capacity: usize,
    },
    /// No alignment of the stamps has positive probability under the given parameters.
    #[error(
        "session {session}: no alignment of its {stamps} stamps to its {instances} observed \
         instances has positive probability; {reason}"
    )]
    Infeasible {
        /// Name of the session.
        session: String,
        /// Number of stamps.
        stamps: usize,
        /// Number of instances that can emit.
        instances: usize,
        /// Why no alignment is possible, as far as it is known.
        reason: String,
    },
    /// Draws of alignments in any order.
    #[error(
        "alignments of stamps in any order cannot be drawn: their posterior is known stamp by stamp only, in \
         the responsibilities; alignments of stamps in the order of their instances can be drawn"
    )]
    NoDraws,
    /// The windows of a session's stamps need more memory than is allowed.
    #[error(
        "session {session}: its {stamps} stamps could each belong to so many of its {instances} \
         instances that the sums would take {}, with a limit of {}; most likely the stamps have another \
         clock or unit than the instances, or the spread is far too wide",
        gibibytes(*bytes), gibibytes(*limit)
    )]
    TooLarge {
        /// Name of the session.
        session: String,
        /// Number of stamps.
        stamps: usize,
        /// Number of instances that can emit.
        instances: usize,
        /// The memory it would take, about.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A parameter or option outside its range.
    #[error("{name} is {value}, expected {expected}")]
    OutOfRange {
        /// Name of the parameter or option.
        name: String,
        /// The offending value.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// A parameter name that the model does not have.
    #[error("there is no parameter {name}; the model has {known}")]
    UnknownParameter {
        /// The name that was asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// A parameter given with the wrong number of values.
    #[error("{name} takes {expected} values, {found} were given")]
    ParameterLength {
        /// Name of the parameter.
        name: String,
        /// Values given.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// The kernel matrix of the training instances has no positive pivot or is not finite.
    #[error(
        "the kernel matrix of {instances} landmarks cannot be factorised: pivot {pivot} is {value}"
    )]
    Kernel {
        /// Number of landmarks.
        instances: usize,
        /// Position of the failing pivot.
        pivot: usize,
        /// Its value.
        value: f64,
    },
    /// An entry of a slice that is unusable.
    #[error("{what} {index} is {value}, expected {expected}")]
    BadInput {
        /// What the slice holds: "log-odds", "time", "probability", …
        what: &'static str,
        /// Its position.
        index: usize,
        /// The offending value.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// Two slices that must run parallel but differ in length.
    #[error("{found} {what} for {expected} {against}")]
    Unpaired {
        /// What was counted: "labels", …
        what: &'static str,
        /// How many were given.
        found: usize,
        /// What it must run parallel to: "probabilities", …
        against: &'static str,
        /// How many of those there are.
        expected: usize,
    },
    /// Too little to answer the question.
    #[error("{found} {what}, expected at least {least}")]
    TooFew {
        /// What was counted: "instances", "bins", …
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// A signal whose times and values differ in number.
    #[error("a signal with {times} times and {values} values")]
    SignalLength {
        /// How many times were given.
        times: usize,
        /// How many values were given.
        values: usize,
    },
    /// A channel too short to have a sampling rate.
    #[error("channel {channel}: {samples} samples, expected at least two at different times")]
    TooFewSamples {
        /// Position of the channel.
        channel: usize,
        /// How many samples it has.
        samples: usize,
    },
    /// A signal in which no respiration cycle was found.
    #[error("no respiration cycle in {samples} samples and {runs} runs without gaps")]
    NoCycles {
        /// Number of samples that were there.
        samples: usize,
        /// Number of runs they form.
        runs: usize,
    },
    /// Too few sessions or subjects to hold any out.
    #[error(
        "{groups} sessions or subjects cannot be split into {folds} folds, expected at least 2 of both"
    )]
    TooFewGroups {
        /// Groups there are.
        groups: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// A contender without candidates.
    #[error("contender {contender}: it has no candidates to choose from")]
    NoCandidates {
        /// Its name.
        contender: String,
    },
    /// A journal that cannot be continued.
    #[error("journal {path}: {problem}; choose another file, or remove it to begin anew")]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A cross-validation that was asked to stop.
    #[error("interrupted after {done} of {total} cells")]
    Interrupted {
        /// Cells finished.
        done: usize,
        /// All cells.
        total: usize,
    },
    /// A model file with a wrong or missing entry.
    #[error("model file: {place}: {problem}")]
    ModelFile {
        /// Line and column, or the path of the parameter within the file.
        place: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A model file written by another version of the format.
    #[error("model file: {place}: it is {found}, this program reads {expected}")]
    ModelVersion {
        /// Its place in the file.
        place: String,
        /// Version in the file.
        found: u64,
        /// Version that is understood.
        expected: u64,
    },
    /// A cell of a table that does not hold what its column should.
    #[error("{file}, line {line}, column `{column}`: `{value}` is not {expected}")]
    Cell {
        /// The table.
        file: String,
        /// Its line, from 1, the header included.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell, shortened if it is long.
        value: String,
        /// The expected content, with a hint if there is one.
        expected: String,
    },
    /// A line of a table that cannot be used as a whole.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The table.
        file: String,
        /// Its line, from 1, the header included.
        line: u64,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A table that cannot be used as a whole.
    #[error("{file}: {problem}")]
    Table {
        /// The table.
        file: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A column that a table should have.
    #[error("{file}: it has no column `{column}`; {hint}")]
    NoColumn {
        /// The table.
        file: String,
        /// Name of the column.
        column: String,
        /// A similar name, or the names there are.
        hint: String,
        /// The field of [`Columns`](crate::io::Columns) that would name another, if there is one.
        field: Option<&'static str>,
    },
    /// A column that a table without a header should have.
    #[error(
        "{file}: it has no column `{column}`; there is no header, so that its {columns} columns \
         are called by their numbers"
    )]
    UnnamedColumn {
        /// The table.
        file: String,
        /// Name of the column.
        column: String,
        /// How many it has.
        columns: usize,
        /// The field of [`Columns`](crate::io::Columns) that names it, if there is one.
        field: Option<&'static str>,
    },
    /// A header that may be no header.
    #[error("{file}, line 1: the header has numbers for names ({names})")]
    NumbersForNames {
        /// The table.
        file: String,
        /// The names, shortened if they are long.
        names: String,
    },
    /// A value by which events are chosen and that no event has.
    #[error("{file}: no event has `{value}` in column `{column}`; {hint}")]
    NoSuchEvents {
        /// The table.
        file: String,
        /// Name of the column.
        column: String,
        /// The value.
        value: String,
        /// A similar value, or the values there are.
        hint: String,
    },
    /// A folder that has a table twice.
    #[error("{first} and {second} are both there; which one is meant? Remove the other")]
    TwoTables {
        /// One file.
        first: PathBuf,
        /// Another file that differs only in its extension.
        second: PathBuf,
    },
    /// A folder without a table that belongs to every dataset.
    #[error("{folder}: there is no {table}.csv or {table}.tsv (.gz); {hint}")]
    NoTable {
        /// The folder.
        folder: PathBuf,
        /// Name of the table.
        table: &'static str,
        /// The files that are there.
        hint: String,
    },
    /// Something in a stamp file of another program that is not what its format says.
    #[error("{file}, {place}: found {found}, expected {expected}")]
    StampContent {
        /// The file.
        file: String,
        /// The line, byte or record.
        place: String,
        /// What is there, in quotes, shortened if it is long.
        found: String,
        /// What the format says.
        expected: String,
        /// The option of [`ReadOptions`](crate::stamps::ReadOptions) that may help.
        option: Option<&'static str>,
    },
    /// A stamp file that cannot be used as a whole, stamps that it cannot hold, or a wrong option.
    #[error("{what}: {problem}")]
    StampFile {
        /// The file, or the option.
        what: String,
        /// What is wrong and what was expected.
        problem: String,
        /// The option of [`ReadOptions`](crate::stamps::ReadOptions) that may help.
        option: Option<&'static str>,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Refuses an option that is not finite or for which `holds` is false.
pub(crate) fn require(name: &str, value: f64, holds: bool, expected: &'static str) -> Result<()> {
    if holds && value.is_finite() {
        Ok(())
    } else {
        Err(Error::OutOfRange { name: name.to_owned(), value, expected })
    }
}

pub(crate) fn gibibytes(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}
