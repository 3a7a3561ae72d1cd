"""Features that are missing: refused by their place, with a cure that works as it is shown."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.pipeline
from drawn import make_session
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import unjitter
from unjitter import EventDetector, OnFeatures, Session, baselines, metrics, sessions_from_frames

TO = {"pandas": lambda table: table, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def with_gaps(seed):
    own = make_session(seed)
    X = own.X.copy()
    X[np.random.default_rng(seed).random(len(X)) < 0.2, 1] = np.nan
    return own.replace(X=X, feature_names=["a", "b", "c"])


@pytest.fixture(scope="module")
def gaps():
    return [with_gaps(seed) for seed in range(4)]


@pytest.fixture(scope="module")
def filled(gaps):
    return OnFeatures(SimpleImputer()).fit(gaps).transform(gaps)


@pytest.fixture(scope="module")
def model(gaps):
    return unjitter.make_pipeline(OnFeatures(SimpleImputer()), EventDetector()).fit(gaps)


@pytest.fixture(scope="module")
def fitted(filled):
    return EventDetector().fit(filled)


ASKED = ["predict_proba", "predict", "decision_function", "predict_stamped", "detect"]
ASKED += ["align", "align_instances", "log_evidence"]


@pytest.mark.parametrize("name", ASKED)
def test_a_missing_feature_is_refused_by_its_place(gaps, fitted, name):
    row = int(np.flatnonzero(np.isnan(gaps[1].X[:, 1]))[0])
    count = int(np.isnan(gaps[1].X).sum())
    words = f"session session-1: row {row} of X, column 'b' is NaN, one of {count} values that are"
    with pytest.raises(ValueError, match=words):
        getattr(fitted, name)([make_session(0), gaps[1]])


@pytest.mark.parametrize("learner", [EventDetector(), baselines.Naive()])
def test_nothing_is_learned_from_missing_features(gaps, learner):
    with pytest.raises(ValueError, match="session session-0: row .* column 'b' is NaN"):
        learner.fit(gaps)
    unnamed = [Session([[0.0], [np.nan]], [0.0, 1.0], [])]
    with pytest.raises(ValueError, match="session 0: row 1 of X, column 0 is NaN; leave such"):
        learner.fit(unnamed)


def test_flat_arrays_are_refused_by_their_place(fitted):
    table = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, np.nan], "c": [1.0, np.inf]})
    with pytest.raises(ValueError, match="row 1 of X, column 'b' is NaN; leave"):
        EventDetector().fit(table, times=[0.0, 1.0], events=[0.5])
    with pytest.raises(ValueError, match="row 1 of X, column 1 is NaN; leave"):
        fitted.predict(table.to_numpy())
    with pytest.raises(ValueError, match="row 1 of X, column 'c' is inf, expected a finite num"):
        fitted.predict(table.assign(b=0.0))


def test_the_cure_works_as_it_is_shown(gaps):
    with pytest.raises(ValueError, match="as in") as refusal:
        EventDetector().fit(gaps)
    line = str(refusal.value).splitlines()[-1]
    names = {"unjitter": unjitter, "OnFeatures": OnFeatures, "EventDetector": EventDetector}
    cured = eval(line.strip(), names | {"SimpleImputer": SimpleImputer})
    assert len(cured.fit(gaps).align(gaps)) == sum(len(session.events) for session in gaps)


def test_large_numbers_are_not_missing():
    session = make_session(0)
    # Their sum is beyond all numbers.
    large = session.replace(X=np.column_stack([session.X[:, 0], np.full(len(session), 1e308)]))
    assert EventDetector().fit(large).log_evidence(large) < 0.0


@pytest.mark.parametrize("library", TO)
def test_frames_with_missing_values_become_sessions(library):
    table = pd.DataFrame(
        {
            "session": ["y", "x", "y", "x"],
            "time": [0.0, 0.0, 1.0, 1.0],
            "depth": [1.0, 2.0, np.nan, 4.0],
            "rate": pd.array([1, 2, 3, None], dtype="Int64"),
            "flag": pd.array([True, None, False, True], dtype="boolean"),
        }
    )
    events = TO[library](pd.DataFrame({"session": ["x"], "time": [0.5]}))
    y, x = sessions_from_frames(TO[library](table), events)
    want = (
        table[["depth", "rate", "flag"]]
        .astype(object)
        .map(lambda own: np.nan if own is pd.NA else own)
    )
    np.testing.assert_array_equal(y.X, want.iloc[[0, 2]].to_numpy(dtype=float))
    np.testing.assert_array_equal(x.X, want.iloc[[1, 3]].to_numpy(dtype=float))
    words = "session y: row 2 of instances, column 'depth' is NaN"
    with pytest.raises(ValueError, match=words):
        EventDetector().fit([y, x])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_value_by_any_name_is_nan(missing):
    X = np.array([[1.0, missing], [True, 2]], dtype=object)
    np.testing.assert_array_equal(Session(X, [0.0, 1.0], []).X, [[1.0, np.nan], [1.0, 2.0]])


@pytest.mark.parametrize("name", ASKED)
def test_a_pipeline_answers_like_its_detector(gaps, filled, model, name):
    detector = model[-1]
    for many, transformed in ((gaps, filled), (gaps[2], filled[2])):
        got, want = getattr(model, name)(many), getattr(detector, name)(transformed)
        if isinstance(want, pd.DataFrame):
            pd.testing.assert_frame_equal(got, want)
        else:
            assert pickle.dumps(got) == pickle.dumps(want)


def test_options_are_passed_on(gaps, model):
    assert isinstance(model.align(gaps, backend="polars"), pl.DataFrame)
    assert isinstance(model.align_instances(gaps, backend="polars"), pl.DataFrame)
    apart = model.detect(gaps[0], min_separation=50.0)
    assert (np.diff(apart) >= 50.0).all() and len(apart) < len(model.detect(gaps[0]))


def test_a_pipeline_is_one_of_scikit_learn(gaps, model):
    again = clone(model)
    assert type(again) is unjitter.Pipeline
    assert re.search("Pipeline.*onfeatures.*eventdetector", repr(again), re.DOTALL)
    search = GridSearchCV(
        again,
        {"eventdetector__regularisation": [0.1, 1.0]},
        scoring=metrics.log_evidence_scorer,
        cv=2,
        error_score="raise",
    ).fit(gaps)
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    assert len(best.align(gaps[0])) == len(gaps[0].events)
    kept = unjitter.make_pipeline(OnFeatures(SimpleImputer()), EventDetector(), verbose=True)
    assert kept.verbose is True


def test_a_pipeline_of_scikit_learn_becomes_one_of_ours(gaps, model):
    bare = sklearn.pipeline.make_pipeline(OnFeatures(SimpleImputer()), EventDetector()).fit(gaps)
    assert not hasattr(bare, "align")
    pd.testing.assert_frame_equal(unjitter.Pipeline(bare.steps).align(gaps), model.align(gaps))


def test_a_pipeline_can_do_no_more_than_its_last_step(gaps, filled):
    steps = unjitter.make_pipeline(OnFeatures(SimpleImputer()), OnFeatures(StandardScaler()))
    naive = unjitter.make_pipeline(OnFeatures(SimpleImputer()), baselines.Naive()).fit(gaps)
    for name in ("align", "align_instances", "log_evidence", "predict_stamped"):
        assert not hasattr(steps, name) and not hasattr(naive, name)
    assert not hasattr(steps, "detect")
    assert len(naive.detect(gaps)) == len(gaps)
    alone = unjitter.make_pipeline(EventDetector()).fit(filled)
    assert len(alone.align(filled[0])) == len(filled[0].events)


def test_a_pipeline_keeps_the_rows_of_frames():
    tables = [
        pd.DataFrame(own.X, columns=["a", "b", "c"]).assign(session=own.name, time=own.times)
        for own in (with_gaps(seed) for seed in range(2))
    ]
    rows = pd.concat(tables).sort_values("time").set_axis(np.arange(600) * 3 + 7, axis=0)
    events = pd.DataFrame(
        [(f"session-{k}", time) for k in range(2) for time in make_session(k).events],
        columns=["session", "time"],
    ).sort_values("time")
    sessions = sessions_from_frames(rows, events)
    model = unjitter.make_pipeline(OnFeatures(SimpleImputer()), EventDetector()).fit(sessions)
    aligned = model.align(sessions)
    assert aligned.index.equals(events.index)
    assert list(aligned["stamp"]) == list(events["time"])
    found = model.align_instances(sessions)
    assert found.index.equals(rows.index) and list(found["time"]) == list(rows["time"])
