"""Goodness of fit: how a fitted detector describes sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._modes import Mode, mode_of
from ._session import Session
from ._tables import frame


@dataclass(frozen=True)
class Distance:
    """How far some numbers are from the distribution that they should have.

    Attributes
    ----------
    distance : float
        The largest difference of the two distribution functions (Kolmogorov and Smirnov).
    band : float
        What it stays below in 95 of 100 cases if the model is right.
    count : float
        How many numbers there are; of weighted ones, how many equal ones say as much.
    """

    distance: float
    band: float
    count: float

    @property
    def is_outside(self) -> bool:
        """Whether the numbers are not what they should be."""
        return self.distance > self.band


@dataclass(frozen=True)
class Slope:
    """A change of the delay, with its standard error."""

    slope: float
    standard_error: float


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis:
    """How a fitted detector describes sessions; see :meth:`EventDetector.diagnose`.

    Attributes
    ----------
    remarks : list of str
        What stands out, in words.
    stamps : int, expected : float
        All stamps, and as many as the model expects.
    surplus : float
        How many standard errors there are more than expected, given those before.
    residuals : Distance
        Of the gaps between stamps, in time that counts the stamps expected given those before, from
        exponential ones.
    gaps : ndarray
        The probability of a gap no longer than each: uniform if the model is right.
    delays : Distance
        Of the delays of stamps from the instances that may have given them, weighted by their
        probabilities, from the learned distribution.
    quantiles : table
        ``learned`` and ``found`` quantiles of the delay; if the model is right, all lie between
        ``low`` and ``high`` in 95 of 100 cases.
    points : table
        The place of each stamp in its session (``position``, 0 to 1), its ``hour`` of the day where
        that is known, its expected ``delay`` and its ``weight``, the probability that an instance
        gave it.
    over_session, over_day : Slope or None
        How the delay changes from the beginning to the end of a session, and per hour of the day.
    sessions : table
        One row per session, worst first: its ``stamps``, as many as were ``expected``, the
        ``surplus``, the ``log_evidence_per_stamp``, how many ``deviations`` that is above the other
        sessions, both distances with their bands, and the change that would mend it (``remedy``:
        "shift", "spread" or "unit"), by how much (``by``), and the log evidence that it gains
        (``gain``).
    subjects, annotators : table
        Both distances for each subject or annotator, where they are known.
    families : table or None
        ``noise`` models and by how much the sessions left out have more log evidence than with the
        one of the fit (``mean`` and ``standard_error``).
    intervals : table or None
        What was learned of the annotator (``name``, ``value``) with intervals of 95 %, ``_low`` and
        ``_high``: from the curvature of the log posterior (``information``), from where it has
        fallen by 1.92 (``profile``), from how much sessions or subjects differ if these are many
        (``clusters``) and from other draws of them (``bootstrap``). NaN where there is none.
    profiles : dict of str to ndarray
        For each of these, values in the first row and in the second how far the log posterior falls
        there as all else follows.
    priors : table or None
        For each of the annotator's priors at half and at twice its ``strength``, the most that any
        parameter moves (``most``) and which ones move by more than a standard error (``moved``).
    modes : list of Mode
        The distinct explanations of the stamps that the fit found, the one in use first.
    """

    remarks: list[str]
    stamps: int
    expected: float
    surplus: float
    residuals: Distance
    gaps: NDArray[np.float64]
    delays: Distance
    quantiles: Any
    points: Any
    over_session: Slope | None
    over_day: Slope | None
    sessions: Any
    subjects: Any
    annotators: Any
    families: Any
    intervals: Any
    profiles: dict[str, NDArray[np.float64]]
    priors: Any
    modes: list[Mode]

    def __repr__(self) -> str:
        stamps = f"{self.stamps} stamp{'' if self.stamps == 1 else 's'}"
        lines = [f"Diagnosis of {stamps}, {self.expected:.1f} expected"]
        return "\n".join(lines + [f"- {remark}" for remark in self.remarks])


def diagnosis_of(text: str, backend: str | None) -> Diagnosis:
    """A diagnosis as the library wrote it."""
    found = json.loads(text)

    def table(rows: list[dict[str, Any]], names: Sequence[str]) -> Any:
        return frame({name: _column(row.get(name) for row in rows) for name in names}, backend)

    def slope(own: dict[str, float] | None) -> Slope | None:
        return None if own is None else Slope(**own)

    families, priors, intervals = found["families"], found["priors"], found["intervals"]
    return Diagnosis(
        remarks=found["remarks"],
        stamps=found["stamps"],
        expected=found["expected"],
        surplus=found["surplus"],
        residuals=Distance(**found["residuals"]),
        gaps=np.array(found["gaps"], dtype=float),
        delays=Distance(**found["delays"]),
        quantiles=table(found["quantiles"], ("learned", "found", "low", "high")),
        points=table(found["points"], ("position", "hour", "delay", "weight")),
        over_session=slope(found["over_session"]),
        over_day=slope(found["over_day"]),
        sessions=table([_session(own) for own in found["sessions"]], _SESSION),
        subjects=table([own | _distances(own) for own in found["subjects"]], _GROUP),
        annotators=table([own | _distances(own) for own in found["annotators"]], _GROUP),
        families=None
        if families is None
        else table([own | own["held_out"] for own in families], _FAMILY),
        intervals=None
        if intervals is None
        else table([_intervals(own) for own in intervals], _INTERVALS),
        profiles={
            own["name"]: np.array(own["curve"], dtype=float).T
            for own in intervals or ()
            if own["curve"]
        },
        priors=None if priors is None else table([_prior(own) for own in priors], _PRIOR),
        modes=[mode_of(mode) for mode in found["modes"]],
    )


def hours_of(sessions: list[Session]) -> list[float | None]:
    """The hour of the day at time zero of each session, where it is known."""
    return [None if session.calendar is None else session.calendar.hour() for session in sessions]


_BANDS = ("residuals", "residuals_band", "delays", "delays_band")
_SESSION = (
    "session",
    "subject",
    "stamps",
    "expected",
    "surplus",
    "log_evidence_per_stamp",
    "deviations",
    *_BANDS,
    "remedy",
    "by",
    "gain",
)
_GROUP = ("name", "sessions", "stamps", "expected", *_BANDS)
_FAMILY = ("noise", "mean", "standard_error")
_WAYS = ("information", "profile", "clusters", "bootstrap")
_ENDS = ("low", "high")
_INTERVALS = ("name", "value", *(f"{way}_{end}" for way in _WAYS for end in _ENDS))
_PRIOR = ("prior", "strength", "most", "moved")


def _distances(own: dict[str, Any]) -> dict[str, float]:
    return {
        name + end: own[name][key]
        for name in ("residuals", "delays")
        for end, key in (("", "distance"), ("_band", "band"))
    }


def _session(own: dict[str, Any]) -> dict[str, Any]:
    remedy = own["remedy"] or {"kind": None, "gain": None}
    by = remedy.get("by", remedy.get("factor"))
    told = {"remedy": remedy["kind"], "by": by, "gain": remedy["gain"]}
    return own | _distances(own) | told


def _prior(own: dict[str, Any]) -> dict[str, Any]:
    return own | {"moved": ", ".join(moved["parameter"] for moved in own["moved"])}


def _intervals(own: dict[str, Any]) -> dict[str, Any]:
    ends = {way: own[way] or (None, None) for way in _WAYS}
    return own | {f"{way}_{end}": ends[way][k] for way in _WAYS for k, end in enumerate(_ENDS)}


def _column(values: Any) -> NDArray[Any]:
    """Numbers, with NaN where there is none, or texts."""
    values = list(values)
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if values and all(isinstance(value, int) for value in values):
        return np.array(values)
    return np.array([np.nan if value is None else value for value in values], dtype=float)
