"""Labels that form runs: events that cover several instances and are stamped once."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from unjitter import EventDetector, Priors, Session, _core, baselines, metrics

SPACING = 0.5


def make_session(seed, subject=None):
    """Windows twice a second, weak features, runs of 4 s stamped once, a second late."""
    random = np.random.default_rng(seed)
    times = SPACING * np.arange(400)
    labels = np.zeros(len(times), dtype=np.int8)
    begins = 6.0 + 24.0 * np.arange(8) + random.uniform(0.0, 8.0, 8)
    for begin in begins:
        labels[(times >= begin) & (times <= begin + 4.0)] = 1
    X = random.normal(size=(len(times), 2)) + labels[:, None] * np.array([1.5, -1.0])
    events = begins + 1.0 + 0.5 * random.normal(size=8)
    return Session(X, times, events=events, labels=labels, name=f"s{seed}", subject=subject)


@pytest.fixture(scope="module")
def runs():
    return [make_session(seed) for seed in range(5)]


@pytest.fixture(scope="module")
def detector(runs):
    return EventDetector(labels="chain", restarts=1).fit(runs[:3])


def test_runs_are_learned_and_smooth_predictions(detector, runs):
    # Two dozen stamps: a standard error of 0.1, and instances half a second apart.
    assert abs(detector.delay_ - 1.0) < 0.6
    assert detector.false_rate_ == 0.0
    assert detector.run_length_ == 1.0 / detector.offset_rate_
    assert detector.onset_rate_ > 0.0
    p = detector.predict_proba(runs[3])
    assert p.shape == (len(runs[3]), 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    alone = detector.decision_function(runs[3]) > 0.0
    labels = runs[3].labels == 1
    assert np.mean((p[:, 1] > 0.5) == labels) > np.mean(alone == labels) + 0.02
    several = detector.predict_proba(runs[3:])
    np.testing.assert_array_equal(several[0], p)
    assert detector.predict_stamped(runs[3]).sum() == pytest.approx(8.0, rel=0.4)


def test_events_have_a_start_and_an_end(detector, runs):
    table = detector.detect_events(runs[3:], backend="numpy")
    assert list(table.columns) == ["session", "start", "end", "probability"]
    detected = detector.detect(runs[3:])
    np.testing.assert_array_equal(np.concatenate(detected), table["start"])
    for session, begins in zip(runs[3:], detected):
        own = table["session"] == session.name
        np.testing.assert_array_equal(table["start"][own], begins)
        # Eight events each; features hide one, or show one more.
        assert 6 <= len(begins) <= 10
        p = detector.predict_proba(session)[:, 1]
        np.testing.assert_array_equal(detector.predict(session), p >= 0.5)
        for start, end, peak in zip(*(table[k][own] for k in ("start", "end", "probability"))):
            inside = (session.times >= start) & (session.times <= end)
            assert peak == p[inside].max() >= 0.5 and np.all(p[inside] >= 0.5 * peak)
            beside = np.convolve(inside, [1, 1, 1], mode="same").astype(bool) & ~inside
            assert np.all(p[beside] < 0.5 * peak)
    # A lower threshold adds events, and moves none.
    detector = copy.copy(detector).set_params(threshold=0.01)
    more = detector.detect_events(runs[3:], backend="numpy")
    assert len(more["start"]) > len(table["start"])
    for key in ("start", "end"):
        np.testing.assert_array_equal(more[key][more["probability"] >= 0.5], table[key])
    lengths = table["end"] - table["start"]
    assert 2.5 < np.mean(lengths) < 5.5
    apart = detector.detect_events(runs[3], min_separation=1e3, backend="numpy")
    assert len(apart["start"]) == 1


def test_dates_are_kept(detector, runs):
    start = np.datetime64("2024-05-01T10:00:00")
    dated = start + (1e3 * runs[3].times).astype("timedelta64[ms]")
    table = detector.detect_events(Session(runs[3].X, dated, events=dated[:0]), backend="numpy")
    assert table["end"].dtype.kind == "M"
    seconds = (table["end"] - start) / np.timedelta64(1, "ms") / 1e3
    plain = detector.detect_events(runs[3], backend="numpy")
    np.testing.assert_allclose(seconds, plain["end"], atol=1e-3)


def test_independent_labels_end_when_they_begin(runs):
    table = EventDetector(restarts=0).fit(runs[:3]).detect_events(runs[3], backend="numpy")
    np.testing.assert_array_equal(table["start"], table["end"])


def test_rows_alone_are_refused(detector, runs):
    for ask in (detector.predict_proba, detector.predict, detector.predict_stamped):
        with pytest.raises(ValueError, match="whole session with its times"):
            ask(runs[3].X)
    with pytest.raises(ValueError, match="rows without times"):
        detector.to_onnx()
    for ask in (detector.diagnose, detector.plan):
        with pytest.raises(ValueError, match="supposes independent labels"):
            ask(runs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": "runs"}, "labels is 'runs'"),
        ({"labels": "chain", "stamps": "middle"}, "stamps is 'middle'"),
        ({"stamps": "end"}, "stamps are about ends, but labels are independent"),
    ],
)
def test_mistakes_are_named(runs, options, words):
    with pytest.raises(ValueError, match=words):
        EventDetector(**options).fit(runs[:2])


def test_files_and_copies_keep_the_chain(detector, runs, tmp_path):
    detector.save(tmp_path / "model.json")
    loaded = EventDetector.load(tmp_path / "model.json")
    assert (loaded.labels, loaded.stamps) == ("chain", "onset")
    for other in (loaded, pickle.loads(pickle.dumps(detector))):
        np.testing.assert_array_equal(other.predict(runs[3]), detector.predict(runs[3]))
        assert other.run_length_ == detector.run_length_
    assert clone(detector).get_params()["labels"] == "chain"
    priors = Priors(onset_rate=(3.0, 60.0), offset_rate=(2.0, 8.0))
    assert json.loads(json.dumps(priors.settings(1.0)))["offset_rate"] == {
        "shape": 2.0,
        "rate": 8.0,
    }


def test_missed_events_are_told_once(detector, runs):
    fewer = runs[3].replace(events=np.delete(runs[3].events, [2, 5]))
    table = detector.align_instances(fewer, backend="numpy")
    missed = table["time"][table["p_missed"] > 0.5]
    lost = runs[3].events[[2, 5]] - 1.0
    # At the first instance of each: within the scatter of stamps.
    assert len(missed) == 2 and np.all(np.abs(missed - lost) < 3.0)
    events = detector.align_events(fewer, backend="numpy")
    assert len(events["time"]) <= 6 and np.all(events["end"] >= events["time"])


def test_scores_take_runs_for_events(detector, runs):
    by_begin = metrics.event_f1_scorer(2.0)(detector, runs[3:])
    assert by_begin > 0.7
    table = [
        _core.detect_events(one.times, detector.predict_proba(one)[:, 1], 0.0, 0.0, "chain")
        for one in runs[3:]
    ]
    true = [one.times[np.diff(one.labels, prepend=0) == 1] for one in runs[3:]]
    begins, scores = [own[0] for own in table], [own[2] for own in table]
    by_all = metrics.event_average_precision(true, begins, scores, 2.0)
    # At all thresholds, whichever is its own; events that may be joined are those at its own.
    strict = copy.copy(detector).set_params(threshold=0.999)
    assert metrics.event_average_precision_scorer(2.0)(strict, runs[3:]) == by_all > 0.7
    joined = metrics.event_average_precision_scorer(2.0, min_separation=1.0)
    assert joined(strict, runs[3:]) < joined(detector, runs[3:]) <= by_all
    # Runs on both sides: what is found at a window of the same run is no second event.
    perfect = baselines.HandAligned(labels="chain").fit(runs)
    assert metrics.event_f1_scorer(1.0)(perfect, runs) > 0.7
    half = runs[3].labels.copy()
    half[200:] = -1
    halved = runs[3].replace(labels=half)
    assert 0.0 < metrics.event_f1_scorer(2.0)(detector, halved) <= 1.0


def test_baselines_learn_the_same_chain(runs):
    by_hand = baselines.HandAligned(labels="chain").fit(runs[:3])
    alone = baselines.HandAligned().fit(runs[:3])
    assert by_hand.score(runs[3:]) > alone.score(runs[3:]) + 0.03
    assert by_hand.run_length_ > 1.0 and not hasattr(alone, "run_length_")
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(by_hand)).predict(runs[3]), by_hand.predict(runs[3])
    )
    for learner in (baselines.DropNear, baselines.Smear, baselines.Naive):
        assert learner(labels="chain").fit(runs[:3]).run_length_ > 0.0
    found = baselines.compare(
        runs[:4],
        [EventDetector(labels="chain", restarts=0), baselines.HandAligned(labels="chain")],
        folds=2,
        tolerance=2.0,
    )
    table = found.to_frame(backend="numpy")
    assert np.all(table["event_f1"] > 0.6)
    # Events are runs: a tolerance in windows would let each find several.
    assert np.all(table["event_recall"] <= 1.0)
