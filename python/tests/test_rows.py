"""Answers go back to the rows that they belong to, however messy the frames were."""

from __future__ import annotations

import copy
import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from drawn import make_session
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from unjitter import EventDetector, OnFeatures, Session, sessions_from_frames

FEATURES = ["a", "b", "c"]
STAMP_COLUMNS = ["session", "stamp", "time", "low", "high", "instance", "instance_time"]
STAMP_COLUMNS += ["p_instance", "best_instance", "p_spurious"]
INSTANCE_COLUMNS = ["session", "instance", "time", "p_detector", "p_positive", "p_missed"]
INSTANCE_COLUMNS += ["observed"]
TO = {"pandas": lambda table: table, "polars": pl.from_pandas, "pyarrow": None}
TO["pyarrow"] = lambda table: pa.Table.from_pandas(table, preserve_index=False)


def drawn_frames(names=("x", "y", "z")):
    """Rows of sessions among each other, by time or in no order, with gaps in the index."""
    random = np.random.default_rng(5)
    instances, events = [], []
    for seed, name in enumerate(names):
        own = make_session(seed, instances=120)
        table = pd.DataFrame(own.X, columns=FEATURES).assign(session=name, time=own.times)
        table.loc[random.random(len(table)) < 0.1, "b"] = np.nan
        instances.append(table)
        events.append(pd.DataFrame({"session": name, "time": own.events}))
    rows = pd.concat(instances, ignore_index=True).dropna().sort_values("time")
    presses = pd.concat(events, ignore_index=True)
    presses["who"] = [f"person {k}" for k in range(len(presses))]
    presses["score"] = random.normal(size=len(presses))
    presses = presses.drop(index=[2, 5, 11])
    return rows, presses.sample(frac=1.0, random_state=1)


ROWS, PRESSES = drawn_frames()


def plain_sessions(rows, presses):
    """The same sessions without a frame behind them."""
    return {
        name: Session(
            own[FEATURES].to_numpy(),
            own["time"],
            presses.loc[presses["session"] == name, "time"],
            name=str(name),
            feature_names=FEATURES,
        )
        for name, own in rows.groupby("session")
    }


@pytest.fixture(scope="module")
def fitted():
    return EventDetector().fit(list(plain_sessions(ROWS, PRESSES).values()))


def wanted(detector, rows, presses):
    """What each stamp and each instance should be told, by its session and time."""
    stamps, instances = {}, {}
    for name, session in plain_sessions(rows, presses).items():
        aligned, own, *_ = detector._fitted.align(session, False)
        stamps |= {(name, t): k for t, *k in zip(aligned["stamp"], *map(aligned.get, VALUES))}
        instances |= {(name, t): k for t, *k in zip(own["time"], *map(own.get, CHANCES))}
    return stamps, instances


VALUES = ["time", "low", "high", "instance", "instance_time", "p_spurious"]
CHANCES = ["p_detector", "p_positive", "p_missed"]


def columns_of(table, names):
    known = nw.from_native(table, eager_only=True)
    return [known.get_column(name).to_list() for name in names]


@pytest.mark.parametrize("library", TO)
def test_each_value_is_in_the_row_of_its_press(fitted, library):
    rows, presses = TO[library](ROWS), TO[library](PRESSES)
    sessions = sessions_from_frames(rows, presses)
    aligned = fitted.align(sessions)
    assert type(aligned) is type(presses)
    names = nw.from_native(aligned, eager_only=True).columns
    assert names == [*STAMP_COLUMNS, "who", "score"]
    same = ["session", "time", "who", "score"]
    assert columns_of(aligned, ["session", "stamp", "who", "score"]) == columns_of(presses, same)
    want, _ = wanted(fitted, ROWS, PRESSES)
    keys = zip(*columns_of(presses, ["session", "time"]))
    assert [list(own) for own in zip(*columns_of(aligned, VALUES))] == [want[key] for key in keys]


@pytest.mark.parametrize("library", TO)
def test_each_value_is_in_the_row_of_its_instance(fitted, library):
    rows, presses = TO[library](ROWS), TO[library](PRESSES)
    found = fitted.align_instances(sessions_from_frames(rows, presses))
    assert type(found) is type(rows)
    assert nw.from_native(found, eager_only=True).columns == INSTANCE_COLUMNS
    assert columns_of(found, ["session", "time"]) == columns_of(rows, ["session", "time"])
    _, want = wanted(fitted, ROWS, PRESSES)
    keys = zip(*columns_of(rows, ["session", "time"]))
    assert [list(own) for own in zip(*columns_of(found, CHANCES))] == [want[key] for key in keys]


