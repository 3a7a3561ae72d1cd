"""A supervised detector for sktime's detection module: learn from one labelled series or several,
whose events were stamped late and sloppily.

    detector = StampDetector().fit(X, y)
    detector.predict(X_new)

`X` is a series or a panel of sktime, with a row for each instance and its features in columns; put
sktime's transformers before it for features of windows. `y` is sktime's frame of known events.
Positions of rows, as sktime has events, are too coarse for stamps, so ``ilocs`` may be fractions,
and a column ``times`` gives stamps by the index instead: as numbers or dates between those of rows
or beyond them. Of a panel, a column ``instances`` says to which series each stamp belongs. How long
events last and what ``labels`` they have is not read: every stamp is of a beginning, and of the one
class.

The released base class fits a series or a panel and has no other way to learn from several series.
``pip install 'unjitter[sktime]'`` brings sktime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ._calendar import Calendar, read_times
from ._check import number
from ._detector import EventDetector
from ._pooled import positive_column
from ._session import Session
from .stamps.source import FloatArray
from .stamps.stamps import finite

try:
    import pandas as pd
    from sktime.detection.base import BaseDetector
except ImportError as error:
    raise ImportError("unjitter.sktime needs sktime: pip install 'unjitter[sktime]'") from error

__all__ = ["StampDetector"]

PLACES, TIMES, SERIES = "ilocs", "times", "instances"


class StampDetector(BaseDetector):  # type: ignore[misc]
    """An :class:`unjitter.EventDetector` as a detector of sktime.

    Parameters
    ----------
    detector : EventDetector, optional
        What is learned, with its settings; it stays as it is. By default ``EventDetector()``.
    min_separation : float
        As in :meth:`EventDetector.detect`, in the unit of the index (seconds for dates). Where
        events are runs of rows (``labels="chain"``), ``predict`` gives the first row of each.

    Attributes
    ----------
    detector_ : EventDetector
        The fitted one, with the annotator's ``delay_``, ``spread_`` and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> from unjitter.sktime import StampDetector
    >>> X = pd.DataFrame({"depth": [0.0, 3.0, 0.0, 0.0] * 6})
    >>> y = pd.DataFrame({"times": [1.4, 6.3, 8.9, 13.6, 16.8, 22.1]})
    >>> detector = StampDetector().fit(X, y)
    >>> detector.predict(X)["ilocs"].tolist()
    [1, 5, 9, 13, 17, 21]
    >>> detector.align(X, y)["ilocs"].tolist()
    [1.0, 5.0, 9.0, 13.0, 17.0, 21.0]
    """

    _tags = {  # noqa: RUF012 - sktime reads the tags of a class from a plain dict.
        "authors": ["unjitter developers"],
        "python_dependencies": None,
        "task": "anomaly_detection",
        "learning_type": "supervised",
        "capability:multivariate": True,
        "capability:missing_values": False,
        "capability:update": False,
        "X_inner_mtype": ["pd.DataFrame", "pd-multiindex"],
    }

    def __init__(self, detector: EventDetector | None = None, min_separation: float = 0.0) -> None:
        self.detector = detector
        self.min_separation = min_separation
        super().__init__()

    def align(self, X: Any, y: Any) -> Any:
        """Find the place of every stamp.

        Parameters
        ----------
        X : series or panel of sktime
        y : DataFrame
            The stamps, as ``fit`` takes them.

        Returns
        -------
        DataFrame
            With the index of `y`: ``ilocs`` (where each stamp belongs, a fraction between two
            rows), ``times``, ``low`` and ``high`` (the same by the index, and an interval that
            holds it), ``p_spurious`` (that it is no stamp of an event), and ``instances`` of a
            panel.
        """
        self.check_is_fitted()
        found = []
        for own in _stamped(self._check_X(X), y):
            table = self.detector_.align(own.session, backend="numpy")
            columns = {PLACES: own.place(table["time"]), TIMES: own.dates(table["time"])}
            columns |= {name: own.dates(table[name]) for name in ("low", "high")}
            columns["p_spurious"] = table["p_spurious"]
            found.append(pd.DataFrame(own.named(columns), index=own.rows))
        return pd.concat(found).sort_index().set_axis(y.index, axis=0)

    def transform(self, X: Any) -> Any:
        """Whether each row is an event, or within one if events are runs of rows.

        Parameters
        ----------
        X : series or panel of sktime

        Returns
        -------
        DataFrame
            With ``labels`` 0 or 1, and the index of `X`.
        """
        self.check_is_fitted()
        inner = self._check_X(X)
        labels = []
        for own, begin, end, _ in self._events(inner):
            labels.append(np.zeros(len(own.session), dtype=np.int64))
            for first, last in zip(begin, end):
                labels[-1][first : last + 1] = 1
        return pd.DataFrame({"labels": np.concatenate(labels)}, index=inner.index)

    def _fit(self, X: Any, y: Any = None) -> StampDetector:
        number("min_separation", self.min_separation)
        own = EventDetector() if self.detector is None else clone(self.detector)
        self.detector_ = own.fit([series.session for series in _stamped(X, y)])
        return self

    def _update(self, X: Any, y: Any = None) -> StampDetector:
        if y is not None:
            raise NotImplementedError(
                "a StampDetector learns from all series at once: fit it again with all of them"
            )
        return self

    def _predict(self, X: Any) -> Any:
        found = [pd.DataFrame(own.named({PLACES: at})) for own, at, *_ in self._events(X)]
        return pd.concat(found, ignore_index=True)

    def _predict_points(self, X: Any) -> Any:
        # The base class hands on what it was given.
        return self._predict(self._check_X(X))

    def _predict_scores(self, X: Any) -> Any:
        return pd.DataFrame({"scores": np.concatenate([own for *_, own in self._events(X)])})

    def _transform_scores(self, X: Any) -> Any:
        scores = [positive_column(self.detector_.predict_proba(own.session)) for own in _series(X)]
        return pd.DataFrame({"scores": np.concatenate(scores)}, index=X.index)

    def _events(self, X: Any) -> Iterator[tuple[_Series, Any, Any, FloatArray]]:
        """The rows of each series at which events begin and end, and how probable these are."""
        for own in _series(X):
            found = self.detector_.detect_events(
                own.session, min_separation=self.min_separation, backend="numpy"
            )
            begin, end = (
                np.searchsorted(own.session.times, found[name]).astype(np.int64)
                for name in ("start", "end")
            )
            yield own, begin, end, found["probability"]

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for sktime's own checks."""
        return [{}, {"detector": EventDetector(restarts=0), "min_separation": 2.0}]


