"""sktime's own checks, with every failure that is expected and why; and series, panels and stamps
between their rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sktime.datatypes import convert
from sktime.transformations.series.exponent import ExponentTransformer
from sktime.utils.estimator_checks import check_estimator

from unjitter import EventDetector, Session
from unjitter.sktime import StampDetector

# The checks fit a series without events, as if every detector were unsupervised.
NEEDS_STAMPS = {
    "test_deepcopy_fitted",
    "test_deepcopy_fitted_predict",
    "test_fit_does_not_overwrite_hyper_params",
    "test_fit_idempotent",
    "test_fit_returns_self",
    "test_fit_updates_state",
    "test_methods_have_no_side_effects",
    "test_non_state_changing_method_contract",
    "test_output_type",
    "test_persistence_via_pickle",
    "test_predict_points",
    "test_predict_segments",
    "test_save_estimators_to_file",
    "test_transform_output_type",
}


class Supplied(StampDetector):
    """The detector as the checks would have it: somebody has stamped every fifth row.

    >>> from unjitter.sktime import StampDetector
    >>> StampDetector().is_fitted
    False
    """

    def fit(self, X, y=None):
        stamps = pd.DataFrame({"ilocs": np.arange(2.0, len(X), 5.0)}) if y is None else y
        return super().fit(X, stamps)


@pytest.mark.parametrize(("estimator", "expected"), [(StampDetector, NEEDS_STAMPS), (Supplied, {})])
@pytest.mark.filterwarnings("ignore")
def test_sktimes_checks(estimator, expected):
    results = check_estimator(estimator, verbose=False)
    wrong = {name: result for name, result in results.items() if result != "PASSED"}
    # A list that has outlived its reasons would hide what it should show.
    assert {name.partition("[")[0] for name in wrong} == set(expected), wrong
    assert all("y is not given" in str(result) for result in wrong.values())
    assert len(results) > 50


def stamped(seed, rows=300):
    """A series whose events features tell well, and its stamps, late and between rows."""
    random = np.random.default_rng(seed)
    labels = random.random(rows) < 0.06
    X = pd.DataFrame(random.normal(size=(rows, 2)) + 3.0 * labels[:, None], columns=["a", "b"])
    events = np.flatnonzero(labels).astype(float)
    times = events[events < rows - 4] + random.normal(1.5, 0.5, size=(events < rows - 4).sum())
    return X, pd.DataFrame({"times": times})


def panel(seeds):
    """The same side by side, with names that are no numbers."""
    parts = {f"s{seed}": stamped(seed) for seed in seeds}
    X = pd.concat({name: X for name, (X, _) in parts.items()}, names=["instances", "timepoints"])
    y = pd.concat([own.assign(instances=name) for name, (_, own) in parts.items()])
    return X, y.reset_index(drop=True)


def sessions(seeds):
    for seed in seeds:
        X, y = stamped(seed)
        yield Session(X, np.arange(len(X)), y["times"], name=f"s{seed}")


def same_bits(one: EventDetector, other: EventDetector) -> bool:
    return one._fitted.to_json() == other._fitted.to_json()


SEEDS = (1, 2, 3)


def test_a_panel_is_learned_as_sessions_are():
    X, y = panel(SEEDS)
    in_sktime = StampDetector().fit(X, y)
    alone = EventDetector().fit(list(sessions(SEEDS)))
    assert same_bits(in_sktime.detector_, alone)
    shuffled = y.sample(frac=1.0, random_state=0)
    assert same_bits(StampDetector().fit(X, shuffled).detector_, alone)
    found = in_sktime.predict(X)
    labels = in_sktime.transform(X)
    scores = in_sktime.transform_scores(X)
    assert labels.index.equals(X.index) and scores.index.equals(X.index)
    for own in sessions(SEEDS):
        mine = found[found["instances"] == own.name]["ilocs"]
        np.testing.assert_array_equal(own.times[mine], alone.detect(own))
        np.testing.assert_array_equal(labels.loc[own.name, "labels"], alone.predict(own))
        np.testing.assert_array_equal(
            scores.loc[own.name, "scores"], alone.predict_proba(own)[:, 1]
        )
    assert len(in_sktime.predict_scores(X)) == len(found) > 20


def test_stamps_are_aligned_in_the_rows_of_their_frame():
    X, y = panel(SEEDS)
    # Nor need rows have names of their own.
    shuffled = y.sample(frac=1.0, random_state=0).set_axis(np.arange(len(y)) // 2, axis=0)
    order = y.sample(frac=1.0, random_state=0).index
    detector = StampDetector().fit(X, y)
    aligned = detector.align(X, shuffled)
    assert aligned.index.equals(shuffled.index)
    assert (aligned["instances"] == shuffled["instances"]).all()
    for own in sessions(SEEDS):
        mine = aligned.set_axis(order, axis=0).sort_index()
        mine = mine[mine["instances"] == own.name]
        table = detector.detector_.align(own)
        for name in ("time", "low", "high", "p_spurious"):
            np.testing.assert_array_equal(mine["times" if name == "time" else name], table[name])
        np.testing.assert_array_equal(mine["ilocs"], table["time"])


def test_one_series_needs_no_name_and_fractions_are_places():
    X, y = stamped(1)
    by_times = StampDetector().fit(X, y)
    assert list(by_times.predict(X).columns) == ["ilocs"]
    stretched = X.set_axis(np.arange(len(X)) * 4 + 100, axis=0)
    moments = pd.DataFrame({"times": 4.0 * y["times"] + 100.0})
    in_places = StampDetector().fit(stretched, y.rename(columns={"times": "ilocs"}))
    assert same_bits(in_places.detector_, StampDetector().fit(stretched, moments).detector_)
    assert in_places.predict(stretched).equals(by_times.predict(X))


@pytest.mark.parametrize("index", ["naive", "zone", "period"])
def test_series_of_dates(index):
    X, y = stamped(1)
    start = pd.Timestamp("2024-05-31T14:00", tz="Europe/Berlin" if index == "zone" else None)
    dates = pd.date_range(start, periods=len(X), freq="s")
    stamps = pd.DataFrame({"times": start + pd.to_timedelta(y["times"], unit="s")})
    dated = X.set_axis(dates.to_period() if index == "period" else dates, axis=0)
    detector = StampDetector().fit(dated, stamps)
    assert detector.predict(dated).equals(StampDetector().fit(X, y).predict(X))
    aligned = detector.align(dated, stamps)
    plain = StampDetector().fit(X, y).align(X, y)
    seconds = (aligned["times"] - start) / pd.Timedelta(seconds=1)
    # Dates are whole nanoseconds.
    np.testing.assert_allclose(seconds, plain["times"], rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(aligned["ilocs"], plain["ilocs"], rtol=0.0, atol=1e-6)


def test_other_containers_of_sktime_and_its_pipelines():
    X, y = panel(SEEDS)
    cube = convert(X, "pd-multiindex", "numpy3D")
    numbered = y.assign(
        instances=y["instances"].map({f"s{seed}": k for k, seed in enumerate(SEEDS)})
    )
    detector = StampDetector().fit(cube, numbered)
    named = StampDetector().fit(X, y)
    assert detector.predict(cube)["ilocs"].equals(named.predict(X)["ilocs"])
    X, y = stamped(1)
    pipeline = ExponentTransformer(1.0) * StampDetector()
    assert pipeline.fit(X, y).predict(X).equals(StampDetector().fit(X, y).predict(X))


def test_min_separation_keeps_the_most_probable():
    X, y = stamped(1)
    apart = StampDetector(min_separation=30.0).fit(X, y).predict(X)["ilocs"]
    every = StampDetector().fit(X, y).predict(X)["ilocs"]
    assert set(apart) < set(every)
    assert np.diff(apart).min() >= 30


def test_runs_begin_where_they_are_predicted():
    random = np.random.default_rng(0)
    inside = np.zeros(400, dtype=bool)
    begins = np.cumsum(random.integers(12, 30, size=17))
    for begin in begins:
        inside[begin : begin + 5] = True
    X = pd.DataFrame({"a": random.normal(size=400) + 5.0 * inside})
    y = pd.DataFrame({"times": begins + random.normal(1.0, 0.3, size=len(begins))})
    detector = StampDetector(EventDetector(counts="bernoulli", labels="chain")).fit(X, y)
    labels = detector.transform(X)["labels"].to_numpy()
    session = Session(X, np.arange(400.0), y["times"])
    np.testing.assert_array_equal(labels, detector.detector_.predict(session))
    first = np.flatnonzero(np.diff(labels, prepend=0) == 1)
    np.testing.assert_array_equal(detector.predict(X)["ilocs"], first)
    # Five standard deviations tell nearly every row.
    assert np.mean(labels == inside) > 0.97


def test_mistakes_are_told():
    X, y = panel(SEEDS)
    one, own = stamped(1)
    detector = StampDetector()
    with pytest.raises(ValueError, match="y has no column 'ilocs' or 'times'"):
        detector.fit(one, pd.DataFrame({"time": [1.0]}))
    with pytest.raises(ValueError, match="X has 3 series, but y no column 'instances'"):
        detector.fit(X, y.drop(columns="instances"))
    with pytest.raises(ValueError, match="y has stamps of 's9', which is no series of X"):
        detector.fit(X, y.replace({"instances": {"s1": "s9"}}))
    with pytest.raises(ValueError, match="y: ilocs holds 300, expected places from 0 to 299"):
        detector.fit(one, pd.DataFrame({"ilocs": [4, 300]}))
    with pytest.raises(ValueError, match="y: ilocs: found nan at index 1"):
        detector.fit(one, pd.DataFrame({"ilocs": [4.0, np.nan]}))
    with pytest.raises(ValueError, match="y: times: found nan at index 0"):
        detector.fit(one, pd.DataFrame({"times": [np.nan]}))
    with pytest.raises(ValueError, match="y: ilocs holds segments"):
        segments = pd.IntervalIndex.from_tuples([(0, 3), (5, 7)], closed="left")
        detector.fit(one, pd.DataFrame({"ilocs": segments}))
    with pytest.raises(ValueError, match="y are dates but times are numbers"):
        detector.fit(one, pd.DataFrame({"times": pd.to_datetime(["2024-05-31"])}))
    with pytest.raises(ValueError, match="unit|outside|far"):
        detector.fit(one, own * 1e6)
    with pytest.raises(ValueError, match="min_separation is 'far', expected a finite number"):
        StampDetector(min_separation="far").fit(one, own)
    with pytest.raises(NotImplementedError, match="fit it again with all of them"):
        detector.fit(one, own).update(one, own)


def test_new_rows_without_stamps_are_predicted():
    X, y = stamped(1)
    detector = StampDetector().fit(X, y)
    later, _ = stamped(2)
    later.index += len(X)
    assert detector.update_predict(later).equals(detector.predict(later))
