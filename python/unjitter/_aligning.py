"""Where stamps belong, by a fitted detector."""

from __future__ import annotations

from typing import Any

from ._aligned import CLASSES, END_PLACES, ENDS, events_table, instances_table, stamps_table
from ._base import Sessions
from ._check import whole
from ._classes import refuse_taken
from ._elsewhere import Elsewhere
from ._learned import Learned
from ._warnings import warn


class Aligning(Learned):
    """Tables of aligned stamps, instances and events."""

    def align(
        self, X: Sessions, *, level: float = 0.95, draws: int = 32, backend: str | None = None
    ) -> Any:
        """Find the place of every stamp.

        Parameters
        ----------
        X : Session or list of Session
            Sessions with stamps, from training or new. Or a :class:`unjitter.scale.Dataset`: the
            table is then a frame of its engine, computed when needed.
        level : float
            Probability of the interval from ``low`` to ``high``.
        draws : int
            Draws of the parameters that probabilities and intervals are averaged over, so that they
            account for what ``fit`` does not know. 0 takes the parameters as certain, and is
            faster.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default that of the sessions' frames, or pandas. "numpy",
            and the default without pandas, is a :class:`Table`.

        Returns
        -------
        DataFrame with one row per stamp
            ``session`` (its name), ``stamp`` (as pressed), ``time`` (median of where it belongs),
            ``low`` and ``high`` (an interval at `level`, which holds ``time``), ``instance`` (the
            place of its most probable instance in the session), ``instance_time``, ``p_instance``,
            ``best_instance`` (in the best alignment of all stamps together; -1 if the stamp comes
            from nowhere there) and ``p_spurious`` (from a negative instance, or from nowhere).
            Times and ``instance`` suppose that an instance gave the stamp.
            Times are dates if the sessions' were, in UTC if these are of several zones.
            Where events have ends: ``end_stamp`` (as told), ``end``, ``end_low``, ``end_high`` and
            ``end_p_spurious``, missing where a stamp tells none; no end is before its beginning.
            With several classes: ``aligned_class``, the likeliest class of its event, and
            ``p_class``, the probability that an event of that class gave the stamp.

            If the sessions are from one call of :func:`sessions_from_frames`, the rows are those of
            its `events` that belong to them, with that order and index, and the other columns of
            `events` follow, so ``events["t"] = detector.align(sessions)["time"]`` is right in each
            row; a column of `events` with one of the names above is refused. Other sessions, and
            sessions with replaced stamps, follow each other, and ``event`` is the position of each
            stamp among those given to the session.

        Examples
        --------
        >>> import pandas as pd
        >>> from unjitter import EventDetector, sessions_from_frames
        >>> instances = pd.DataFrame({"time": range(24), "depth": [0, 3, 0, 0] * 6})
        >>> pressed = [22.1, 1.4, 6.3, 8.9, 13.6, 16.8]
        >>> events = pd.DataFrame({"time": pressed, "who": list("abcabc")}, index=range(70, 76))
        >>> sessions = sessions_from_frames(instances, events, session=None)
        >>> detector = EventDetector().fit(sessions)
        >>> detector.align(sessions)[["stamp", "instance_time", "who"]].head(2)
            stamp  instance_time who
        70   22.1           21.0   a
        71    1.4            1.0   b
        """
        if isinstance(X, Elsewhere):
            self._check_fitted()
            how = {"level": float(level), "draws": whole("draws", draws)}
            more = dict.fromkeys(END_PLACES, "t") | {"end_p_spurious": "f"} if self.ends_ else {}
            if self._names():
                raise ValueError(
                    "stamps of a dataset have no classes, and this detector has "
                    f"{', '.join(self._names())}: align sessions in memory"
                )
            return X._table(self._fitted.to_json(), self.threshold_, "align", more, **how)
        sessions = self._known(X)
        self._refuse(sessions)
        knowing = self._knowing(sessions)
        for session in sessions:
            far = knowing.far_stamps(session)
            if far is not None:
                warn(*far, stacklevel=2)
        draws = whole("draws", draws)
        aligned = (
            knowing.align(session, self.use_labels, float(level), draws) for session in sessions
        )
        names = (*(ENDS if self.ends_ else ()), *(CLASSES if self._names() else ()))
        return stamps_table(sessions, (stamps for stamps, *_ in aligned), names, backend)

    def align_instances(self, X: Sessions, *, draws: int = 32, backend: str | None = None) -> Any:
        """The posterior of each instance, given stamps and features.

        Parameters
        ----------
        X : Session or list of Session
        draws : int
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            As in :meth:`align`.

        Returns
        -------
        DataFrame with one row per instance
            ``session``, ``instance`` (its position in the session), ``time``, ``p_detector`` (from
            features alone), ``p_positive`` (given everything), ``p_missed`` (positive without a
            stamp; with ``labels="chain"`` that of a whole run, at one of its instances) and
            ``observed``; with several classes also ``p_CLASS``, that it is an event of each. Rows
            and index are those of the `instances` of :func:`sessions_from_frames`, as in
            :meth:`align`.
        """
        sessions = self._known(X)
        refuse_taken(self._names())
        self._refuse(sessions)
        knowing = self._knowing(sessions)
        draws = whole("draws", draws)
        aligned = (knowing.align(session, self.use_labels, draws=draws) for session in sessions)
        return instances_table(sessions, (instances for _, instances, *_ in aligned), backend)

    def align_events(self, X: Sessions, *, draws: int = 32, backend: str | None = None) -> Any:
        """The events that somebody stamped, each once, however many people stamped it.

        Parameters
        ----------
        X : Session or list of Session
        draws : int
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            As in :meth:`align`.

        Returns
        -------
        DataFrame with one row per instance that has a stamp in the best alignment
            ``session``, ``instance`` (its position in the session), ``time``, ``p_positive`` (that
            it is an event, given all stamps and features), ``stamps`` (how many) and, if sessions
            say who gave their stamps, ``seen_by``: their names, with ``"; "`` between them. Events
            that nobody stamped are in :meth:`align_instances`. With ``labels="chain"`` an event is
            a run, of which ``instance`` and ``time`` are those of the first instance, and ``end``
            is the time of the last. With several classes there is ``class``, the likeliest one of
            the event.

        Examples
        --------
        >>> from unjitter import EventDetector, Gaussian, Session
        >>> pressed = {"ann": [1.1, 5.2, 13.2, 21.1], "bob": [1.3, 9.2, 13.0, 17.1]}
        >>> session = Session([[0.0], [3.0], [0.0], [0.0]] * 6, times=range(24), events=pressed)
        >>> detector = EventDetector(noise=Gaussian(spread=0.5)).fit([session])
        >>> detector.align_events(session)[["time", "seen_by"]].head(3)
           time   seen_by
        0   1.0  ann; bob
        1   5.0       ann
        2   9.0       bob
        """
        sessions = self._known(X)
        self._refuse(sessions)
        knowing = self._knowing(sessions)
        draws = whole("draws", draws)
        found = (knowing.align_events(session, self.use_labels, draws) for session in sessions)
        are_runs, have_classes = self._labels == "chain", bool(self._names())
        return events_table(sessions, found, are_runs, have_classes, backend)
