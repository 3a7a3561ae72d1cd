"""Numbers that differ between groups: recovered, shrunk as by mixed models, and kept."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from people import USUAL, draw, off
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from unjitter import (
    EventDetector,
    OnFeatures,
    Session,
    Table,
    UnjitterWarning,
    baselines,
    make_pipeline,
    metrics,
    simulate,
)

COLUMNS = ["what", "by", "group", "value", "standard_error", "low", "high"]


@pytest.fixture(scope="module")
def clocks():
    """Sessions with clocks that are off by 6, and how far; 4 of them are for later."""
    sessions, habits = off(16, 6.0, 0.0, seed=5)
    return sessions, np.array([habit.offset for habit in habits])


@pytest.fixture(scope="module")
def by_session(clocks):
    return EventDetector(varies={"offset": "session"}, clock_range=20.0).fit(clocks[0][:12])


@pytest.fixture(scope="module")
def two_people():
    people = {"ann": USUAL.but(delay=0.4, spread=0.6), "bob": USUAL.but(delay=2.5, spread=1.2)}
    return [draw(seed, people) for seed in range(6)], people


def rows_of(detector, what):
    table = detector.groups_
    return table[table["what"] == what].set_index("group")


def test_two_people_have_the_habits_they_were_given(two_people):
    sessions, people = two_people
    varies = {"delay": "annotator", "spread": "annotator"}
    detector = EventDetector(varies=varies, restarts=0).fit(sessions)
    table = detector.groups(level=0.99)
    assert list(table.columns) == COLUMNS
    assert list(table["what"]) == ["delay", "delay", "spread", "spread"]
    assert set(table["by"]) == {"annotator"}
    for row in table.itertuples():
        # One interval in a hundred is allowed to miss, and there are four.
        assert row.low < getattr(people[row.group], row.what) < row.high
    delay = rows_of(detector, "delay")["value"]
    assert delay["bob"] - delay["ann"] == pytest.approx(2.1, abs=0.5)  # 70 presses each


def exact(sizes, shifts, random):
    """Sessions whose every stamp has one possible owner: a mixed model knows all that counts."""

    def session(position, stamps, shift):
        labels = np.zeros(20 * stamps, dtype=int)
        labels[10::20] = 1
        X = 8.0 * labels[:, None] + 0.3 * random.normal(size=(len(labels), 1))
        times = np.arange(20.0 * stamps)
        pressed = times[labels == 1] + 0.7 + shift + 0.9 * random.normal(size=stamps)
        return Session(X, times, pressed, labels=labels, name=f"g{position}")

    return [session(k, *own) for k, own in enumerate(zip(sizes, shifts))]


@pytest.mark.parametrize(("scatter", "seed"), [(0.4, 4), (0.6, 5), (0.8, 5)])
def test_groups_are_shrunk_as_by_a_mixed_model(scatter, seed):
    random = np.random.default_rng(seed)
    sizes = [3, 4, 5, 6, 8, 10, 12, 15, 20, 30]
    sessions = exact(sizes, scatter * random.normal(size=len(sizes)), random)
    detector = EventDetector(varies={"delay": "session"}, clock_range=5.0).fit(sessions)
    late = [session.events - session.times[session.labels == 1] for session in sessions]
    names = np.repeat([session.name for session in sessions], sizes)
    mixed = sm.MixedLM(np.concatenate(late), np.ones((len(names), 1)), names).fit(reml=True)
    own = rows_of(detector, "delay")
    expected = [mixed.fe_params[0] + mixed.random_effects[name].iloc[0] for name in own.index]
    means = np.array([stamps.mean() for stamps in late])
    # The priors of mean and spread are worth about one of 113 stamps, which moves how far groups
    # scatter, and so the shrinkage, by some percent of itself.
    shrinkage = np.abs(means - expected).max()
    assert shrinkage > 0.4
    np.testing.assert_allclose(own["value"], expected, rtol=0.0, atol=0.08 * shrinkage)
    between, within = float(np.asarray(mixed.cov_re)[0, 0]), mixed.scale
    np.testing.assert_allclose(own["standard_error"], errors(sizes, between, within), rtol=0.04)


def errors(sizes, between, within):
    """Standard errors of mean + deviation of each group, by Henderson's equations."""
    n = np.array(sizes, dtype=float)
    inverse = np.zeros((len(n) + 1, len(n) + 1))
    inverse[0, 0] = n.sum()
    inverse[0, 1:] = inverse[1:, 0] = n
    inverse[1:, 1:] = np.diag(n + within / between)
    covariance = within * np.linalg.inv(inverse)
    return [np.sqrt(covariance[[0, k]][:, [0, k]].sum()) for k in range(1, len(n) + 1)]


