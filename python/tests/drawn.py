"""Sessions drawn from a known annotator."""

from __future__ import annotations

import numpy as np

from unjitter import Session

DELAY, SPREAD, MISS, FALSE = 0.7, 1.0, 0.1, 0.005


def make_session(seed: int, *, instances: int = 300, name: str | None = None) -> Session:
    """A drawn session with one telling feature, one weak one and one that says nothing."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.5, 1.5, instances))
    labels = rng.random(instances) < 0.06
    X = rng.normal(size=(instances, 3))
    X[:, 0] += 3.0 * labels
    X[:, 1] = 100.0 + 5.0 * (X[:, 1] + labels)
    pressed = np.where(labels, rng.random(instances) > MISS, rng.random(instances) < FALSE)
    events = np.sort(times[pressed] + rng.normal(DELAY, SPREAD, pressed.sum()))
    title = f"session-{seed}" if name is None else name
    return Session(X, times, events, labels=labels, subject=f"subject-{seed % 3}", name=title)
