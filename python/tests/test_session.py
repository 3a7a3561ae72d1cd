"""What a session takes, keeps and refuses."""

from __future__ import annotations

import pickle
from datetime import datetime, timezone

import numpy as np
import pandas as pd
import pytest
from drawn import make_session

from unjitter import EventDetector, Session, metrics, signal

X = np.arange(6.0).reshape(3, 2)
TIMES = np.array([0.0, 1.0, 2.5])


def test_a_contiguous_array_of_doubles_is_kept_as_it_is():
    session = Session(X, TIMES, [1.2])
    assert np.shares_memory(session.X, X)


def test_times_are_copied():
    times, events, observed = TIMES.copy(), np.array([1.2]), np.array([[0.0, 3.0]])
    session = Session(X, times, events, observed=observed)
    for values in (times, events, observed):
        values += 100.0
    np.testing.assert_array_equal(session.times, TIMES)
    np.testing.assert_array_equal(session.events, [1.2])
    np.testing.assert_array_equal(session.observed, [[0.0, 3.0]])


def test_a_missing_number_is_not_a_number_whatever_holds_it():
    for missing in ([0, 1, np.nan], [0, 1, None], pd.array([0, 1, None], dtype="Int64")):
        np.testing.assert_array_equal(Session(X, missing, []).times, [0.0, 1.0, np.nan])


def misaligned(values):
    buffer = b"-" + np.ascontiguousarray(values, dtype=np.float64).tobytes()
    return np.frombuffer(buffer, dtype=np.float64, offset=1).reshape(np.shape(values))


def test_misaligned_arrays_are_brought_into_line():
    plain = make_session(1)
    session = Session(*map(misaligned, (plain.X, plain.times, plain.events)))
    assert all(values.flags.aligned for values in (session.X, session.times, session.events))
    detector = EventDetector().fit(session)
    assert detector.log_evidence(session) == detector.log_evidence(plain)
    assert len(metrics.match_events(misaligned([1.0, 2.0]), misaligned([2.0]), 0.5)) == 1
    assert signal.windows(misaligned(np.zeros(100)), sampling_rate=10.0).X.shape[0] > 0


def test_unnamed_sessions_do_not_clash_with_named_ones():
    sessions = [make_session(seed) for seed in range(3)]
    names = ["1", None, "1 (no name)"]
    named = [own.replace(name=name) for own, name in zip(sessions, names)]
    assert EventDetector().fit(named).converged_
    with pytest.raises(ValueError, match="session 1 "):
        broken = named[1].replace(times=named[1].times[::-1].copy())
        EventDetector().fit([named[0], broken])


@pytest.mark.parametrize(
    "given",
    [
        X.astype(np.float16),
        X.astype(int).tolist(),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=["a", "b"]),
        X[::1, ::-1][:, ::-1],
        X.astype(">f8"),
        np.ma.masked_array(X),
    ],
)
def test_anything_like_an_array_becomes_contiguous_doubles(given):
    session = Session(given, TIMES, [])
    assert session.X.dtype == np.float64
    assert session.X.flags.c_contiguous
    np.testing.assert_array_equal(session.X, X)


def test_single_precision_stays_and_changes_no_result():
    sessions = [make_session(seed) for seed in range(3)]
    single = [own.replace(X=own.X.astype(np.float32)) for own in sessions]
    double = [own.replace(X=own.X.astype(np.float64)) for own in single]
    given = X.astype(np.float32)
    assert Session(given, TIMES, []).X is given
    assert Session(np.asfortranarray(given), TIMES, []).X.dtype == np.float32
    narrow, wide = EventDetector().fit(single), EventDetector().fit(double)
    assert narrow.spread_ == wide.spread_
    own, other = single[0], double[0]
    np.testing.assert_array_equal(narrow.predict_proba(own), wide.predict_proba(other))
    np.testing.assert_array_equal(narrow.predict_proba(own.X), wide.predict_proba(other.X))
    assert narrow.log_evidence(own) == wide.log_evidence(other)


def test_names_of_features_come_from_a_frame():
    assert Session(pd.DataFrame(X, columns=["a", "b"]), TIMES, []).feature_names == ("a", "b")
    assert Session(X, TIMES, [], feature_names=["c", "d"]).feature_names == ("c", "d")


def test_stamps_are_sorted():
    np.testing.assert_array_equal(Session(X, TIMES, [2.0, 0.5]).events, [0.5, 2.0])


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, -1],
        [0.0, 1.0, np.nan],
        [False, True, None],
        pd.array([0, 1, None], dtype="Int64"),
        pd.Series([0, 1, None]),
    ],
)
def test_labels_may_be_unknown(labels):
    np.testing.assert_array_equal(Session(X, TIMES, [], labels=labels).labels, [0, 1, -1])


