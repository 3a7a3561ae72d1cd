"""Scorers: what they score, inside of what, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn.metrics
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unjitter import EventDetector, OnFeatures, baselines, metrics

# Small sessions, and searches among bad settings: scores are of detectors however unsure.
pytestmark = pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")

SCORERS = {
    "f1": metrics.f1_scorer,
    "ap": metrics.average_precision_scorer,
    "brier": metrics.brier_scorer,
    "log_loss": metrics.log_loss_scorer,
    "evidence": metrics.log_evidence_scorer,
    "event_f1": metrics.event_f1_scorer(tolerance=2.0, min_separation=2.0),
    "event_ap": metrics.event_average_precision_scorer([1.0, (0.5, 2.0)], min_separation=2.0),
}


def test_scorers_score_what_they_say(sessions):
    detector = EventDetector(threshold=0.3).fit(sessions[:4])
    held_out = sessions[4:]
    found = {name: scorer(detector, held_out) for name, scorer in SCORERS.items()}
    labels = np.concatenate([session.labels for session in held_out])
    scores = np.concatenate(detector.predict_proba(held_out))[:, 1]
    stamps = sum(len(session.events) for session in held_out)
    true = [session.times[session.labels == 1] for session in held_out]
    events = detector.detect(held_out, min_separation=2.0)
    assert found["f1"] == metrics.f1(labels, scores, 0.3)
    assert found["ap"] == metrics.average_precision(labels, scores)
    assert found["brier"] == -metrics.brier_score(labels, scores)
    assert found["log_loss"] == -metrics.log_loss(labels, scores)
    assert found["evidence"] == detector.log_evidence(held_out) / stamps
    assert found["event_f1"] == metrics.event_metrics(true, events, 2.0).f1
    assert 0.0 < found["event_ap"] <= 1.0
    assert found["f1"] == detector.score(held_out)


def test_scorers_go_into_scikit_learn(sessions):
    scores = cross_validate(EventDetector(), sessions, scoring=SCORERS, cv=KFold(3))
    assert all(np.isfinite(scores[f"test_{name}"]).all() for name in SCORERS)
    grid = {"regularisation": [1e4, 1.0]}
    for scorer in (metrics.f1_scorer, SCORERS["event_f1"], metrics.log_evidence_scorer):
        search = GridSearchCV(EventDetector(), grid, scoring=scorer, cv=2).fit(sessions)
        assert search.best_params_ == {"regularisation": 1.0}
        assert search.score(sessions) == scorer(search.best_estimator_, sessions)


def test_scorers_can_be_pickled(sessions):
    detector = EventDetector().fit(sessions[:3])
    for scorer in SCORERS.values():
        again = pickle.loads(pickle.dumps(scorer))
        assert again(detector, sessions[3:]) == scorer(detector, sessions[3:])


def without_labels(sessions):
    """Sessions of which nobody knows a label, in either way of saying so."""
    unknown = [session.replace(labels=[None] * len(session)) for session in sessions[1:]]
    return [sessions[0].replace(labels=None), *unknown]


def test_scorers_without_anything_to_score_by_say_so(sessions):
    detector = EventDetector().fit(sessions[:3])
    bare = without_labels([session.replace(events=[]) for session in sessions[3:]])
    for name in ("f1", "ap", "brier", "log_loss", "event_f1", "event_ap"):
        with pytest.raises(ValueError, match="no labels.*scoring=metrics.log_evidence_scorer"):
            SCORERS[name](detector, bare)
    with pytest.raises(ValueError, match="no stamps"):
        metrics.log_evidence_scorer(detector, bare)
    naive = baselines.Naive().fit(sessions[:3])
    with pytest.raises(ValueError, match="Naive has no model of stamps.*metrics.f1_scorer"):
        metrics.log_evidence_scorer(naive, sessions)


def test_score_is_f1_or_an_error(sessions):
    detector = EventDetector(threshold=0.3).fit(sessions[:3])
    bare = without_labels(sessions[3:5])
    with pytest.raises(ValueError, match="no labels.*scoring=metrics.log_evidence_scorer"):
        detector.score(bare)
    # Of sessions with and without labels, those with.
    labelled = sessions[5]
    want = metrics.f1(labelled, detector.predict_proba(labelled), threshold=0.3)
    assert detector.score([*bare, labelled]) == want


def test_a_fold_without_labels_has_no_score(sessions):
    mixed = [*without_labels(sessions[:2]), *sessions[2:]]
    with pytest.warns(UserWarning, match="scoring=metrics.log_evidence_scorer"):
        scores = cross_val_score(EventDetector(restarts=0), mixed, cv=KFold(3))
    assert np.isnan(scores).tolist() == [True, False, False]
    assert 0.0 < scores[1] <= 1.0


def test_labels_given_apart_are_refused(sessions):
    labels = [session.labels for session in sessions]
    # Of sessions of equal length some would give a number that means nothing.
    for name in ("f1", "accuracy", "roc_auc", "average_precision", "neg_mean_squared_error"):
        with pytest.raises(ValueError, match="expected them in the sessions.*metrics.f1_scorer"):
            cross_val_score(EventDetector(), sessions, labels, scoring=name, error_score="raise")
    detector = EventDetector().fit(sessions)
    ragged = [*labels[:-1], labels[-1][:-1]]
    for given in (labels, ragged, np.array(labels)):
        for refuse in (EventDetector().fit, baselines.Naive().fit, detector.score):
            with pytest.raises(ValueError, match="expected them in the sessions"):
                refuse(sessions, given)


def test_without_y_scikit_learns_scorers_fail_as_the_documentation_says(sessions):
    words = "missing 1 required positional argument: 'y_true'"
    assert words in " ".join(metrics.__doc__.split())
    detector = EventDetector().fit(sessions)
    for name in sklearn.metrics.get_scorer_names():
        with pytest.raises(TypeError, match=words):
            sklearn.metrics.get_scorer(name)(detector, sessions)


def test_one_value_per_session_is_for_the_splitter(sessions):
    many = [int(session.labels.sum() > 17) for session in sessions]
    assert 1 < sum(many) < len(many) - 1
    scores = cross_val_score(EventDetector(restarts=0), sessions, many, cv=StratifiedKFold(2))
    assert np.isfinite(scores).all()


def test_scorers_look_inside_of_searches_and_pipelines(sessions):
    plain = EventDetector(threshold=0.05)
    pipeline = make_pipeline(OnFeatures(StandardScaler()), plain)
    search = GridSearchCV(pipeline, {"eventdetector__regularisation": [1.0]}, cv=2)
    plain.fit(sessions[:4])
    search.fit(sessions[:4])
    for name, scorer in SCORERS.items():
        want = scorer(plain, sessions[4:])
        for wrapped in (search, search.best_estimator_, make_pipeline(plain)):
            # A classifier that standardises by itself, of features that are: rounding.
            assert scorer(wrapped, sessions[4:]) == pytest.approx(want, rel=1e-6), name


def test_instances_of_unknown_label_are_no_false_alarms(sessions):
    detector = EventDetector().fit(sessions[:3])
    session = sessions[3]
    labels = session.labels.astype(int)
    # All that is false becomes unknown: precision is then 1.
    labels[(detector.predict(session) == 1) & (labels == 0)] = -1
    scorer = metrics.event_f1_scorer(tolerance=0.01)
    recall = metrics.recall(session, detector.predict_proba(session))
    assert scorer(detector, session.replace(labels=labels)) == pytest.approx(
        2 * recall / (1 + recall), rel=1e-14
    )
