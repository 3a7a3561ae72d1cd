"""Ctrl-C ends long work at once, and leaves a detector as it was."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from drawn import make_session
from pressed import seconds_to_stop

from unjitter import EventDetector, Mlp, Session, posterior, simulate
from unjitter.baselines import Naive, compare


@pytest.fixture(scope="module")
def long_work():
    """A fit that would take minutes."""
    rng = np.random.default_rng(0)
    instances = 200_000
    labels = rng.random(instances) < 0.05
    X = rng.normal(size=(instances, 20)) + labels[:, None]
    times = np.arange(float(instances))
    return [Session(X, times, np.sort(times[labels] + rng.normal(size=labels.sum())))]


# The exact kernel of 8000 instances is factorised for a minute before the first iteration.
@pytest.mark.parametrize(
    ("classifier", "instances"),
    [("logistic", 200_000), (Mlp((64, 64)), 200_000), ("kernel", 8_000)],
    ids=["logistic", "mlp", "kernel"],
)
def test_ctrl_c_stops_within_a_second(long_work, classifier, instances):
    (session,) = long_work
    first = session.replace(
        X=session.X[:instances],
        times=session.times[:instances],
        events=session.events[session.events < instances],
    )
    detector = EventDetector(classifier, max_iter=100_000, restarts=50)
    assert seconds_to_stop(lambda: detector.fit([first])) < 1.0
    assert not hasattr(detector, "delay_")


def test_labels_where_nobody_annotated_do_not_delay_the_end(long_work):
    (session,) = long_work
    labels = (np.arange(len(session)) % 20 == 0).astype(int)
    watched = session.replace(
        events=session.events[session.events < 900], observed=[(0.0, 1000.0)], labels=labels
    )
    detector = EventDetector(Mlp((64, 64)), max_iter=100_000, use_labels=True)
    assert seconds_to_stop(lambda: detector.fit([watched])) < 1.0


def test_ctrl_c_stops_what_is_not_a_fit():
    sessions = [make_session(seed) for seed in range(4)]
    found = posterior(np.arange(2000.0), np.arange(0.5, 2000.0, 20.0), np.zeros(2000))
    work = {
        "summary": lambda: compare(sessions, [Naive()], folds=2, resamples=10_000_000),
        "sample": lambda: found.sample(900_000),
        "study": lambda: simulate.respiration(sessions=10_000),
    }
    for name, run in work.items():
        assert seconds_to_stop(run, after=0.1) < 1.0, name


def test_other_threads_run_while_a_fit_does(long_work):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    try:
        with pytest.warns(UserWarning, match="stopped early"):
            EventDetector(restarts=0, max_iter=30).fit(long_work)
        ended = time.monotonic()
    finally:
        done.set()
        thread.join()
    during = [tick for tick in ticks if begun < tick < ended]
    # With the interpreter held there would be none, or one at either end.
    assert len(during) > 0.2 * (ended - begun) / 0.01


def test_an_exception_in_the_bar_ends_the_fit(long_work, monkeypatch):
    from unjitter import _progress

    def fail(self, *arguments):
        raise RuntimeError("no terminal")

    monkeypatch.setattr(_progress.Bar, "_show", fail)
    with pytest.raises(RuntimeError, match="no terminal"):
        EventDetector(verbose=1, max_iter=10_000, restarts=1000).fit(long_work)