def test_columns_of_pandas_can_be_put_beside_the_frame(fitted):
    rows, presses = ROWS.copy(), PRESSES.copy()
    sessions = sessions_from_frames(rows, presses)
    stamps, instances = wanted(fitted, rows, presses)
    presses["t"] = fitted.align(sessions)["time"]
    rows["p"] = fitted.align_instances(sessions)["p_positive"]
    for row in presses.itertuples():
        assert row.t == stamps[row.session, row.time][0]
    for row in rows.itertuples():
        assert row.p == instances[row.session, row.time][1]


@pytest.mark.parametrize("library", TO)
def test_some_of_the_sessions_have_their_rows_alone(fitted, library):
    sessions = sessions_from_frames(TO[library](ROWS), TO[library](PRESSES))
    aligned = fitted.align([sessions[2], sessions[0]])
    chosen = [sessions[2].name, sessions[0].name]
    own = PRESSES[PRESSES["session"].isin(chosen)]
    assert columns_of(aligned, ["stamp", "who"]) == [own["time"].to_list(), own["who"].to_list()]
    if library == "pandas":
        assert list(aligned.index) == list(own.index)
        alone = fitted.align_instances(sessions[1])
        assert list(alone.index) == list(ROWS.index[ROWS["session"] == sessions[1].name])


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(100, 100 - len(PRESSES), -1),
        pd.Index([7] * len(PRESSES), name="same"),
        pd.date_range("2024-05-31", periods=len(PRESSES), tz="Asia/Tokyo"),
        pd.CategoricalIndex(["a", "b"] * (len(PRESSES) // 2) + ["a"] * (len(PRESSES) % 2)),
        pd.MultiIndex.from_arrays([range(len(PRESSES)), ["u"] * len(PRESSES)], names=["k", None]),
    ],
    ids=lambda index: type(index).__name__,
)
def test_an_index_of_any_kind_comes_back(fitted, index):
    presses = PRESSES.set_axis(index, axis=0)
    aligned = fitted.align(sessions_from_frames(ROWS, presses))
    assert aligned.index.equals(index)
    assert aligned.index.names == index.names
    assert list(presses.assign(t=aligned["stamp"])["t"]) == list(PRESSES["time"])


def test_other_columns_keep_their_types(fitted):
    count = len(PRESSES)
    presses = PRESSES.assign(
        category=pd.Categorical(["p", "q"] * (count // 2) + ["p"] * (count % 2)),
        date=pd.date_range("2024-05-31", periods=count, tz="Asia/Tokyo").as_unit("s"),
        whole=pd.array([None, *range(1, count)], dtype="Int64"),
        flag=[True] * count,
    )
    aligned = fitted.align(sessions_from_frames(ROWS, presses))
    others = presses.drop(columns=["session", "time"])
    pd.testing.assert_frame_equal(aligned[list(others)], others)
    of_polars = pl.from_pandas(presses)
    aligned = fitted.align(sessions_from_frames(pl.from_pandas(ROWS), of_polars))
    others = of_polars.drop("session", "time")
    assert aligned.select(others.columns).equals(others)
    assert aligned.select(others.columns).schema == others.schema


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "numpy"])
@pytest.mark.parametrize("library", TO)
def test_another_library_has_the_same_rows(fitted, library, backend):
    sessions = sessions_from_frames(TO[library](ROWS), TO[library](PRESSES))
    aligned = fitted.align(sessions, backend=backend)
    assert type(aligned).__module__.split(".")[0] in (backend, "unjitter")
    stamps, who = aligned["stamp"], aligned["who"]
    assert np.asarray(stamps).tolist() == PRESSES["time"].to_list()
    assert np.asarray(who).tolist() == PRESSES["who"].to_list()
    names = aligned.column_names if backend == "pyarrow" else list(aligned.columns)
    assert names == [*STAMP_COLUMNS, "who", "score"]


def test_each_frame_may_be_of_its_own_library(fitted):
    sessions = sessions_from_frames(ROWS, pl.from_pandas(PRESSES))
    aligned = fitted.align(sessions)
    assert isinstance(aligned, pl.DataFrame)
    assert aligned["who"].to_list() == PRESSES["who"].to_list()
    assert list(fitted.align_instances(sessions).index) == list(ROWS.index)


