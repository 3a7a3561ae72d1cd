"""Pipelines whose samples are sessions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from unjitter import EventDetector, OnFeatures


def test_all_instances_are_transformed_alike(sessions):
    rows = np.concatenate([session.X for session in sessions])
    want = StandardScaler().fit_transform(rows)
    got = OnFeatures(StandardScaler()).fit_transform(sessions)
    np.testing.assert_array_equal(np.concatenate([session.X for session in got]), want)
    for before, after in zip(sessions, got):
        np.testing.assert_array_equal(after.times, before.times)
        np.testing.assert_array_equal(after.events, before.events)
        np.testing.assert_array_equal(after.labels, before.labels)
        assert (after.name, after.subject) == (before.name, before.subject)


def test_a_pipeline_is_fitted_searched_pickled_and_asked(sessions):
    pipeline = make_pipeline(OnFeatures(PCA(random_state=0)), EventDetector())
    search = GridSearchCV(pipeline, {"onfeatures__transformer__n_components": [1, 3]}, cv=3)
    search.fit(sessions)
    # One component is the one of large variance, which hardly tells events apart.
    assert search.best_params_ == {"onfeatures__transformer__n_components": 3}
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    want = search.predict_proba(sessions[0])
    np.testing.assert_array_equal(best.predict_proba(sessions[0]), want)
    np.testing.assert_array_equal(best.predict_proba(sessions[0].X), want)
    assert 0.0 < best.score(sessions) <= 1.0
    aligned = best[-1].align(best[:-1].transform(sessions[0]))
    np.testing.assert_array_equal(aligned["stamp"], sessions[0].events)


def test_names_follow_the_transformer(sessions):
    named = [session.replace(feature_names=["a", "b", "c"]) for session in sessions]
    kept = OnFeatures(StandardScaler()).fit(named).transform(named[0])
    assert kept.feature_names == ("a", "b", "c")
    mixed = OnFeatures(PCA(2)).fit(named).transform(named[0])
    assert mixed.feature_names == ("pca0", "pca1")
    framed = OnFeatures(FunctionTransformer(np.abs)).fit(named).transform(named[0])
    assert framed.feature_names == ("a", "b", "c")
    unknown = OnFeatures(FunctionTransformer(np.asarray)).fit(named).transform(named[0])
    assert unknown.feature_names is None


def test_columns_are_chosen_by_name_and_sparse_output_is_made_dense(sessions):
    named = [session.replace(feature_names=["a", "b", "c"]) for session in sessions]
    chosen = ColumnTransformer([("bins", KBinsDiscretizer(3, strategy="uniform"), ["c", "a"])])
    got = OnFeatures(chosen).fit_transform(named)
    assert got[0].X.shape == (300, 6)
    # Each of the two columns is in one bin.
    np.testing.assert_array_equal(got[0].X.sum(axis=1), 2.0)
    assert got[0].feature_names[0] == "bins__c_0.0"


def test_rows_alone_are_refused():
    with pytest.raises(ValueError, match="expected a Session"):
        OnFeatures(PCA()).fit(np.zeros((3, 2)))
