"""People who annotated the same sessions: whether they agree, and what they saw together."""

from __future__ import annotations

import numpy as np
import pytest
from people import USUAL, draw
from sklearn.metrics import cohen_kappa_score

from unjitter import EventDetector, Session

PEOPLE = {
    "ann": USUAL.but(delay=0.2, spread=0.6, miss=0.05),
    "bob": USUAL.but(delay=2.0, spread=1.0, miss=0.3),
    "eve": USUAL.but(delay=0.5, spread=0.8, extra=0.6),
}


@pytest.fixture(scope="module")
def sessions():
    """Ann and Bob annotated all of them, Eve the first three; the last has Ann alone."""
    pairs = {who: PEOPLE[who] for who in ("ann", "bob")}
    drawn = [draw(seed, PEOPLE if seed < 3 else pairs) for seed in range(6)]
    return [*drawn, draw(6, {"ann": PEOPLE["ann"]})]


@pytest.fixture(scope="module")
def detector(sessions):
    varies = {"delay": "annotator", "miss_rate": "annotator"}
    return EventDetector(varies=varies, restarts=0).fit(sessions)


@pytest.fixture(scope="module")
def agreement(detector, sessions):
    return detector.agreement(sessions)


def nearest(sessions, who):
    """Whether each instance has the nearest stamp of somebody."""
    marked = []
    for session in sessions:
        own = np.zeros(len(session), dtype=int)
        for stamp in session.events[session.annotators == who]:
            own[np.argmin(np.abs(session.times - stamp))] = 1
        marked.append(own)
    return np.concatenate(marked)


@pytest.mark.parametrize(
    ("a", "b", "together"), [("ann", "bob", 6), ("ann", "eve", 3), ("bob", "eve", 3)]
)
def test_kappa_of_nearest_instances_is_that_of_scikit_learn(sessions, agreement, a, b, together):
    [row] = [row for row in agreement.pairs.itertuples() if (row.a, row.b) == (a, b)]
    assert row.sessions == together
    shared = sessions[:together]
    expected = cohen_kappa_score(nearest(shared, a), nearest(shared, b))
    # Counts and three divisions.
    assert row.kappa_nearest == pytest.approx(expected, abs=1e-12)


def test_people_who_press_at_other_moments_still_agree(agreement, sessions):
    table = agreement.pairs.set_index(["a", "b"])
    row = table.loc[("ann", "bob")]
    assert row["kappa_nearest"] < 0.3 < 0.5 < row["kappa"]
    events = sum(int(session.labels.sum()) for session in sessions[:6])
    # Of 0.95 and 0.7 of the events each; four standard deviations.
    share = 0.95 * 0.7
    assert row["both"] == pytest.approx(
        share * events, abs=4 * np.sqrt(share * (1 - share) * events)
    )


def test_what_each_of_them_saw(agreement, sessions):
    table = agreement.annotators.set_index("annotator")
    assert list(table.index) == ["ann", "bob", "eve"]
    # Sessions that somebody annotated alone tell nothing of agreement.
    assert table["sessions"].to_dict() == {"ann": 6, "bob": 6, "eve": 3}
    for who, row in table.iterrows():
        own = [session for session in sessions[:6] if who in session.annotators]
        stamps = sum(int(np.sum(session.annotators == who)) for session in own)
        assert row["stamps"] == stamps
        events = sum(int(session.labels.sum()) for session in own)
        assert row["events"] == pytest.approx(events, rel=0.15)
        habit = PEOPLE[who]
        expected = (1.0 - habit.miss) * row["events"]
        assert row["seen"] == pytest.approx(expected, abs=4 * np.sqrt(0.3 * 0.7 * events))
        # Every stamp is of an event or not; each event has one at most.
        assert row["seen"] + row["spurious"] == pytest.approx(stamps, abs=0.01)
    assert table["spurious"]["eve"] / 3 > 2.0 * table["spurious"]["ann"] / 6


