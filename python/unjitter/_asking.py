"""Questions about a fitted detector: how sure it is, how well it fits, what more would tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._agreement import Agreement, agreement_of
from ._base import Sessions, apart
from ._check import number, whole
from ._diagnosis import Diagnosis, diagnosis_of, hours_of
from ._floats import floats
from ._groups import groups_table
from ._learned import Learned
from ._plan import Plan, plan_of
from ._progress import Bar


class Asking(Learned):
    """Intervals, groups, agreement, diagnosis and plans."""

    def confidence_intervals(self, level: float = 0.95) -> dict[str, NDArray[np.float64]]:
        """Intervals of everything that was learned.

        They are symmetric on the scale on which an estimate is about normal: the logarithm of a
        spread or rate per time, the log-odds of a share. Standard errors are in `standard_errors_`.

        Parameters
        ----------
        level : float
            Probability that an interval holds the truth, between 0 and 1.

        Returns
        -------
        dict of str to ndarray
            (low, high) of "delay", "spread", "miss_rate", "false_rate" and "background_rate", and
            an array of shape (n, 2) for each of `parameters_`. NaN where a value was held, or where
            the fit does not know: it did not converge, it has more than 200 parameters, the data
            cannot tell some of them, or :meth:`use_mode` chose another explanation.
        """
        self._check_fitted()
        own = self._fitted.estimates(float(level))
        return {name: rows[0, 1:] if "." not in name else rows[:, 1:] for name, rows in own.items()}

    def groups(self, level: float = 0.95, *, backend: str | None = None) -> Any:
        """What was learned of each group of stamps, if something differs between groups.

        Parameters
        ----------
        level : float
            Probability that an interval holds the truth, between 0 and 1.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default of pandas or, without it, a :class:`Table`.

        Returns
        -------
        DataFrame with one row per group and number
            ``what`` differs (as in `varies`) and ``by`` what, the name of the ``group``, its own
            ``value`` (its delay, spread or rate; the offset of its clock, or what that gains per
            unit of time), with ``standard_error`` and the interval from ``low`` to ``high``, which
            are NaN where they are not known.

        Examples
        --------
        >>> from unjitter import EventDetector, simulate
        >>> sessions = simulate.respiration(seed=0)
        >>> detector = EventDetector(varies={"delay": "subject"}).fit(sessions)
        >>> detector.groups(level=0.8)[["what", "by", "group"]].head(2)
            what       by      group
        0  delay  subject  subject-1
        1  delay  subject  subject-2
        """
        self._check_fitted()
        return groups_table(self._fitted, level, backend)

    @property
    def groups_(self) -> Any:
        """What was learned of each group of stamps: see :meth:`groups`."""
        return self.groups()

    def agreement(self, X: Sessions, *, backend: str | None = None) -> Agreement:
        """How far annotators of the same sessions agree.

        Parameters
        ----------
        X : Session or list of Session
            Those with several annotators count.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The type of its tables, as in :meth:`align`.

        Returns
        -------
        Agreement
            ``annotators``: how many events each saw. ``pairs``: Cohen's kappa of two, with each
            stamp at its nearest instance, and where it belongs.

        Examples
        --------
        >>> from unjitter import EventDetector, Gaussian, Session
        >>> pressed = {"ann": [1.1, 5.2, 13.2, 21.1], "bob": [1.3, 9.2, 13.0, 17.1]}
        >>> session = Session([[0.0], [3.0], [0.0], [0.0]] * 6, times=range(24), events=pressed)
        >>> detector = EventDetector(noise=Gaussian(spread=0.5)).fit([session])
        >>> detector.agreement(session).annotators[["annotator", "stamps"]]
          annotator  stamps
        0       ann       4
        1       bob       4
        """
        sessions = self._known(X)
        knowing = self._knowing(sessions)
        threads = joblib.effective_n_jobs(self.n_jobs)
        text = _core.agreement(knowing, sessions, self.use_labels, threads)
        return agreement_of(text, backend)

    def diagnose(
        self,
        X: Sessions,
        *,
        priors: bool = True,
        families: bool = False,
        profiles: bool = True,
        bootstrap: int = 0,
        backend: str | None = None,
    ) -> Diagnosis:
        """Ask how well the model describes sessions, and where it does not.

        A model with ``labels="chain"`` is refused: what is asked supposes independent labels.

        Parameters
        ----------
        X : Session or list of Session
            Usually those of ``fit``.
        priors : bool
            Whether to ask how much the annotator's priors matter: where two Newton steps from the
            optimum lead if each has half or twice its strength.
        families : bool
            Whether to compare noise models by the evidence of sessions left out of learning. This
            learns each of them anew, from where the fit ended, and takes some times as long as a
            fit.
        profiles : bool
            Whether to follow how the log posterior falls as each number that describes the
            annotator moves away: the intervals that need no parabola.
        bootstrap : int
            Other draws of the sessions (of subjects, where they are known) to learn from: the slow
            check of intervals. 200 are usual, 40 the least that tell anything.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The type of its tables, as in :meth:`align`.

        Returns
        -------
        Diagnosis
            Printed, it says what stands out.

        Examples
        --------
        >>> from unjitter import EventDetector, simulate
        >>> sessions = simulate.respiration(seed=0, subjects=4)
        >>> found = EventDetector().fit(sessions).diagnose(sessions)
        >>> found.residuals.is_outside
        False
        >>> len(found.sessions) == len(sessions)
        True
        """
        sessions = self._known(X)
        self._refuse(sessions)
        knowing = self._knowing(sessions)
        unit = " s" if all(session.calendar is not None for session in sessions) else ""
        threads = joblib.effective_n_jobs(self.n_jobs)
        questions = (bool(priors), bool(families), bool(profiles), whole("bootstrap", bootstrap))
        with Bar("diagnose", "step", enabled=self.verbose > 0) as bar:
            text = _core.diagnose(
                knowing,
                sessions,
                self.use_labels,
                hours_of(sessions),
                questions,
                unit,
                threads,
                bar.show,
            )
        return diagnosis_of(text, backend)

    def plan(
        self,
        X: Sessions,
        *,
        more: Sequence[int] | None = None,
        labelled: Sequence[int] | None = None,
        level: float = 0.95,
        draws: int = 64,
        refits: int = 0,
        seed: int = 0,
    ) -> Plan:
        """What more sessions like these, or labels for some of them, would be worth.

        A model with ``labels="chain"`` is refused: what is asked supposes independent labels.

        Parameters
        ----------
        X : Session or list of Session
            Usually the sessions of ``fit``.
        more : list of int, optional
            Numbers of further stamped sessions; by default half, once, twice and four times those
            in `X`.
        labelled : list of int, optional
            Numbers of the sessions in `X` to label by hand; by default one, a quarter, half and
            all.
        level : float
            Probability of the intervals, between 0 and 1.
        draws : int
            Draws of the detector that the expected F1 is averaged over.
        refits : int
            How often to learn again from a quarter, half and three quarters of the sessions, as a
            check of the expected F1.
        seed : int
            Of draws and refits.

        Returns
        -------
        Plan

        Examples
        --------
        >>> from unjitter import EventDetector, simulate
        >>> sessions = simulate.respiration(seed=0)
        >>> plan = EventDetector().fit(sessions).plan(sessions, more=[13, 39], labelled=[3])
        >>> 0.3 < plan.worth < 0.8   # exact labels for each stamp
        True
        >>> plan.to_frame()[["sessions", "labelled"]].to_dict("list")
        {'sessions': [13, 26, 52, 13], 'labelled': [0, 0, 0, 3]}
        """
        sessions = apart(self._known(X))
        self._refuse(sessions)
        knowing = self._knowing(sessions)
        options = {
            "more": None if more is None else [whole("more", n) for n in more],
            "labelled": None if labelled is None else [whole("labelled", n) for n in labelled],
            "level": number("level", level),
            "draws": whole("draws", draws),
            "refits": whole("refits", refits),
            "seed": whole("seed", seed),
        }
        threads = joblib.effective_n_jobs(self.n_jobs)
        with Bar("plan", "refit", enabled=self.verbose > 0) as bar:
            return plan_of(
                knowing.plan(
                    sessions,
                    json.dumps(options),
                    self.threshold_,
                    self.use_labels,
                    threads,
                    bar.show,
                )
            )

    def log_evidence(self, X: Sessions) -> float:
        """log p(stamps | features, times) of sessions, held out or not; the sum of many.

        If numbers of the annotator differ between groups, those of a group that ``fit`` has not
        seen are integrated out, for each session by itself.
        """
        sessions = self._known(X)
        self._named(sessions)
        return float(
            sum(self._fitted.log_evidence(session, self.use_labels) for session in sessions)
        )

    def delay_density(self, delays: ArrayLike) -> NDArray[np.float64]:
        """The learned density of stamp - instance time, at each of `delays`."""
        self._check_fitted()
        return self._fitted.delay_density(floats(delays, "delays"))