def test_dates_are_seconds_from_the_first_instance():
    texts = ["2024-05-31T14:00:00", "2024-05-31T14:00:01", "2024-05-31T14:00:02.500000001"]
    dates = np.array(texts, dtype="datetime64[ns]")
    session = Session(X, dates, dates[1:2], observed=[dates[[0, 2]]])
    np.testing.assert_allclose(session.times, [0.0, 1.0, 2.500000001], rtol=1e-15)
    np.testing.assert_array_equal(session.events, [1.0])
    np.testing.assert_array_equal(session.dates(session.times), dates)
    np.testing.assert_allclose(session.observed, [[0.0, 2.500000001]], rtol=1e-15)


def test_a_time_zone_changes_no_second_even_where_clocks_go_back():
    dates = pd.date_range("2024-10-27T00:30:00", periods=3, freq="1h", tz="UTC").tz_convert(
        "Europe/Berlin"
    )
    session = Session(X, dates, dates[:1])
    np.testing.assert_array_equal(session.times, [0.0, 3600.0, 7200.0])
    assert session.calendar.time_zone == "Europe/Berlin"


def test_datetime_objects_are_dates():
    dates = [datetime(2024, 5, 31, 14, 0, second, tzinfo=timezone.utc) for second in (0, 1, 5)]
    session = Session(X, dates, dates[:2])
    np.testing.assert_array_equal(session.times, [0.0, 1.0, 5.0])
    np.testing.assert_array_equal(session.events, [0.0, 1.0])


def test_replace_keeps_the_rest():
    dates = pd.date_range("2024-05-31T14:00:00", periods=3, freq="1s", tz="Asia/Tokyo")
    session = Session(X, dates, dates[:1], labels=[0, 1, 0], subject="a", name="n")
    other = session.replace(labels=[1, 0, 0])
    assert (other.name, other.subject, other.calendar) == ("n", "a", session.calendar)
    np.testing.assert_array_equal(other.times, session.times)
    np.testing.assert_array_equal(other.events, session.events)
    assert np.shares_memory(other.X, session.X)


def test_pickling():
    session = Session(
        X, TIMES, [1.0], labels=[0, 1, 0], observed=[[0.0, 3.0]], name="n", annotators="ann"
    )
    other = pickle.loads(pickle.dumps(session))
    assert repr(other) == repr(session)
    np.testing.assert_array_equal(other.X, X)


def test_the_repr_says_what_is_in_it():
    session = Session(X, TIMES, [1.0], labels=[0, 1, 0], subject="a", name="n")
    text = "Session('n', 3 instances x 2 features, 1 stamp, 1 positive label, subject 'a')"
    assert repr(session) == text
    named = session.replace(annotators="ann", device="phone", clock="left", labels=None)
    text = "1 stamp by 'ann', subject 'a', device 'phone', clock 'left')"
    assert repr(named).endswith(text)
    assert "2 stamps by 3 annotators" in repr(
        Session(X, TIMES, {"ann": [1.0], "bob": [2.0], "c": []})
    )


def test_annotators_travel_with_their_stamps():
    session = Session(X, TIMES, [2.0, 0.5, 1.0], annotators=["ann", "bob", "ann"])
    np.testing.assert_array_equal(session.events, [0.5, 1.0, 2.0])
    assert session.annotators.tolist() == ["bob", "ann", "ann"]
    again = session.replace(labels=[0, 1, 0])
    assert again.annotators.tolist() == ["bob", "ann", "ann"]
    np.testing.assert_array_equal(again._as_given(again.events), [2.0, 0.5, 1.0])
    named = session.replace(annotators=["x", "y", "z"])
    assert named.annotators.tolist() == ["y", "z", "x"]


def test_presses_may_be_given_by_annotator():
    session = Session(X, TIMES, {"bob": [2.0], "ann": [1.0, 0.5], "cyd": []})
    assert session.annotators.tolist() == ["ann", "ann", "bob"]
    assert session.also_annotated == ("cyd",)
    np.testing.assert_array_equal(session._as_given(session.events), [2.0, 1.0, 0.5])
    dates = pd.date_range("2024-05-31T14:00:00", periods=3, freq="1s", tz="Asia/Tokyo")
    dated = Session(X, dates, {"bob": dates[2:], "ann": dates[:2]})
    assert dated.annotators.tolist() == ["ann", "ann", "bob"]
    # NumPy's dates are taken as UTC, by annotator too.
    moved = dated.replace(events={"cyd": dated.dates(dated.events)})
    np.testing.assert_array_equal(moved.events, dated.events)
    assert moved.annotators.tolist() == ["cyd"] * 3