def test_groups_know_who_misses_more(detector):
    table = detector.groups_
    missed = table[table["what"] == "miss_rate"].set_index("group")
    assert missed["value"]["ann"] < missed["value"]["bob"]
    assert missed["low"]["bob"] < 0.3 < missed["high"]["bob"]


def test_merged_events_are_told_once(detector, sessions):
    events = detector.align_events(sessions[:3])
    assert list(events.columns) == [
        "session",
        "instance",
        "time",
        "p_positive",
        "stamps",
        "seen_by",
    ]
    assert not events.duplicated(["session", "instance"]).any()
    stamps = detector.align(sessions[:3])
    for (name, instance), own in stamps[stamps["best_instance"] >= 0].groupby(
        ["session", "best_instance"]
    ):
        [row] = events[(events["session"] == name) & (events["instance"] == instance)].to_dict(
            "records"
        )
        assert row["stamps"] == len(own)
        assert row["seen_by"] == "; ".join(sorted(set(own["annotator"])))
        session = next(session for session in sessions if session.name == name)
        assert row["time"] == session.times[instance]
    assert (
        len(events)
        == stamps[stamps["best_instance"] >= 0].groupby(["session", "best_instance"]).ngroups
    )
    true = {(s.name, float(t)) for s in sessions[:3] for t in s.times[s.labels == 1]}
    by_three = events[events["stamps"] == 3]
    found = [(row.session, row.time) in true for row in by_three.itertuples()]
    assert len(found) > 5 and np.mean(found) > 0.95  # three people do not press for nothing at once


def test_stamps_say_who_gave_them(detector, sessions):
    table = detector.align(sessions)
    who = np.concatenate([session._as_given(session.annotators) for session in sessions])
    assert list(table["annotator"]) == list(who)
    plain = EventDetector(restarts=0).fit([draw(seed, USUAL) for seed in range(6)])
    own = draw(7, USUAL)
    assert "annotator" not in plain.align(own).columns
    assert "seen_by" not in plain.align_events(own).columns
    assert set(plain.align_events(sessions[:1])["seen_by"]) > {"ann; bob; eve"}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "numpy"])
def test_tables_in_any_frame(detector, sessions, backend):
    found = detector.agreement(sessions[:1], backend=backend)
    for table in (found.annotators, found.pairs):
        kind = type(table).__module__.split(".")[0]
        assert kind == {"numpy": "unjitter"}.get(backend, backend) and len(table) == 3


def test_nobody_to_agree_with(detector, sessions):
    found = detector.agreement(sessions[-1])
    assert len(found.pairs) == 0
    assert "sessions" in repr(found)


def test_somebody_who_pressed_nothing_saw_nothing(detector, sessions):
    session = sessions[0]
    mine = session.events[session.annotators == "ann"]
    quiet = Session(session.X, session.times, {"ann": mine, "bob": []}, name="quiet")
    [row] = detector.agreement(quiet).pairs.itertuples()
    assert row.kappa_nearest == 0.0 and row.both < 1e-12  # rounding of 300 shares
    events = detector.align_events(quiet)
    assert set(events["seen_by"]) == {"ann"}
    nothing = Session(session.X, session.times, {"ann": [], "bob": []}, name="nothing")
    [row] = detector.agreement(nothing).pairs.itertuples()
    assert np.isnan(row.kappa_nearest) and np.isnan(row.kappa)
    assert len(detector.align_events(nothing)) == 0


def test_a_person_not_seen_is_adapted_to(detector):
    people = {"ann": PEOPLE["ann"], "new": USUAL.but(delay=4.0, spread=0.5)}
    session = draw(50, people, instances=600)
    learned = detector.adapted(session).groups_
    own = learned[(learned["what"] == "delay") & (learned["group"] == "new")]
    assert own["value"].item() == pytest.approx(4.0, abs=0.6)  # 30 presses, taken as one wider
    [row] = detector.agreement(session).pairs.itertuples()
    assert (row.a, row.b) == ("ann", "new") and row.kappa > 0.5
