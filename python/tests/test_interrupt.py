"""Ctrl-C ends a fit at once, and leaves the detector as it was."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from unjitter import EventDetector, Mlp, Session


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
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1.0, press).start()
    with pytest.raises(KeyboardInterrupt):
        detector.fit([first])
    assert time.monotonic() - pressed[0] < 1.0
    assert not hasattr(detector, "delay_")


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
