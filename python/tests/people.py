"""Sessions stamped by people with habits and clocks of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from unjitter import Session


@dataclass(frozen=True)
class Habit:
    """An annotator, in spacings of the instances; `extra` are presses for nothing, per event."""

    delay: float = 0.5
    spread: float = 1.0
    miss: float = 0.1
    extra: float = 0.1
    # How far the clock is ahead in the middle of a session, and what it gains per unit of time.
    offset: float = 0.0
    drift: float = 0.0

    def but(self, **changes: float) -> Habit:
        return replace(self, **changes)

    def presses(self, events, last, random):
        """The presses for some events."""
        seen = events[random.random(len(events)) >= self.miss]
        late = self.delay + self.offset + self.drift * (seen - 0.5 * last)
        own = seen + late + self.spread * random.normal(size=len(seen))
        extra = last * random.random(random.binomial(len(events), self.extra))
        return np.concatenate([own, extra])


USUAL = Habit()


def draw(
    seed: int, people: Mapping[str, Habit] | Habit, *, name: str | None = None, instances: int = 300
) -> Session:
    """One instance in 20 is an event, which features tell well but not perfectly."""
    random = np.random.default_rng(seed)
    labels = random.random(instances) < 0.05
    X = random.normal(size=(instances, 4)) + np.outer(labels, [2.2, -1.8, 0.0, 0.0])
    times = np.arange(float(instances))
    events, last = times[labels], times[-1]
    if isinstance(people, Habit):
        pressed = people.presses(events, last, random)
    else:
        pressed = {who: habit.presses(events, last, random) for who, habit in people.items()}
    title = f"s{seed:03}" if name is None else name
    return Session(X, times, pressed, labels=labels.astype(int), name=title)


def off(count: int, offset: float, drift: float, seed: int) -> tuple[list[Session], list[Habit]]:
    """Sessions of people whose clocks are off by this much, and gain this much, as a standard
    deviation; and these people."""
    random = np.random.default_rng(seed)
    habits = [
        USUAL.but(offset=offset * random.normal(), drift=drift * random.normal())
        for _ in range(count)
    ]
    drawn = (draw(1000 * seed + k, habit, name=f"s{k:03}") for k, habit in enumerate(habits))
    return list(drawn), habits
