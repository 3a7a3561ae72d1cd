"""Data with a known truth: people who smoke or move, and sloppy annotators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._base import sessions_of
from ._check import number, whole
from ._noise import NOISE, Noise, noise_model
from ._noises import Gaussian
from ._pooled import known_labels
from ._session import Session
from .signal import CYCLE_FEATURES, CycleOptions, session_from_signal

__all__ = [
    "DEMO",
    "DEMO_BOUTS",
    "Annotator",
    "ChestBand",
    "Presses",
    "Sloppiness",
    "annotate",
    "chest_band",
    "people",
    "press",
    "respiration",
    "wearable",
]


@dataclass(frozen=True)
class Annotator:
    """An annotator who presses a button at true events: late, early, not at all, or spuriously.

    Times are in the unit of the data; :class:`Sloppiness` has numbers that fit any data.

    Parameters
    ----------
    delay, spread : float, optional
        Mean and standard deviation of Gaussian delays, 0 and 1 by default.
    miss : float
        Probability that a true event gets no press.
    spurious : float
        Probability of a press at each negative instance, with its delay.
    spurious_per_hour : float
        Instead of that, presses per hour anywhere in the recording.
    seconds_per_unit : float
        Length of the unit of time in seconds, for `spurious_per_hour`.
    offset_spread, drift_spread : float
        Standard deviations of an offset that all presses of a session share, and of what its clock
        gains per unit of time, from the middle of the session on.
    rounded : float
        What presses are rounded to: 60 for times that were noted to the minute, 0 for as pressed.
    noise : noise model such as ``Laplace(0.3, 1.0)``, optional
        Delays of another shape; it must have all its values.
    errors : array-like, optional
        Recorded human errors to draw delays from, each multiplied by `scale`.
    scale : float
        Factor of the `errors`.

    Examples
    --------
    >>> from unjitter import ShiftedGamma, simulate
    >>> late = simulate.Annotator(delay=0.8, spread=0.4, miss=0.1)
    >>> reaction = simulate.Annotator(noise=ShiftedGamma(shift=0.2, shape=2.0, spread=0.5))
    """

    delay: float | None = None
    spread: float | None = None
    miss: float = 0.0
    spurious: float = 0.0
    spurious_per_hour: float = 0.0
    seconds_per_unit: float = 1.0
    offset_spread: float = 0.0
    noise: str | Noise | None = None
    errors: Any = None
    scale: float = 1.0
    drift_spread: float = 0.0
    rounded: float = 0.0

    def settings(self) -> dict[str, Any]:
        """The annotator as JSON for the library."""
        if self.spurious and self.spurious_per_hour:
            raise ValueError("presses for nothing are spurious or spurious_per_hour, not both")
        per_hour = {"rate": self.spurious_per_hour, "seconds_per_unit": self.seconds_per_unit}
        spurious = {"per_hour": per_hour} if self.spurious_per_hour else None
        return {
            "delays": self._delays(),
            "miss": float(self.miss),
            "spurious": spurious or {"per_instance": float(self.spurious)},
            "offset_spread": float(self.offset_spread),
            "drift_spread": float(self.drift_spread),
            "rounded": float(self.rounded),
        }

    def _delays(self) -> dict[str, Any]:
        gaussian = self.delay is not None or self.spread is not None
        if sum((gaussian, self.noise is not None, self.errors is not None)) > 1:
            raise ValueError("delays come from delay and spread, from noise or from errors")
        if self.errors is not None:
            return {"from": "table", "errors": _floats(self.errors), "scale": float(self.scale)}
        noise = self.noise
        if noise is None:
            delay = 0.0 if self.delay is None else self.delay
            noise = Gaussian(delay, 1.0 if self.spread is None else self.spread)
        model = noise_model(noise)
        return {"from": "model", "noise": model.settings(), "values": model.values()}


@dataclass(frozen=True)
class Sloppiness:
    """Sloppiness of an annotator or several, in numbers with the same meaning for any data.

    Parameters
    ----------
    delay : float
        Mean delay, in units.
    spread : float
        Standard deviation of the delays, in units.
    offset_spread : float
        Standard deviation of an offset that all presses of a session share, in units.
    pressed : float
        Share of true events that are pressed.
    extra : float
        Spurious presses, per true event.
    tails : {"gaussian", "laplace", "student_t"}
        Shape of the delays.
    degrees_of_freedom : float
        Of ``"student_t"``, above 2.
    errors : array-like, optional
        Recorded human errors to draw delays from instead; only their shape matters.
    unit : float, optional
        Length of a unit; by default the median spacing of the instances.
    drift_spread : float
        Standard deviation of what the clock of a session gains per unit of time, from its middle
        on.
    rounded : float
        What presses are rounded to, in units; 0 for as pressed.
    people : int
        How many people press. Of several, sessions say who gave their stamps: "person 1", and so
        on.
    together : bool
        Whether all of them press at every session, or else one at each, in turns.
    habits : (float, float)
        How far people differ: the standard deviation of their delays, in units, and of the
        logarithms of their spreads. :func:`people` tells who came out how.
    ends : (float, float), optional
        Mean and standard deviation of the delays of ends, in units, if ends are pressed too: an
        event is then a run of positive instances, and everything else is about its beginning.

    Examples
    --------
    >>> from unjitter import simulate
    >>> sessions = simulate.respiration(sessions=2, annotator=None)
    >>> sloppy = simulate.Sloppiness(delay=0.5, pressed=0.8)
    >>> [len(session.events) > 0 for session in simulate.annotate(sessions, sloppy, seed=1)]
    [True, True]

    Two people, one of whom waits longer, and clocks that are off:

    >>> pair = simulate.Sloppiness(people=2, together=True, habits=(1.0, 0.3), offset_spread=6.0)
    >>> set(simulate.annotate(sessions, pair)[0].annotators) == {"person 1", "person 2"}
    True
    """

    delay: float = 0.0
    spread: float = 1.0
    offset_spread: float = 0.0
    pressed: float = 1.0
    extra: float = 0.0
    tails: str = "gaussian"
    degrees_of_freedom: float = 5.0
    errors: Any = None
    unit: float | None = None
    drift_spread: float = 0.0
    rounded: float = 0.0
    people: int = 1
    together: bool = False
    habits: tuple[float, float] = (0.0, 0.0)
    ends: tuple[float, float] | None = None

    def settings(self) -> dict[str, Any]:
        """The sloppiness as JSON for the library."""
        return {
            "tails": self._tails(),
            "delay": float(self.delay),
            "spread": float(self.spread),
            "offset_spread": float(self.offset_spread),
            "pressed": float(self.pressed),
            "extra": float(self.extra),
            "drift_spread": float(self.drift_spread),
            "rounded": float(self.rounded),
            "people": whole("people", self.people),
            "together": bool(self.together),
            "habits": _two("habits", self.habits, "(of delays, of log spreads)"),
        } | self._ends()

    def _ends(self) -> dict[str, Any]:
        if self.ends is None:
            return {}
        delay, spread = _two("ends", self.ends, "(mean delay, spread)")
        return {"ends": {"delay": delay, "spread": spread}}

    def _tails(self) -> Any:
        if self.errors is not None:
            return {"recorded": {"errors": _floats(self.errors)}}
        if self.tails == "student_t":
            return {"student_t": {"degrees_of_freedom": float(self.degrees_of_freedom)}}
        if self.tails not in ("gaussian", "laplace"):
            raise ValueError(
                f"tails is {self.tails!r}, expected one of gaussian, laplace, student_t"
            )
        return self.tails


DEMO = Sloppiness(delay=0.5, spread=1.0, pressed=0.9, extra=0.1)
"""The annotator of ``unjitter demo``: late, scattered, forgetful and sometimes wrong."""

DEMO_BOUTS = Sloppiness(delay=2.0, spread=4.0, pressed=0.9, extra=0.1, ends=(4.0, 4.0))
"""One who presses when an event begins and again when it ends, later each time."""


class Presses(NamedTuple):
    """Presses with their simulated truth."""

    stamps: NDArray[np.float64]
    sources: NDArray[np.int64]
    offset: float
    drift: float


@dataclass(frozen=True, eq=False)
class ChestBand:
    """A simulated recording of a chest band, 20 Hz with losses.

    Attributes
    ----------
    name, subject : str
    times : ndarray
        Seconds from the start.
    values : ndarray
        Counts of a converter.
    puffs : ndarray
        Beginning of the inhalation of each puff.
    """

    name: str
    subject: str
    times: NDArray[np.float64]
    values: NDArray[np.float64]
    puffs: NDArray[np.float64]

    def session(self, options: CycleOptions | None = None) -> Session:
        """The recording cut into breaths, puffs labelled, without stamps.

        Examples
        --------
        >>> from unjitter import simulate
        >>> session = simulate.chest_band(sessions=1)[0].session()
        >>> session.X.shape == (len(session), 30), len(session.events), session.subject
        (True, 0, 'subject-1')
        """
        return session_from_signal(
            self.values,
            times=self.times,
            true_events=self.puffs,
            options=options,
            name=self.name,
            subject=self.subject,
        )


def chest_band(
    kind: str = "mpuff",
    *,
    seed: int = 0,
    subjects: int | None = None,
    sessions: int | None = None,
    puffs: int | None = None,
    negatives: int | None = None,
    overlap: float | None = None,
    talking: float | None = None,
    sighs: float | None = None,
    movements: float | None = None,
    losses: float | None = None,
    noise: float | None = None,
) -> list[ChestBand]:
    """Made-up chest-band recordings of people who smoke one cigarette, with every puff known.

    Parameters
    ----------
    kind : {"mpuff", "puffmarker"}
        As large as the paper's mPuff (4 subjects, 13 sessions, 179 puffs) or puffMarker (6, 30 and
        305).
    seed : int
        Of everything random.
    subjects, sessions : int, optional
        Another number of people, or of recordings; puffs and other breaths scale with it.
    puffs, negatives : int, optional
        Puffs and other breaths in all recordings together.
    overlap : float, optional
        Similarity of puffs and other breaths, 0 to 1.
    talking, sighs : float, optional
        Share of the time spent talking, and of breaths that are sighs.
    movements, losses : float, optional
        Movements and losses of samples, per minute.
    noise : float, optional
        Standard deviation of the sensor's noise, as a share of an ordinary breath.

    Returns
    -------
    list of ChestBand

    Examples
    --------
    >>> from unjitter import simulate
    >>> band = simulate.chest_band(sessions=1)[0]
    >>> band.values.shape == band.times.shape, len(band.puffs)
    (True, 13)
    """
    changes = {
        "puffs": puffs,
        "negatives": negatives,
        "overlap": overlap,
        "talking": talking,
        "sighs": sighs,
        "movements": movements,
        "losses": losses,
        "noise": noise,
    }
    options = _study(kind, subjects, sessions, changes)
    return [ChestBand(**band) for band in _core.chest_bands(options, whole("seed", seed))]


def respiration(
    kind: str = "mpuff",
    *,
    seed: int = 0,
    subjects: int | None = None,
    sessions: int | None = None,
    annotator: Annotator | Sloppiness | None = DEMO,
    cycles: CycleOptions | None = None,
    puffs: int | None = None,
    negatives: int | None = None,
    overlap: float | None = None,
    talking: float | None = None,
    sighs: float | None = None,
    movements: float | None = None,
    losses: float | None = None,
    noise: float | None = None,
) -> list[Session]:
    """Chest-band recordings of people who smoke, cut into breaths, with stamps for their puffs.

    Parameters
    ----------
    kind, seed, subjects, sessions, puffs, negatives, overlap, talking, sighs, movements, losses, \