def test_one_may_have_annotated_everything_or_given_nothing():
    assert Session(X, TIMES, [1.0, 2.0], annotators="ann").annotators.tolist() == ["ann", "ann"]
    assert Session(X, TIMES, [1.0], annotators=[7]).annotators.tolist() == ["7"]
    silent = Session(X, TIMES, [], annotators="ann", also_annotated="bob")
    assert silent.also_annotated == ("ann", "bob")
    session = Session(X, TIMES, [1.0], annotators="ann", also_annotated=["bob", "ann"])
    assert session.also_annotated == ("bob",)
    assert session.replace(name="n").also_annotated == ("bob",)


def test_other_stamps_are_by_nobody_until_it_is_said_who_gave_them():
    session = Session(X, TIMES, [1.0, 2.0], annotators=["ann", "bob"], also_annotated=["cyd"])
    other = session.replace(events=[0.5])
    assert other.annotators is None and other.also_annotated == ()
    assert session.replace(events=[0.5], annotators="bob").annotators.tolist() == ["bob"]
    session.events = np.array([0.5, 0.7])
    assert session.annotators is None and session.also_annotated == ()
    session.annotators = ["x", "y"]
    assert session.annotators.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="annotators has length 1, expected 2"):
        session.annotators = ["x"]


def test_annotators_are_streams_of_their_own():
    """Two people who see the same event are no double presses of one."""
    plain = make_session(3)
    twice = np.repeat(plain.events, 2)
    pooled = plain.replace(events=twice)
    apart = plain.replace(events=twice, annotators=["ann", "bob"] * len(plain.events))
    detector = EventDetector(counts="bernoulli").fit([make_session(seed) for seed in range(3)])
    assert detector.log_evidence(apart) > detector.log_evidence(pooled) + 10.0
    nobody = plain.replace(events=[])
    watched = plain.replace(events=[], annotators="ann", also_annotated=["bob"])
    # Two who saw nothing are more against the detector than one.
    assert detector.log_evidence(watched) < detector.log_evidence(nobody) - 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"events": [1.0], "annotators": ["ann", "bob"]}, "annotators has length 2, expected 1"),
        ({"events": [1.0], "annotators": [None]}, "annotator 0 is missing"),
        ({"events": [1.0], "annotators": [["ann"]]}, "annotators has 2 dimensions"),
        ({"events": {"ann": [1.0]}, "annotators": "ann"}, "events are by annotator already"),
        ({"events": {"ann": 1.0}}, "events has 0 dimensions"),
        ({"events": [1.0], "also_annotated": ["bob"]}, "does not say who gave the stamps"),
        ({"X": np.zeros(3)}, "1 dimensions, expected 2"),
        ({"X": [["a", "b"]] * 3}, "expected numbers"),
        ({"X": X + 1j}, "X holds complex numbers"),
        ({"X": np.ma.masked_equal(X, 2.0)}, "X has masked values"),
        ({"times": TIMES + 1j}, "times holds complex numbers"),
        ({"times": np.ma.masked_equal(TIMES, 1.0)}, "times has masked values"),
        ({"events": np.ma.masked_equal(TIMES, 1.0)}, "events has masked values"),
        ({"times": [0.0, 1.0]}, "times has length 2, expected 3"),
        (
            {"times": ["0", "noon", "2"]},
            'times: "noon" at position 1, expected a time: a number, or',
        ),
        ({"times": ["0", "1", "nan"]}, '"nan" at position 2, expected a time'),
        ({"times": [b"0", b"noon", b"2"]}, "times must be numbers or dates"),
        ({"times": np.zeros((3, 1))}, "times has 2 dimensions"),
        ({"events": pd.to_datetime(["2024-01-01"])}, "events are dates but times are numbers"),
        ({"labels": [0, 1, 2]}, "label 2 is 2, expected 0, 1 or unknown"),
        ({"labels": [0, 1]}, "labels has length 2, expected 3"),
        ({"observed": [0.0, 1.0]}, "observed has shape"),
        ({"feature_names": ["a"]}, "1 feature names for 2 columns"),
    ],
)
def test_mistakes_are_named(changes, message):
    arguments = {"X": X, "times": TIMES, "events": [], "name": "walk", **changes}
    with pytest.raises(ValueError, match=f"session walk: .*{message}"):
        Session(**arguments)


def test_dates_and_numbers_do_not_mix():
    dates = pd.date_range("2024-05-31", periods=3, freq="1s")
    with pytest.raises(ValueError, match="times are dates but events are numbers"):
        Session(X, dates, [1.0])
    with pytest.raises(ValueError, match="both have a time zone or neither"):
        Session(X, dates, dates.tz_localize("UTC"))