@pytest.mark.parametrize("library", TO)
def test_sessions_named_by_numbers_stay_numbers(library):
    rows, presses = drawn_frames((7, 1, 23))
    sessions = sessions_from_frames(TO[library](rows), TO[library](presses))
    fitted = EventDetector().fit(sessions)
    for table, source in (
        (fitted.align(sessions), presses),
        (fitted.align_instances(sessions), rows),
    ):
        assert columns_of(table, ["session"]) == [source["session"].to_list()]
    renamed = [session.replace(name=f"no. {session.name}") for session in sessions]
    assert columns_of(fitted.align(renamed), ["session"])[0][0].startswith("no. ")


def through_features(sessions):
    return OnFeatures(StandardScaler()).fit_transform(sessions)


KEPT = {
    "replace": lambda sessions: [own.replace(subject="s", labels=None) for own in sessions],
    "pickle": lambda sessions: pickle.loads(pickle.dumps(sessions)),
    "pickled one by one": lambda sessions: [pickle.loads(pickle.dumps(own)) for own in sessions],
    "one of them pickled": lambda sessions: [
        *sessions[:2],
        pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(sessions[2])))),
    ],
    "copies": copy.deepcopy,
    "transformer": through_features,
    "folds": lambda sessions: [
        sessions[k] for _, fold in KFold(3).split(sessions) for k in reversed(fold)
    ],
}


@pytest.mark.parametrize("way", KEPT)
def test_rows_are_remembered(way):
    sessions = KEPT[way](sessions_from_frames(ROWS, PRESSES))
    detector = EventDetector().fit(sessions)
    aligned = detector.align(sessions)
    assert aligned.index.equals(PRESSES.index)
    assert list(aligned["stamp"]) == list(PRESSES["time"])
    assert detector.align_instances(sessions).index.equals(ROWS.index)


def assigned(session, name, values):
    session = copy.copy(session)
    setattr(session, name, values)
    return session


@pytest.mark.parametrize(
    "change",
    [
        lambda own, name: own.replace(**{name: getattr(own, name) + 0.5}),
        lambda own, name: assigned(own, name, getattr(own, name) + 0.5),
    ],
    ids=["replaced", "assigned"],
)
def test_rows_that_hold_no_more_are_forgotten(fitted, change):
    sessions = sessions_from_frames(ROWS, PRESSES)
    # One is enough: no table has some rows of a frame and some of none.
    moved = [change(sessions[0], "events"), *sessions[1:]]
    aligned = fitted.align(moved)
    assert list(aligned.columns) == ["session", "event", *STAMP_COLUMNS[1:]]
    assert aligned.index.equals(pd.RangeIndex(len(PRESSES)))
    assert fitted.align_instances(moved).index.equals(ROWS.index)
    moved = [change(sessions[0], "times"), *sessions[1:]]
    assert fitted.align_instances(moved).index.equals(pd.RangeIndex(len(ROWS)))


def test_sessions_of_several_frames_come_one_below_the_other(fitted):
    first, second = (sessions_from_frames(ROWS, PRESSES) for _ in range(2))
    for sessions in (first + second, [first[0], *second[1:]], [first[0], first[0]]):
        aligned = fitted.align(sessions)
        assert "who" not in aligned
        assert aligned.index.equals(pd.RangeIndex(len(aligned)))
        counts = [len(session.events) for session in sessions]
        assert list(aligned["event"]) == [k for count in counts for k in range(count)]
        given = [PRESSES.loc[PRESSES["session"] == own.name, "time"] for own in sessions]
        assert list(aligned["stamp"]) == list(np.concatenate(given))
        found = fitted.align_instances(sessions)
        assert found.index.equals(pd.RangeIndex(sum(map(len, sessions))))


def test_stamps_come_back_in_the_order_in_which_they_were_given(fitted):
    plain = make_session(3)
    mixed = np.random.default_rng(0).permutation(len(plain.events))
    session = Session(plain.X, plain.times, plain.events[mixed])
    np.testing.assert_array_equal(session.events, plain.events)
    want = fitted.align(plain).iloc[mixed]
    for own in (session, session.replace(name="n"), pickle.loads(pickle.dumps(session))):
        aligned = fitted.align(own)
        assert list(aligned["event"]) == list(range(len(mixed)))
        for name in STAMP_COLUMNS[1:]:
            np.testing.assert_array_equal(aligned[name], want[name])
    replaced = session.replace(events=plain.events)
    np.testing.assert_array_equal(fitted.align(replaced)["stamp"], plain.events)