class _Series(NamedTuple):
    """One series: a session that counts seconds or numbers from its index."""

    session: Session
    calendar: Calendar | None
    # Its name in a panel.
    name: Any = None
    # Positions of its stamps in the frame of all, whose own index may have any.
    rows: Any = None

    def named(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns, after the name of the series in a panel."""
        if self.session.name is None:
            return columns
        names = pd.Series([self.name] * len(next(iter(columns.values()))), dtype=object)
        return {SERIES: names.infer_objects().to_numpy(), **columns}

    def dates(self, times: FloatArray) -> Any:
        """Times as the index has them."""
        if self.calendar is None:
            return times
        dates = pd.DatetimeIndex(self.calendar.dates(times))
        zone = self.calendar.time_zone
        return dates if zone is None else dates.tz_localize("UTC").tz_convert(zone)

    def place(self, times: FloatArray) -> FloatArray:
        """Fractional positions of times within the series."""
        places = np.interp(times, self.session.times, np.arange(float(len(self.session))))
        return np.asarray(places, dtype=np.float64)


def _series(X: Any) -> Iterator[_Series]:
    """The series of a panel, or the only one, without stamps."""
    if not isinstance(X.index, pd.MultiIndex):
        yield _one(X, X.index, None)
        return
    for name, own in X.groupby(level=0, sort=False):
        yield _one(own, own.index.droplevel(0), name)


def _one(X: Any, index: Any, name: Any) -> _Series:
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    when = read_times(index, "the index of X")
    calendar = when.calendar()
    seconds = when.seconds(calendar, "the index of X")
    title = None if name is None else str(name)
    return _Series(Session(X, seconds, [], name=title), calendar, name)


def _stamped(X: Any, y: Any) -> Iterator[_Series]:
    """The series with their stamps."""
    if y is None:
        raise ValueError("y is not given, expected a frame of stamps: the detector is supervised")
    known = [column for column in (TIMES, PLACES) if column in getattr(y, "columns", ())]
    if not known:
        raise ValueError(f"y has no column {PLACES!r} or {TIMES!r}, expected a frame of stamps")
    series = list(_series(X))
    if len(series) > 1 and SERIES not in y.columns:
        raise ValueError(f"X has {len(series)} series, but y no column {SERIES!r} of their names")
    if SERIES in y.columns:
        others = set(y[SERIES]) - {own.name for own in series}
        if others:
            raise ValueError(f"y has stamps of {others.pop()!r}, which is no series of X")
    for own in series:
        is_own = (
            (y[SERIES] == own.name).to_numpy() if SERIES in y.columns else np.ones(len(y), bool)
        )
        times = _times(own, y.loc[is_own, known[0]], known[0])
        yield own._replace(session=own.session.replace(events=times), rows=np.flatnonzero(is_own))


def _times(own: _Series, stamps: Any, column: str) -> FloatArray:
    """Stamps in the time of a series."""
    if column == TIMES:
        read = read_times(stamps, f"y: {TIMES}")
        zone = None if own.calendar is None else own.calendar.time_zone
        return finite(f"y: {TIMES}", read.in_zone(zone).seconds(own.calendar, "y"))
    if isinstance(stamps.dtype, pd.IntervalDtype):
        raise ValueError(f"y: {PLACES} holds segments, expected the place of each stamp")
    places = finite(f"y: {PLACES}", stamps)
    last = len(own.session) - 1
    beyond = np.flatnonzero((places < 0.0) | (places > last))
    if len(beyond):
        raise ValueError(
            f"y: {PLACES} holds {places[beyond[0]]:g}, expected places from 0 to {last}; a stamp "
            f"before or after the series is told by {TIMES!r}"
        )
    return np.interp(places, np.arange(last + 1.0), own.session.times)
