"""scikit-learn's own checks, with every failure that is expected and why."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import unjitter
from unjitter import EventDetector

# The checks fit a bare array X with class labels y. A detector learns from times and stamps, which
# such an array does not have, and says so.
NEEDS_STAMPS = "the check fits an array without times and stamps"
# Scores are of sessions: an array has no stamps and no labels to be scored by.
SCORES_SESSIONS = "the check scores an array, a detector scores sessions"

EXPECTED = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
    ],
    NEEDS_STAMPS,
)

OF_ROWS = dict.fromkeys(
    [
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
    ],
    SCORES_SESSIONS,
)


class Rows(EventDetector):
    """The detector as the checks would have it: rows are a second apart, and somebody has pressed
    at each row of the last class (at every third, where there are no classes)."""

    def fit(self, X, y=None):
        rows = len(X) if hasattr(X, "__len__") else X.shape[0]
        classes = np.arange(rows) % 3 if y is None else np.asarray(y)
        events = np.flatnonzero(classes == classes.max()) if rows else []
        return super().fit(X, times=np.arange(float(rows)), events=np.asarray(events, dtype=float))


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
@parametrize_with_checks(
    [EventDetector(), Rows(restarts=0)],
    expected_failed_checks=lambda own: OF_ROWS if isinstance(own, Rows) else EXPECTED,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"), [(EventDetector(), EXPECTED), (Rows(restarts=0), OF_ROWS)]
)
def test_no_expected_failure_passes(estimator, expected):
    """A list that has outlived its reasons would hide what it should show."""
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(expected)


def test_every_estimator_of_the_package_is_checked_here():
    named = {name for name in unjitter.__all__ if isinstance(getattr(unjitter, name), type)}
    own = {name for name in named if issubclass(getattr(unjitter, name), BaseEstimator)}
    # Transformers of sessions and pipelines of them take sessions only, so that none of the checks
    # applies to them.
    assert own == {"EventDetector", "OnFeatures", "Pipeline"}