noise
        As in :func:`chest_band`.
    annotator : Annotator or Sloppiness, optional
        The annotator, who presses a button at each puff; by default that of ``unjitter demo``, half
        a breath late and scattered by one, who misses a tenth of the puffs and presses spuriously
        once per ten puffs. None gives no stamps.
    cycles : CycleOptions, optional
        Settings for finding breaths.

    Returns
    -------
    list of Session
        With ``labels`` (1 for a puff), ``events`` (the stamps), subjects and feature names.

    Examples
    --------
    >>> from unjitter import simulate
    >>> sessions = simulate.respiration(seed=0, sessions=3)
    >>> [session.name for session in sessions]
    ['session-01', 'session-02', 'session-03']
    >>> sessions[0].feature_names[:2]
    ('inhalation_duration', 'exhalation_duration')
    """
    changes = {
        "puffs": puffs,
        "negatives": negatives,
        "overlap": overlap,
        "talking": talking,
        "sighs": sighs,
        "movements": movements,
        "losses": losses,
        "noise": noise,
    }
    found = _core.respiration(
        _study(kind, subjects, sessions, changes), _cycles(cycles), whole("seed", seed)
    )
    recordings = [Session(**arrays, feature_names=CYCLE_FEATURES) for arrays in found]
    return recordings if annotator is None else annotate(recordings, annotator, seed=seed)


def wearable(
    *,
    seed: int = 0,
    people: int = 24,
    seconds: float = 400.0,
    windows_per_second: float = 4.0,
    shortest: float = 2.0,
    longest: float = 10.0,
    apart: float = 25.0,
    annotator: Annotator | Sloppiness | None = DEMO_BOUTS,
) -> list[Session]:
    """Windows of movement, in which something is done for a while now and then.

    A window is a second long and a label of 1 says that something is done in its middle. So one
    event covers many windows, and labels form runs: use ``EventDetector(labels="chain")``.

    Parameters
    ----------
    seed : int
        Of the recordings, and of the annotator's draws.
    people : int
        How many people there are, each with one recording.
    seconds : float
        Length of a recording.
    windows_per_second : float
        How many windows begin in a second, up to 20.
    shortest, longest : float
        For how many seconds something is done, at least and at most.
    apart : float
        Mean time from the end of one event to the beginning of the next, above 3 seconds.
    annotator : Annotator or Sloppiness, optional
        The annotator, by default :data:`DEMO_BOUTS`, who presses at both ends. Without ends, every
        positive window is pressed. None gives no stamps.

    Returns
    -------
    list of Session

    Examples
    --------
    >>> from unjitter import simulate
    >>> sessions = simulate.wearable(people=2, windows_per_second=10)
    >>> sessions[0].X.shape, len(sessions[0].ends)
    ((3990, 6), 10)
    """
    options = {
        "people": whole("people", people),
        "seconds": float(seconds),
        "windows_per_second": float(windows_per_second),
        "shortest": float(shortest),
        "longest": float(longest),
        "apart": float(apart),
    }
    found, names = _core.wearable(json.dumps(options), whole("seed", seed))
    recordings = [Session(**arrays, feature_names=names) for arrays in found]
    return recordings if annotator is None else annotate(recordings, annotator, seed=seed)


def annotate(
    sessions: Session | Sequence[Session], annotator: Annotator | Sloppiness, *, seed: int = 0
) -> list[Session]:
    """Sessions with new stamps: presses for the events of their labels.

    Presses outside the annotated intervals are not recorded. Sessions stay those of their subjects
    and, if a `Sloppiness` has several people, say who gave which stamp.

    Parameters
    ----------
    sessions : list of Session
        With a label for every instance.
    annotator : Annotator or Sloppiness
        The annotator, or the people.
    seed : int
        Of all draws. Each session has its own, by its position; no two seeds share any.

    Returns
    -------
    list of Session

    Examples
    --------
    >>> from unjitter import Session, simulate
    >>> session = Session([[0.0]] * 3, times=[0, 10, 20], events=[], labels=[0, 1, 0])
    >>> prompt = simulate.Annotator(delay=0.5, spread=1e-9)
    >>> simulate.annotate(session, prompt)[0].events.round(3)
    array([10.5])
    """
    known = sessions_of(sessions)
    known_seed = whole("seed", seed)
    if isinstance(annotator, Sloppiness):
        settings = json.dumps(annotator.settings())
        pressed = _core.annotate_sloppily(settings, known, annotator.unit, known_seed)
    elif isinstance(annotator, Annotator):
        pressed = _core.annotate(json.dumps(annotator.settings()), known, known_seed)
    else:
        raise ValueError(f"annotator is {annotator!r}, expected an Annotator or a Sloppiness")
    return [
        session.replace(
            events=session.dates(stamps) if session.calendar is not None else stamps,
            ends=until if until is None or session.calendar is None else session.dates(until),
            annotators=who,
            also_annotated=everybody,
        )
        for session, (stamps, until, who, everybody) in zip(known, pressed)
    ]


def people(
    sessions: Session | Sequence[Session], sloppiness: Sloppiness, *, seed: int = 0
) -> dict[str, Annotator]:
    """The people who press in :func:`annotate`, with the habits that the same seed gives them.

    Parameters
    ----------
    sessions : list of Session
        Those that they annotate, with a label for every instance.
    sloppiness : Sloppiness
    seed : int

    Returns
    -------
    dict of str to Annotator
        By name. Times are in the unit of the data.

    Examples
    --------
    >>> from unjitter import simulate
    >>> sessions = simulate.respiration(sessions=2, annotator=None)
    >>> pair = simulate.Sloppiness(spread=0.5, people=2, habits=(1.0, 0.0))
    >>> ann, bob = simulate.people(sessions, pair, seed=1).values()
    >>> ann.noise.spread == bob.noise.spread, ann.noise.delay == bob.noise.delay
    (True, False)
    """
    settings = json.dumps(sloppiness.settings())
    text = _core.people(settings, sessions_of(sessions), sloppiness.unit, whole("seed", seed))
    return {name: _annotator(own) for name, own in json.loads(text)}


def press(times: ArrayLike, labels: ArrayLike, annotator: Annotator, *, seed: int = 0) -> Presses:
    """Presses for the positive instances, and the source of each.

    Parameters
    ----------
    times : array-like of shape (n_instances,)
    labels : array-like of shape (n_instances,)
        0 or 1; none may be unknown.
    annotator : Annotator
    seed : int

    Returns
    -------
    Presses
        ``stamps`` in order, ``sources`` (the instance of each, -1 for one without an instance)
        and the ``offset`` and ``drift`` of the session's clock.

    Examples
    --------
    >>> from unjitter import simulate
    >>> simulate.press([0, 10, 20], [0, 1, 1], simulate.Annotator(spread=0.1)).sources
    array([1, 2])
    """
    when = np.ascontiguousarray(times, dtype=np.float64)
    shape = np.shape(labels)
    if when.ndim != 1 or when.shape != shape:
        raise ValueError(f"times have shape {when.shape} and labels {shape}, expected one")
    truth = np.ascontiguousarray(known_labels(labels))
    settings = json.dumps(annotator.settings())
    return Presses(*_core.press(settings, when, truth, whole("seed", seed)))


def _study(
    kind: str, subjects: int | None, sessions: int | None, changes: dict[str, float | None]
) -> str:
    for name, count in (("subjects", subjects), ("sessions", sessions)):
        if count is not None:
            whole(name, count)
    options = json.loads(_core.study(kind, subjects, sessions))
    options |= {name: value for name, value in changes.items() if value is not None}
    return json.dumps(options)


def _two(name: str, given: Any, meaning: str) -> list[float]:
    values = np.atleast_1d(given).tolist()
    if len(values) != 2:
        raise ValueError(f"{name} is {given!r}, expected {meaning}")
    return [number(name, value) for value in values]


def _cycles(options: CycleOptions | None) -> str:
    return json.dumps((CycleOptions() if options is None else options).settings())


def _annotator(own: dict[str, Any]) -> Annotator:
    """An annotator of a `Sloppiness`, as the library wrote it."""
    delays = own.pop("delays")
    if delays["from"] == "table":
        own |= {"errors": delays["errors"], "scale": delays["scale"]}
    else:
        values = {name: value for name, (value,) in delays["values"].items()}
        settings = dict(delays["noise"])
        own["noise"] = NOISE[settings.pop("kind")](**settings, **values)
    own["spurious"] = own["spurious"]["per_instance"]
    return Annotator(**own)


def _floats(values: ArrayLike) -> list[float]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"errors have {numbers.ndim} dimensions, expected 1")
    return [float(number) for number in numbers]