@pytest.mark.parametrize("library", TO)
@pytest.mark.parametrize("name", STAMP_COLUMNS[3:])
def test_a_column_that_aligned_stamps_have_too_is_refused(fitted, library, name):
    presses = TO[library](PRESSES.rename(columns={"who": name}))
    sessions = sessions_from_frames(TO[library](ROWS), presses)
    with pytest.raises(ValueError, match=f"events has a column '{name}', which .* rename it"):
        fitted.align(sessions)
    # Where there is nothing to mistake it for, it does no harm.
    assert len(fitted.align_instances(sessions)) == len(ROWS)


@pytest.mark.parametrize("library", TO)
def test_a_session_takes_nothing_but_its_own_rows_along(library):
    noted = PRESSES.assign(note="n" * 10_000)
    sessions = sessions_from_frames(TO[library](ROWS), TO[library](noted))
    sizes = [len(pickle.dumps(session)) for session in sessions]
    for session, size in zip(sessions, sizes):
        own = session.X.nbytes + 10_000 * len(session.events)
        # Times, places, an index and the rest of its columns: far less than a note each.
        assert size < own + 10_000


def test_a_table_without_rows(fitted):
    for library in TO:
        rows, none = TO[library](ROWS), TO[library](PRESSES.iloc[:0])
        sessions = sessions_from_frames(rows, none)
        known = nw.from_native(fitted.align(sessions), eager_only=True)
        assert (len(known), known.columns) == (0, [*STAMP_COLUMNS, "who", "score"])


@pytest.mark.parametrize("library", TO)
def test_each_press_is_told_with_who_gave_it(fitted, library):
    random = np.random.default_rng(6)
    named = PRESSES.assign(annotator=random.choice(["ann", "bob"], len(PRESSES)))
    sessions = sessions_from_frames(TO[library](ROWS), TO[library](named))
    aligned = fitted.align(sessions)
    assert columns_of(aligned, ["stamp", "annotator", "score"]) == [
        named["time"].tolist(),
        named["annotator"].tolist(),
        named["score"].tolist(),
    ]
    # Beside a session of which nobody knows who annotated it, and without a frame.
    known = Session(sessions[0].X, sessions[0].times, {"bob": [3.0], "ann": [7.0, 2.0]}, name="k")
    unknown = known.replace(events=[1.0])
    told = fitted.align([unknown, known], backend="polars")
    assert told["annotator"].to_list() == [None, "bob", "ann", "ann"]
    assert told["stamp"].to_list() == [1.0, 3.0, 7.0, 2.0]
    assert "annotator" not in fitted.align(unknown).columns


def test_a_column_of_annotators_that_is_not_used_comes_back(fitted):
    named = PRESSES.assign(annotator="ann")
    sessions = sessions_from_frames(ROWS, named, annotator=None)
    assert fitted.align(sessions)["annotator"].tolist() == named["annotator"].tolist()
    # Used under another name, its place is taken.
    both = named.assign(rater="bob")
    sessions = sessions_from_frames(ROWS, both, annotator="rater")
    with pytest.raises(ValueError, match="events has a column 'annotator'"):
        fitted.align(sessions)


def test_events_of_several_people_are_merged(fitted):
    session = make_session(0, instances=120)
    twice = np.concatenate([session.events, session.events])
    who = np.repeat(["ann", "bob"], len(session.events))
    both = session.replace(events=twice, annotators=who)
    stamps, events = fitted.align(both), fitted.align_events(both)
    owned = stamps[stamps["best_instance"] >= 0]
    assert events["instance"].tolist() == sorted(set(owned["best_instance"]))
    assert events["stamps"].sum() == len(owned)
    seen = owned.groupby("best_instance")["annotator"].agg(lambda own: "; ".join(sorted(set(own))))
    assert events["seen_by"].tolist() == seen.tolist()
    instances = fitted.align_instances(both).loc[events["instance"]]
    np.testing.assert_array_equal(events["time"], instances["time"])
    np.testing.assert_array_equal(events["p_positive"], instances["p_positive"])
    alone = fitted.align_events([session, session.replace(events=[], name="quiet")])
    assert list(alone.columns) == ["session", "instance", "time", "p_positive", "stamps"]
    assert set(alone["session"]) == {session.name}
    dates = np.datetime64("2024-05-31", "ns") + (1e9 * session.times).astype("timedelta64[ns]")
    dated = fitted.align_events(session.replace(times=dates, events=dates[:3]))
    assert dated["time"].dtype.kind == "M"