def test_clocks_are_found(by_session, clocks):
    own = by_session.groups_
    assert list(own["group"]) == [session.name for session in clocks[0][:12]]
    # The mean of all offsets belongs to the delay; a dozen presses scatter by one.
    away = own["value"] + by_session.delay_ - clocks[1][:12] - USUAL.delay
    assert np.abs(away).max() < 4 / np.sqrt(10)


def test_clock_is_offset_and_drift():
    sessions, habits = off(12, 6.0, 0.02, seed=2)
    both = EventDetector(clock="session", clock_range=20.0).fit(sessions)
    assert set(both.groups_["what"]) == {"offset", "drift"}
    found = rows_of(both, "drift")
    truth = np.array([habit.drift for habit in habits])
    inside = (found["low"] < truth) & (truth < found["high"])
    assert inside.sum() >= 10  # of twelve intervals of 95 %
    assert np.corrcoef(found["value"], truth)[0, 1] > 0.8
    said = EventDetector(varies={"offset": "session", "drift": "session"}, clock_range=20.0)
    assert said.fit(sessions).log_evidence_ == both.log_evidence_


def test_intervals_widen_with_their_level(by_session):
    narrow, wide = by_session.groups(level=0.5), by_session.groups(level=0.99)
    # Quantiles of the normal distribution.
    ratio = (wide["high"] - wide["low"]) / (narrow["high"] - narrow["low"])
    np.testing.assert_allclose(ratio, 2.5758293035 / 0.6744897502, rtol=1e-8)
    np.testing.assert_array_equal(by_session.groups(0.95), by_session.groups_)
    with pytest.raises(ValueError, match="level is 1, expected"):
        by_session.groups(level=1.0)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "numpy"])
def test_groups_in_any_frame(by_session, backend):
    table = by_session.groups(backend=backend)
    assert type(table).__module__.split(".")[0] == {"numpy": "unjitter"}.get(backend, backend)
    names = table.column_names if backend == "pyarrow" else list(table.columns)
    assert names == COLUMNS and len(table) == 12


