"""Events that begin and end: both ends are sloppy, and come back."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from unjitter import EventDetector, Session, baselines, metrics, sessions_from_frames, sync
from unjitter.stamps import Stamps


def simulated(seed=0, sessions=3, instances=600):
    """Runs of some ten instances, half a second apart, told late at both ends."""
    random = np.random.default_rng(seed)
    made, truths = [], []
    for k in range(sessions):
        times = 0.5 * np.arange(instances)
        starts = np.arange(10, instances - 30, 40)
        starts += random.integers(0, 15, len(starts))
        lasts = starts + random.integers(6, 14, len(starts))
        labels = np.zeros(instances, dtype=int)
        for first, last in zip(starts, lasts):
            labels[first : last + 1] = 1
        X = np.column_stack([2.5 * labels, np.zeros(instances)])
        X += random.normal(size=X.shape)
        begun = times[starts] + 0.5 + 0.6 * random.normal(size=len(starts))
        ended = np.maximum(times[lasts] + 1.0 + random.normal(size=len(starts)), begun)
        made.append(Session(X, times, begun, labels, name=f"s{k}", ends=ended))
        truths.append(np.column_stack([times[starts], times[lasts]]))
    return made, truths


@pytest.fixture(scope="module")
def fitted():
    sessions, truths = simulated()
    return EventDetector(restarts=2).fit(sessions), sessions, truths


def test_both_ends_are_learned(fitted):
    detector, sessions, _ = fitted
    stamps = sum(len(session.events) for session in sessions)
    # Four standard errors if all owners were known, and as much again for those that are not.
    assert detector.delay_ == pytest.approx(0.5, abs=8 * 0.6 / stamps**0.5)
    assert detector.ends_["delay"] == pytest.approx(1.0, abs=8 * 1.0 / stamps**0.5)
    assert detector.ends_["spread"] > detector.spread_
    assert detector.parameters_["ends.noise.spread"][0] == detector.ends_["spread"]


def test_aligned_bouts_are_nearer_and_end_after_they_begin(fitted):
    detector, sessions, truths = fitted
    table = detector.align(sessions)
    assert np.all(table["end"] >= table["time"])
    assert np.all((table["end_low"] <= table["end"]) & (table["end"] <= table["end_high"]))
    truth = np.concatenate(truths)
    for told, found, true in (("stamp", "time", truth[:, 0]), ("end_stamp", "end", truth[:, 1])):
        before, after = (np.abs(table[name] - true).mean() for name in (told, found))
        assert after < 0.5 * before


def test_frames_have_ends_or_durations_and_give_them_back(fitted):
    _, sessions, _ = fitted
    instances = pd.concat(
        pd.DataFrame(session.X, columns=["x", "y"]).assign(session=session.name, time=session.times)
        for session in sessions
    )
    events = pd.concat(
        pd.DataFrame({"session": one.name, "onset": one.events, "duration": one.ends - one.events})
        for one in sessions
    ).reset_index(drop=True)
    events["note"] = "n"
    events.loc[3, "duration"] = np.nan
    events.loc[4, "duration"] = 0.0
    read = sessions_from_frames(instances, events)
    assert np.isnan(read[0].ends[[3, 4]]).all() and np.isnan(read[0].ends).sum() == 2
    np.testing.assert_allclose(read[1].ends, sessions[1].ends)
    table = EventDetector(restarts=0).fit(read).align(read)
    assert "duration" not in table and list(table["note"]) == ["n"] * len(events)
    assert table["end"].isna().sum() == 2
    until = events.assign(end=events["onset"] + events["duration"]).drop(columns="duration")
    again = sessions_from_frames(instances, until)
    assert np.isnan(again[0].ends).sum() == 2
    alone = sessions_from_frames(instances, until.rename(columns={"onset": "time"}), end=None)
    assert alone[0].ends is None


def test_dates_have_ends(fitted):
    _, sessions, _ = fitted
    zero = np.datetime64("2024-05-31T14:00:00", "ns")
    dates = [
        zero + np.round(1e9 * own).astype("timedelta64[ns]")
        for own in (sessions[0].times, sessions[0].events, sessions[0].ends)
    ]
    dates[2][1] = np.datetime64("NaT")
    session = Session(sessions[0].X, dates[0], dates[1], ends=dates[2])
    known = ~np.isnan(session.ends)
    assert known.sum() == len(known) - 1
    np.testing.assert_allclose(session.ends[known], sessions[0].ends[known], atol=1e-8)
    np.testing.assert_array_equal(session.replace(name="again").ends, session.ends)
    assert session.replace(events=dates[1]).ends is None


def test_stamps_of_files_keep_how_long_they_lasted():
    stamps = Stamps([4.0, 1.0], durations=[0.0, 2.5])
    session = Session(np.zeros((9, 1)), np.arange(9.0), stamps)
    np.testing.assert_array_equal(session.ends, [3.5, np.nan])
    assert "2 bouts" in repr(session)
    both = Session(np.zeros((9, 1)), np.arange(9.0), {"ann": stamps, "bob": [2.0]})
    np.testing.assert_array_equal(both.ends, [3.5, np.nan, np.nan])
    assert Session(np.zeros((9, 1)), np.arange(9.0), stamps.times).ends is None


def test_ends_that_cannot_be_are_refused():
    for ends, told in (
        ([0.7, 1.2], "event 1 ends before it begins"),
        ([0.7], "1 ends for 2 events"),
        ({"ann": [0.7, 1.9]}, "ends are by annotator"),
    ):
        with pytest.raises(ValueError, match=told):
            Session(np.zeros((3, 1)), [0.0, 1.0, 2.0], [0.5, 1.5], ends=ends)


def test_bouts_are_scored_by_what_they_have_in_common():
    one = metrics.bout_metrics([[1, 3], [5, 9]], [[1.5, 3], [5, 8], [20, 21]])
    assert one.overlap == metrics.Scores(2 / 3, 1.0, 0.8)
    two = metrics.bout_metrics([[[1, 3]], []], [[[1, 3]], [[4, 5]]])
    assert (two.bouts, two.detections, two.errors) == (1, 2, (0.0, 0.0))
    with pytest.raises(ValueError, match="true bout 1 is 2"):
        metrics.bout_metrics([[1, 3], [2, 4]], [])
    with pytest.raises(ValueError, match="true of 1, detected of 2"):
        metrics.bout_metrics([[[1, 3]]], [[[1, 3]], []])
    with pytest.raises(ValueError, match="shape"):
        metrics.bout_metrics([1, 3], [[1, 2]])


def test_ends_stay_with_their_beginnings_when_a_clock_is_put_right(fitted):
    detector, sessions, _ = fitted
    zero = np.datetime64("2024-05-31T14:00:00", "ns")

    def dates(seconds):
        return zero + np.round(1e9 * seconds).astype("timedelta64[ns]")

    own = sessions[0]
    # In another order than that of time, and one without an end.
    events, ends = own.events[::-1] + 40.0, own.ends[::-1] + 40.0
    ends[2] = np.nan
    late = Session(own.X, own.times, events, name="late", ends=ends)
    dated = Session(own.X, dates(own.times), dates(events), name="late", ends=dates(ends))
    zoned = Session(
        own.X,
        pd.DatetimeIndex(dates(own.times)).tz_localize("Europe/Zurich"),
        pd.DatetimeIndex(dates(events)).tz_localize("Europe/Zurich"),
        name="late",
        ends=pd.DatetimeIndex(dates(ends)).tz_localize("Europe/Zurich"),
    )
    synced = sync(late, detector, by="session", range=60.0, drift=0.0)
    assert synced["late"].verdict == "found"
    for session in (late, dated, zoned):
        moved = synced.apply(session)
        want = session.ends - synced["late"].offset
        # Dates have nanoseconds.
        np.testing.assert_allclose(moved.ends, want, atol=1e-8)
        assert np.isnan(moved.ends).sum() == 1
        np.testing.assert_allclose(moved.events, session.events - synced["late"].offset, atol=1e-8)


def test_a_scorer_of_bouts_searches_and_is_what_metrics_say(fitted):
    detector, sessions, truths = fitted
    scorer = metrics.bout_f1_scorer(overlap=0.9)
    table = detector.detect_events(sessions, backend="numpy")
    # The last instance of a run lasts for half a second, as long as instances are apart.
    detected = [
        np.column_stack([table["start"], table["end"] + 0.5])[table["session"] == one.name]
        for one in sessions
    ]
    true = [truth + np.array([0.0, 0.5]) for truth in truths]
    want = metrics.bout_metrics(true, detected, overlap=0.9).overlap.f1
    assert scorer(detector, sessions) == pytest.approx(want)
    assert 0.1 < want < metrics.bout_f1_scorer()(detector, sessions)
    naive = baselines.Naive(labels="chain")
    scores = cross_val_score(naive, sessions, scoring=scorer, cv=3)
    assert np.all((scores >= 0.0) & (scores <= 1.0))
    unlabelled = [one.replace(labels=None) for one in sessions]
    with pytest.raises(ValueError, match="no labels"):
        scorer(detector, unlabelled)


def test_learners_are_compared_by_bouts_where_stamps_have_ends(fitted):
    _, sessions, _ = fitted
    learners = [EventDetector(restarts=0), baselines.HandAligned()]
    found = baselines.compare(sessions, learners, folds=3, resamples=20)
    table = found.to_frame(backend="numpy")
    detector = EventDetector(restarts=0)
    # Events are runs for all: some 14 in each session, and not 140 instances.
    bouts, detections = [], []
    for fold, (at,) in enumerate(found.folds):
        own = [one for k, one in enumerate(sessions) if k != at]
        one = detector.fit(own).detect_events(sessions[at], backend="numpy")
        assert found.thresholds[0, fold] == detector.threshold_
        detections.append(np.column_stack([one["start"], one["end"] + 0.5]))
        labels = np.flatnonzero(np.diff(sessions[at].labels, prepend=0, append=0))
        bouts.append(sessions[at].times[0] + 0.5 * labels.reshape(-1, 2))
    want = metrics.bout_metrics(bouts, detections)
    assert table["bout_f1"][0] == pytest.approx(want.overlap.f1)
    assert (table["start_error"][0], table["end_error"][0]) == pytest.approx(want.errors)
    assert table["intersection_f1"][0] == pytest.approx(want.intersection.f1)
    assert table["stretch_f1"][0] == pytest.approx(want.stretches.f1)
    assert table["error_rate"][0] == pytest.approx(want.error_rate)
    assert table["event_recall"][0] > 0.8


def test_the_notebook_tells_of_runs_and_ends(fitted):
    detector, sessions, _ = fitted
    html = detector._repr_html_()
    assert "of the other instances" not in html
    for told in (
        f"{detector.run_length_:.3g} on average",
        f"{detector.ends_['delay']:.3g} late on average",
        f"{detector.background_rate_:.3g} per unit of time",
    ):
        assert told in html, told
    shown = sessions[0]._repr_html_()
    assert "of which tell an end" in shown and shown.count(" 31H") == len(sessions[0].events)