def test_nothing_differs_unless_it_is_asked_to(clocks):
    detector = EventDetector(restarts=0, check=False, noise="laplace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjitterWarning)
        table = detector.fit(clocks[0][:3]).groups(backend="numpy")
    assert isinstance(table, Table) and table.columns == COLUMNS and len(table) == 0


def test_the_notebook_tells_how_far_groups_are_apart(by_session):
    table = by_session.groups_
    low, high = table.loc[table["value"].idxmin()], table.loc[table["value"].idxmax()]
    ends = (f"{own['value']:.3g} ({own['group']})" for own in (low, high))
    shown = re.sub("<[^>]*>", "", by_session._repr_html_())
    assert f"offset of each session{' to '.join(ends)}" in shown


def test_everything_adapts_to_groups_not_seen(by_session, clocks):
    new, truth = clocks[0][12:], clocks[1][12:]
    told = by_session.adapted(new)
    assert list(told.groups_["group"][12:]) == [session.name for session in new]
    assert len(by_session.groups_) == 12  # as it was
    away = told.groups_["value"][12:] + told.delay_ - truth - USUAL.delay
    assert np.abs(away).max() < 4 / np.sqrt(10)
    for name in ("align", "align_instances", "align_events"):
        np.testing.assert_array_equal(
            getattr(by_session, name)(new), getattr(told, name)(new), err_msg=name
        )
    found = by_session.align(new)
    true = np.concatenate([session.times[session.labels == 1] for session in new])
    # As if clocks were right: most stamps lie where an event is, though their clocks are off by 6.
    assert np.mean(np.isin(found["instance_time"], true)) > 0.7


def test_the_evidence_integrates_over_clocks_not_seen(by_session, clocks):
    new = clocks[0][12:]
    held_out = by_session.log_evidence(new)
    # The evidence at the best clocks is higher by what it costs to find them.
    assert held_out < by_session.adapted(new).log_evidence(new) - 1.0
    assert held_out == pytest.approx(sum(by_session.log_evidence(own) for own in new), rel=1e-12)


def test_clocks_that_were_not_found_are_named(by_session, clocks):
    few = clocks[0][13].replace(events=clocks[0][13].events[:1], name="few")
    for ask in (by_session.align, by_session.align_events, by_session.adapted):
        with pytest.warns(UnjitterWarning, match="clocks were not found.*few") as caught:
            ask(few)
        assert caught[0].filename == __file__
    silent = few.replace(events=[], name="silent")
    assert len(by_session.align(silent)) == 0


def test_a_session_given_twice_counts_once(by_session, clocks):
    new = clocks[0][12]
    once, twice = by_session.align(new), by_session.align([new, new])
    np.testing.assert_array_equal(twice["time"][: len(once)], once["time"])


def test_scorers_and_searches_meet_groups_not_seen(clocks):
    sessions = clocks[0][:12]
    detector = EventDetector(varies={"offset": "session"}, clock_range=20.0, restarts=0)
    folds = GroupKFold(3)
    names = [session.name for session in sessions]
    score = {"scoring": metrics.log_evidence_scorer, "cv": folds}
    apart, at_once = (
        cross_val_score(detector, sessions, groups=names, n_jobs=jobs, **score) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(apart, at_once)
    right = EventDetector(restarts=0, check=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjitterWarning)
        taken_as_right = cross_val_score(right, sessions, groups=names, **score)
    assert apart.mean() > taken_as_right.mean()
    grid = {"varies": [{"offset": "session"}, {"delay": "session"}]}
    search = GridSearchCV(detector, grid, **score).fit(sessions, groups=names)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_questions_about_a_fit_meet_groups_not_seen(by_session, clocks):
    new = clocks[0][12:]
    found = by_session.diagnose(new, profiles=False, priors=False)
    assert set(found.sessions["session"]) == {session.name for session in new}
    # With clocks that are right, about as many stamps come as are expected.
    assert found.residuals.is_outside is False
    assert by_session.plan(new, draws=4).to_frame()["sessions"].iloc[0] == len(new)


def test_learners_with_clocks_can_be_compared(clocks):
    learners = {
        "clocks": EventDetector(varies={"offset": "session"}, clock_range=20.0, restarts=0),
        "none": EventDetector(restarts=0, check=False),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjitterWarning)
        found = baselines.compare(clocks[0][:9], learners, folds=3, inner_folds=3)
    assert np.isfinite(found.scores).all()


def test_nothing_is_known_of_groups_before_fit():
    assert not hasattr(EventDetector(clock="session"), "groups_")
    with pytest.raises(NotFittedError):
        EventDetector(clock="session").groups()


def test_pipelines_pass_groups_on(clocks):
    from sklearn.preprocessing import StandardScaler

    inner = EventDetector(varies={"offset": "session"}, clock_range=20.0)
    model = make_pipeline(OnFeatures(StandardScaler()), inner).fit(clocks[0][:12])
    assert len(model[-1].groups_) == 12
    assert np.isfinite(metrics.log_evidence_scorer(model, clocks[0][12:]))


def test_annotators_carry_over_to_transformed_sessions(two_people):
    from sklearn.preprocessing import StandardScaler

    sessions, _ = two_people
    moved = OnFeatures(StandardScaler()).fit_transform(sessions)
    assert list(moved[0].annotators) == list(sessions[0].annotators)


def test_parameters_survive_clones():
    given = {"varies": {"spread": "device"}, "clock": "clock", "clock_range": 3.5}
    detector = clone(EventDetector(**given))
    assert {name: detector.get_params()[name] for name in given} == given
    assert detector.set_params(clock=None).clock is None


@pytest.mark.parametrize("kept_by", ["pickle", "file"])
def test_groups_survive_files(by_session, clocks, tmp_path, kept_by):
    if kept_by == "pickle":
        again = pickle.loads(pickle.dumps(by_session))
    else:
        by_session.save(tmp_path / "model.json")
        again = EventDetector.load(tmp_path / "model.json")
    assert again.varies == {"offset": "session"} and again.clock_range == 20.0
    np.testing.assert_array_equal(again.groups_, by_session.groups_)
    np.testing.assert_array_equal(again.align(clocks[0][10:]), by_session.align(clocks[0][10:]))


def test_what_varies_by_several_survives_files(two_people, tmp_path):
    sessions = [session.replace(clock=f"c{k % 2}") for k, session in enumerate(two_people[0])]
    varies = {"delay": "annotator"}
    detector = EventDetector(varies=varies, clock="clock", restarts=0).fit(sessions)
    assert set(zip(detector.groups_["what"], detector.groups_["by"])) == {
        ("delay", "annotator"),
        ("offset", "clock"),
        ("drift", "clock"),
    }
    detector.save(tmp_path / "model.json")
    again = EventDetector.load(tmp_path / "model.json")
    assert again.varies == {"offset": "clock", "drift": "clock", "delay": "annotator"}
    assert again.clock is None
    np.testing.assert_array_equal(again.groups_, detector.groups_)


def test_a_forked_process_adapts():
    """The search for clocks has threads; a child of a process that had some must not wait for
    them."""
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from people import off
from unjitter import EventDetector
sessions, _ = off(8, 6.0, 0.0, seed=5)
detector = EventDetector(varies={{"offset": "session"}}, clock_range=20.0, n_jobs=2)
detector.fit(sessions[:6])
child = os.fork()
if child == 0:
    os._exit(0 if len(detector.adapted(sessions[6:]).groups_) == 8 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, timeout=120).returncode == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"varies": "delay"}, "varies is 'delay', expected a mapping like"),
        ({"varies": {"late": "session"}}, "varies is 'late', expected 'delay' or 'offset'"),
        ({"varies": {"delay": "person"}}, r"varies\['delay'\] is 'person', expected 'annotator'"),
        ({"clock": "watch"}, "clock is 'watch', expected 'annotator' or 'session'"),
        ({"clock": "session", "clock_range": -1.0}, "clock_range is -1, expected a time above 0"),
        ({"clock": "session", "clock_range": "far"}, "clock_range is 'far', expected"),
        ({"clock": "annotator"}, "offset by annotator: no session says which group it is of"),
        ({"varies": {"spread": "device"}}, "spread by device: no session says"),
    ],
)
def test_mistakes_are_named(clocks, given, message):
    with pytest.raises(ValueError, match=message):
        EventDetector(**given).fit(clocks[0][:3])


def test_sessions_without_a_name_are_of_no_group(by_session, clocks):
    nameless = clocks[0][0].replace(name=None)
    expected = "session 1 has no name, and stamps differ by session"
    with pytest.raises(ValueError, match=expected):
        EventDetector(clock="session").fit([clocks[0][1], nameless])
    for ask in (by_session.align, by_session.adapted, by_session.log_evidence):
        with pytest.raises(ValueError, match=expected):
            ask([clocks[0][1], nameless])


def test_simulated_people_are_told_apart():
    truth = simulate.Sloppiness(
        delay=0.5, spread=0.8, people=2, together=True, habits=(1.5, 0.0), pressed=0.9
    )
    sessions = simulate.respiration("puffmarker", seed=1, sessions=12, annotator=truth)
    habits = simulate.people(sessions, truth, seed=1)
    late = {who: own.noise.delay for who, own in habits.items()}
    detector = EventDetector(varies={"delay": "annotator"}, restarts=0).fit(sessions)
    found = rows_of(detector, "delay")["value"]
    gap = late["person 1"] - late["person 2"]
    assert abs(gap) > 2.0
    # Some 100 presses of each, with a spread of a few seconds.
    assert found["person 1"] - found["person 2"] == pytest.approx(gap, abs=1.2)
