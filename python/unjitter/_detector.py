"""The scikit-learn estimator: one session is one sample."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from . import _core
from ._agreement import Agreement, agreement_of
from ._aligned import CLASSES, END_PLACES, ENDS, events_table, instances_table, stamps_table
from ._annotators import Names
from ._base import Detector, Sessions, are_sessions, learnable, seed_of, sessions_of
from ._check import asked_threshold, no_labels_apart, number, one_of, settings, span, whole
from ._classes import UNKNOWN, class_scores, named_classes, refuse_taken, told_classes
from ._classifiers import Classifier, classifier_model
from ._diagnosis import Diagnosis, diagnosis_of, hours_of
from ._elsewhere import Elsewhere
from ._flat import sessions_from_arrays
from ._floats import floats
from ._groups import GROUPS, groups_table, looks_for_clocks, named, variations, varying
from ._models import Counts, counts_model
from ._modes import modes_of
from ._noise import Noise, noise_model
from ._plan import Plan, plan_of
from ._priors import Priors
from ._progress import Bar
from ._session import Session
from ._tables import frame
from ._warnings import warn


class EventDetector(Detector):
    """Learn a detector of events, and the annotator's sloppiness, from sloppy timestamps.

    One session is one sample: ``fit`` takes a list of :class:`Session`, so that ``KFold``,
    ``GridSearchCV`` and the rest of scikit-learn split by recording and nothing leaks.

    Parameters
    ----------
    classifier : {"logistic", "kernel", "mlp"} or Logistic, Kernel, Mlp
        From features to probability.
    counts : {"auto", "bernoulli", "categorical", "poisson", "geometric"} or an object of that kind
        Number of stamps per instance. "auto" is at most one, or any number (Poisson) if the
        evidence says so, with a warning. A value given in an object is fixed and not learned.
    noise : str or an object such as Gaussian, StudentT or Uniform
        Delay of stamps from their instance, likewise: ``"gaussian"`` learns delay and spread,
        ``Gaussian(delay=0.0)`` the spread alone. Any noise model is given by its class or by its
        name in snake case.
    regularisation : float
        Precision (1 / variance) of the normal prior on the classifier's weights, on standardised
        features.
    priors : Priors, optional
        All other priors.
    time_unit : float, optional
        The unit in which priors measure delays and spreads; by default the median spacing of
        instances.
    alignment : {"free", "ordered"}
        Which alignments count. "free": stamps may come in another order than their instances; the
        sum over all alignments is approximated by belief propagation. "ordered": stamps keep the
        order of their instances, as in the paper; the sum is exact, but if presses scatter further
        than events are apart, the spread comes out too small.
    labels : {"independent", "chain"}
        How labels of neighbouring instances depend on each other. "independent": not at all, given
        the features; an event is one instance. "chain": they form runs, so that an event covers
        several instances and is stamped once, as where windows overlap or events last longer than
        one of them. How long runs are is learned, and may depend on irregular times and gaps.
        ``predict_proba`` then smooths over a session, and :meth:`detect_events` gives events with
        start and end.
    stamps : {"onset", "end", "presence"}
        What of a run stamps are about, with ``labels="chain"``: its first instance, its last one,
        or any of its instances.
    delay : (earliest, latest), optional
        The range in which delays are likely, in the unit of the times: ``delay=(0.2, 3.0)`` says
        that presses are likely 0.2 to 3 late. It replaces the prior on the delay and chooses among
        explanations of the stamps (`modes_`), of which there may be several if features look at
        neighbouring instances.
    varies : mapping of str to str, optional
        Numbers of the annotator that differ between groups of stamps: ``{"delay": "annotator",
        "spread": "subject"}``. "delay", "offset", "drift", "spread", "miss_rate", "false_rate" or
        "background_rate" by "annotator", "session", "subject", "device", "clock" or, if there are
        several, "class" of events, which share a clock. How much groups differ is learned too, so
        one with few stamps is taken to be like the others.
    clock : {"session", "clock", "device", "subject", "annotator"}, optional
        What has a clock of its own, which may be off and run fast or slow: ``clock="session"`` is
        ``varies={"offset": "session", "drift": "session"}``. Clocks are first looked for, as far
        as `clock_range`, and all is then learned afresh.
    clock_range : float, optional
        The furthest that clocks, or delays that vary, are looked for; by default twice the mean
        time between stamps.
    frozen : mapping of str to float or array-like, optional
        Further parameters to fix, by their names in `parameters_`, whole
        (``"classifier.intercept"``) or one entry (``"classifier.weights[2]"``).
    restarts : int
        Starts besides the one that aligns each stamp to the nearest instance: one with a wide
        spread, some at the times before the stamps at which features change most, and beyond these
        at random.
    sample : int
        Stamps, about, that starts and everything else that takes many evaluations are decided on if
        there are more; all sessions together then take a dozen further steps. Which sessions these
        are depends on their names.
    threshold : float or "expected_f1"
        Probability from which ``predict`` returns 1 and ``detect`` finds an event. "expected_f1"
        lets ``fit`` find the one with the best expected F1 on the training sessions, given their
        stamps. It needs no labels, and suits a detector whose probabilities stay small because of
        a strong `regularisation`; see `threshold_`.
    check : bool
        Whether ``fit`` and ``align`` refuse data that is certainly wrong, such as stamps in another
        unit or off by hours, and ``fit`` warns of suspicious data.
    use_labels : bool
        Whether to learn from labels too, if sessions have them. Off by default, so that scores on
        them are honest.
    max_iter : int
        Iterations of the optimiser per start.
    random_state : int, RandomState instance or None
        For restarts, initial weights and landmarks.
    n_jobs : int, optional
        Threads; as in scikit-learn, None is 1 (or joblib's context) and -1 is all. The result does
        not depend on it.
    verbose : int
        Above 0, fitting shows a progress bar.

    Attributes
    ----------
    delay_, spread_ : float
        Mean and standard deviation of stamp - instance time.
    miss_rate_, false_rate_ : float
        P(no stamp | positive instance), P(stamp | negative instance).
    background_rate_ : float
        Stamps per unit of time that belong to no instance, such as accidental presses or presses
        while the sensor was off.
    ends_ : dict of str to float, or None
        The same numbers (``delay``, ``spread``, ...) of how the annotator tells the ends of bouts,
        if events have ends. `delay_` and the others are then those of beginnings.
    onset_rate_, offset_rate_, run_length_ : float
        With ``labels="chain"``: runs that begin per unit of time outside of runs, and that end per
        unit of time inside of them; and one over the latter, the mean length of a run. Features
        tell too how long each run is, so that these are less certain than what is detected.
    modes_ : list of Mode
        The distinct explanations of the stamps that ``fit`` found, the one in use first; see
        :meth:`use_mode`. Empty in models of the first format of model files.
    coef_ : ndarray of shape (1, n_features), intercept_ : ndarray of shape (1,)
        Of a logistic classifier, for raw features.
    parameters_ : dict of str to ndarray
        All learned parameters, by name.
    standard_errors_ : dict of str to float or ndarray
        Of "delay", "spread", "miss_rate", "false_rate", "background_rate" and of each of
        `parameters_`; NaN where they are not known. See :meth:`confidence_intervals`.
    groups_ : DataFrame
        What was learned of each group of stamps, if something differs between groups; see
        :meth:`groups`.
    log_evidence_ : float
        log p(stamps | features, times) of the training sessions.
    threshold_ : float
        The threshold in use: `threshold` if that is a number, else the one that ``fit`` found. The
        expected F1 of k found instances is taken as 2 Σ_found q / (k + Σ q), with the probabilities
        q that instances are positive given stamps and features (``align_instances`` with
        ``draws=0``).
    converged_ : bool
    n_iter_ : int
        Iterations of the best start.
    time_unit_ : float
        The unit in which priors measured time.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If the sessions have feature names.
    classes_ : ndarray
        [0, 1]; None (no event) and the names of classes, if sessions have several.
    confusion_ : ndarray of shape (n_classes, n_classes) or None
        Probabilities of what events of each class (rows) are recorded as (columns), if there are
        several.

    Examples
    --------
    >>> from unjitter import EventDetector, simulate
    >>> sessions = simulate.respiration(seed=0, subjects=4)
    >>> detector = EventDetector().fit(sessions[:3])
    >>> detector.predict_proba(sessions[3]).shape == (len(sessions[3]), 2)
    True
    """

    delay_: float
    spread_: float
    miss_rate_: float
    false_rate_: float
    background_rate_: float
    _fitted: _core.Fitted
    _learned: ClassVar[Any] = _core.Fitted

    def __init__(
        self,
        classifier: str | Classifier = "logistic",
        counts: str | Counts = "auto",
        noise: str | Noise = "gaussian",
        *,
        regularisation: float = 1.0,
        priors: Priors | None = None,
        time_unit: float | None = None,
        alignment: str = "free",
        labels: str = "independent",
        stamps: str = "onset",
        delay: tuple[float, float] | None = None,
        varies: Mapping[str, str] | None = None,
        clock: str | None = None,
        clock_range: float | None = None,
        frozen: Mapping[str, Any] | None = None,
        restarts: int = 6,
        sample: int = 20_000,
        threshold: float | str = 0.5,
        check: bool = True,
        use_labels: bool = False,
        max_iter: int = 500,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.classifier = classifier
        self.counts = counts
        self.noise = noise
        self.regularisation = regularisation
        self.priors = priors
        self.time_unit = time_unit
        self.alignment = alignment
        self.labels = labels
        self.stamps = stamps
        self.delay = delay
        self.varies = varies
        self.clock = clock
        self.clock_range = clock_range
        self.frozen = frozen
        self.restarts = restarts
        self.sample = sample
        self.threshold = threshold
        self.check = check
        self.use_labels = use_labels
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Sequence[Session] | ArrayLike,
        y: None = None,
        *,
        times: ArrayLike | None = None,
        events: Any = None,
        groups: ArrayLike | None = None,
    ) -> EventDetector:
        """Learn from sessions, or from one flat table.

        Parameters
        ----------
        X : list of Session, or array-like of shape (n_instances, n_features)
            The sessions; or the features of all instances, with `times` and `events`.
        y : ignored
            Values for a splitter of scikit-learn, one per session. Labels of instances belong to
            the sessions and are refused here.
        times : array-like of shape (n_instances,), optional
            Times of the rows of a flat table.
        events : array-like, or mapping of group to array-like, optional
            Stamps of a flat table; with `groups`, those of each group.
        groups : array-like of shape (n_instances,), optional
            The session of each row of a flat table; one session by default.

        Returns
        -------
        self
        """
        no_labels_apart(y)
        if isinstance(X, Elsewhere):
            return self._fit_elsewhere(X)
        sessions = self._training(X, times, events, groups)
        refuse_taken(_classes(sessions))
        named(sessions, (own["by"] for own in self._variations()))
        threshold = asked_threshold(self.threshold)
        model, options = self._model(), self._options()
        for words in self._refuse(sessions):
            warn("inspection", words, stacklevel=2)
        with Bar("fit", "it", enabled=self.verbose > 0) as bar:
            fitted = _core.fit(
                settings(model),
                settings(options),
                sessions,
                self.use_labels,
                json.dumps(_notes(sessions)),
                threshold,
                bar.show,
            )
        for kind, words in fitted.warnings():
            warn(kind, words, stacklevel=2)
        self._adopt(fitted)
        return self

    def _fit_elsewhere(self, X: Elsewhere, left_out: tuple[int, int] | None = None) -> Any:
        """Learns from sessions that are not in memory, perhaps without a fold."""

        def inspected(sample: list[Session]) -> str:
            learnable(sample)
            for words in self._refuse(sample):
                warn("inspection", words, stacklevel=4)
            return json.dumps(_notes(sample))

        with Bar("fit", "it", enabled=self.verbose > 0) as bar:
            fitted = X._fit(
                settings(self._model()),
                settings(self._options()),
                self.use_labels,
                asked_threshold(self.threshold),
                inspected,
                bar.show,
                left_out,
            )
        for kind, words in fitted.warnings():
            warn(kind, words, stacklevel=3)
        self._adopt(fitted)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Probability that each instance is negative and positive, from its features alone.

        With ``labels="chain"`` from those of its whole session, which an array has no times for.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session
            Or a :class:`unjitter.scale.Dataset`.

        Returns
        -------
        ndarray of shape (n_instances, 2), or a list of them
            With several classes a column for no event and for each class, as in `classes_`. For a
            dataset a frame of its engine, computed when needed: ``session``, ``time``,
            ``probability`` (of any event) and ``event``; with several classes also ``class`` (the
            likeliest, if there is an event) and ``p_CLASS`` of each.
        """
        if isinstance(X, Elsewhere):
            return self._predicted(X)
        if self._names():
            return self._each_class(X, lambda p: np.column_stack([1.0 - p.sum(axis=1), p]))
        return super().predict_proba(X)

    def predict(self, X: Any) -> Any:
        """Label of each instance: 1 where the probability is at least `threshold_`.

        With several classes the likeliest one where that of any event is, and None elsewhere.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session
            Or a :class:`unjitter.scale.Dataset`.

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
            For a dataset the same frame as of :meth:`predict_proba`.
        """
        if isinstance(X, Elsewhere):
            return self._predicted(X)
        names = self._names()
        if names:
            return self._each_class(X, lambda p: told_classes(names, p, self.threshold_))
        return super().predict(X)

    def class_scores(self, X: Sessions, *, backend: str | None = None) -> Any:
        """How well each class is found, over the labelled instances of sessions.

        Parameters
        ----------
        X : Session or list of Session
            With labels that name classes, or say that there is no event; others are left out.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            As in :meth:`align`.

        Returns
        -------
        DataFrame with one row per class, and one for each average
            ``class``, ``precision``, ``recall``, ``f1`` and ``events``. "macro" is the mean of all
            classes, "micro" counts all events together.
        """
        known_sessions = self._known(X)
        names, truth, found = self._fitted.classes(), [], []
        if not names:
            raise ValueError("the detector has learned no classes: score it by metrics.f1_scorer")
        for session in known_sessions:
            classes = _true_classes(session)
            if classes is None or session.labels is None:
                continue
            known = session.labels != UNKNOWN
            truth += list(classes[known])
            found += list(self._told(session, names)[known])
        if not truth:
            raise ValueError("no session has labels that name classes")
        columns = class_scores(names, truth, found)
        return frame({name: np.array(own) for name, own in columns.items()}, backend)

    def _told(self, session: Session, names: list[str]) -> Names:
        """The class of each instance that is an event, None for the others."""
        found = self.predict(session)
        # Events of a single class are labelled 1.
        return found if self._names() else named_classes(names, found - 1)

    def _names(self) -> list[str]:
        """Classes of events, if there are several."""
        self._check_fitted()
        names = self._fitted.classes()
        return names if len(names) > 1 else []

    def _each_class(self, X: Any, told: Any) -> Any:
        """What is told of the probabilities of classes, for instances or sessions."""
        count = len(self._names())
        if are_sessions(X):
            each = [
                told(self._fitted.predict_classes_session(session).reshape(-1, count))
                for session in self._known(X)
            ]
            return each[0] if isinstance(X, Session) else each
        return told(self._fitted.predict_classes(self._rows(X)).reshape(-1, count))

    def _predicted(self, X: Elsewhere) -> Any:
        self._check_fitted()
        names = self._names()
        more = {**({"class": "s"} if names else {}), **{f"p_{name}": "f" for name in names}}
        return X._table(self._fitted.to_json(), self.threshold_, "predict", more)

    def cross_validate(self, X: Elsewhere, folds: int = 5) -> list[Any]:
        """Score detectors like this one on sessions that they have not learned from.

        For sessions in memory, scikit-learn has ``cross_validate``.

        Parameters
        ----------
        X : unjitter.scale.Dataset
        folds : int
            Parts that are left out, one after the other. Sessions of a subject stay together; the
            part of each depends on its name alone.

        Returns
        -------
        list of unjitter.scale.Scores
            One for each fold.
        """
        if whole("folds", folds) < 2:
            raise ValueError(f"folds is {folds}, expected at least 2")
        scores = []
        for part in range(folds):
            own = clone(self)._fit_elsewhere(X, (part, folds))
            scores.append(X._score(own._fitted.to_json(), own.threshold_, (part, folds)))
        return scores

    def use_mode(self, k: int, X: Sessions | None = None) -> EventDetector:
        """Use another explanation of the stamps that ``fit`` found.

        If features look at neighbouring instances, a detector that fires early and a longer delay
        explain stamps as well as a detector and a delay that are right, and ``fit`` may choose the
        wrong ones; it warns if another is about as good. `delay` and labels help it to choose.

        Parameters
        ----------
        k : int
            Position in `modes_`. The mode in use moves to the front; 0 is that one.
        X : Session or list of Session, optional
            Where ``threshold="expected_f1"`` finds the threshold of this mode, usually the sessions
            of ``fit``. A detector does not keep them, so without `X` the threshold stays that of
            the mode before, which is not the best of another detector.

        Returns
        -------
        self
            With the attributes of that mode.
        """
        self._check_fitted()
        if whole("k", k) >= max(len(self.modes_), 1):
            raise ValueError(f"k is {k!r}, expected a whole number below {len(self.modes_)}")
        sessions = None if X is None else self._known(X)
        if sessions is not None and not isinstance(self.threshold, str):
            raise ValueError(f"X is for threshold='expected_f1', and threshold is {self.threshold}")
        threads = joblib.effective_n_jobs(self.n_jobs)
        self._adopt(self._fitted.use_mode(int(k), sessions, self.use_labels, threads))
        return self

    def predict_stamped(self, X: Sessions | ArrayLike) -> Any:
        """Probability that the annotator stamps each instance: the only one that stamps determine.

        It is ``false_rate_ + (1 - miss_rate_ - false_rate_) * p`` for an instance that is positive
        with probability p. Rates and p can compensate each other; this probability stays the same.
        With ``labels="chain"`` p is the probability that an instance is what `stamps` are about.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
        """
        if are_sessions(X):
            each = [self._fitted.predict_stamped_session(session) for session in self._known(X)]
            return each[0] if isinstance(X, Session) else each
        return self._fitted.predict_stamped(self._rows(X))

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
        sessions = _apart(self._known(X))
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

    def adapted(self, X: Sessions) -> EventDetector:
        """A detector that also knows how groups of these sessions differ.

        If numbers of the annotator differ between groups (`varies`, `clock`), those of a group that
        ``fit`` has not seen are learned from its stamps, with the detector and everything else as
        it is. Their clocks are looked for first, with a warning of those that were not found.
        ``align``, ``diagnose`` and the like do this by themselves, for the sessions of each call.

        Parameters
        ----------
        X : Session or list of Session

        Returns
        -------
        EventDetector
            Another one; this stays as it is.

        Examples
        --------
        >>> from unjitter import EventDetector, simulate
        >>> sessions = simulate.respiration("puffmarker", seed=0)
        >>> known = [session for session in sessions if session.subject != "subject-6"]
        >>> new = [session for session in sessions if session.subject == "subject-6"]
        >>> detector = EventDetector(varies={"delay": "subject"}).fit(known)
        >>> list(detector.adapted(new).groups_["group"])[-2:]
        ['subject-5', 'subject-6']
        """
        sessions = self._known(X)
        self._refuse(sessions)
        other = type(self)(**self.get_params(deep=False))
        other._adopt(self._knowing(sessions))
        return other

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

    def score(self, X: Sessions, y: None = None) -> float:
        """F1 over all labelled instances of sessions at `threshold_`; with several classes the mean
        of theirs, but for a dataset that of events of any class.

        Sessions without labels are left out. If no session has labels, this is a `ValueError` and
        never another score: rank models of unlabelled sessions with
        ``scoring=metrics.log_evidence_scorer``.
        """
        from . import metrics

        no_labels_apart(y)
        if not isinstance(X, Elsewhere) and self._names():
            return metrics.class_f1_scorer(self, X)
        if isinstance(X, Elsewhere):
            self._check_fitted()
            return float(X._score(self._fitted.to_json(), self.threshold_).f1)
        return metrics.f1_scorer(self, X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, whole or not at all; the command line reads it too."""
        self._check_fitted()
        own: dict[str, Any] = {"use_labels": bool(self.use_labels)}
        if isinstance(self.threshold, str):
            own["threshold"] = self.threshold
        self._fitted.save(os.fspath(path), self.threshold_, json.dumps({"python": own}))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EventDetector:
        """Read a model file written here or by the command line."""
        return cls._from_fitted(_core.Fitted.load(os.fspath(path)))

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The detector as an ONNX model, from features to probability.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Returns
        -------
        onnx.ModelProto
            With input ``X`` (float64, instances x features) and outputs ``probability`` and
            ``log_odds`` (float64, instances).
        """
        from ._onnx import to_onnx

        if self._names():
            raise ValueError(
                f"to_onnx does not work with several classes of events, and this detector has "
                f"{', '.join(self._names())}"
            )
        return to_onnx(self, path)

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram and, after fitting, the learned annotator."""
        return str(super()._repr_html_inner()) + self._learned_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in bundle:
            bundle["text/html"] += self._learned_html()
        return bundle

    def _learned_html(self) -> str:
        from ._html import learned_html

        return learned_html(self) if hasattr(self, "delay_") else ""

    @classmethod
    def _from_fitted(cls, fitted: _core.Fitted) -> EventDetector:
        from ._restore import parameters_of

        detector = cls(**parameters_of(fitted))
        detector._adopt(fitted)
        return detector

    def _training(
        self, X: Any, times: ArrayLike | None, events: Any, groups: ArrayLike | None
    ) -> list[Session]:
        flat = [("times", times), ("events", events), ("groups", groups)]
        given = [name for name, value in flat if value is not None]
        if isinstance(X, Sequence) and len(X) == 0 and not given:
            raise ValueError("no sessions were given")
        if not are_sessions(X):
            return sessions_from_arrays(X, times, events, groups)
        if given:
            raise ValueError(f"{given[0]} is for flat arrays; sessions have their own")
        sessions = sessions_of(X)
        learnable(sessions)
        return _apart(sessions)

    def _refuse(self, sessions: list[Session]) -> list[str]:
        """Refuses data that is certainly wrong if `check` is on; returns suspicious findings."""
        if not self.check:
            return []
        width = sessions[0].X.shape[1]
        if any(session.X.shape[1] != width for session in sessions):
            return []  # for the library to refuse
        names = sessions[0].feature_names or [f"X[:, {k}]" for k in range(width)]
        dated = all(session.calendar is not None for session in sessions)
        for_clocks = looks_for_clocks(self._variations())
        problems, suspicious = _core.inspect(sessions, names, dated, for_clocks)
        if problems:
            raise ValueError(f"{'; '.join(problems)} (check=False goes on all the same)")
        return suspicious

    def _named(self, sessions: list[Session]) -> list[dict[str, str]]:
        """What differs between groups; refuses sessions of which nobody can tell the group."""
        differs = varying(self._fitted)
        named(sessions, (own["by"] for own in differs))
        return differs

    def _knowing(self, sessions: list[Session]) -> _core.Fitted:
        """The fitted model with what differs for the groups of these sessions, seen or not; for
        methods that users call, whose line a warning names."""
        if not self._named(sessions):
            return self._fitted
        # A session that is given twice says no more than one.
        distinct = list({id(session): session for session in sessions}.values())
        threads = joblib.effective_n_jobs(self.n_jobs)
        known, warning = _core.adapted(self._fitted, distinct, self.use_labels, threads)
        if warning is not None:
            warn(*warning, stacklevel=3)
        return known

    def _variations(self) -> list[dict[str, str]]:
        return variations(self.varies, self.clock, GROUPS)

    def _model(self) -> dict[str, Any]:
        counts, noise = counts_model(self.counts), noise_model(self.noise)
        priors = Priors() if self.priors is None else self.priors
        if not isinstance(priors, Priors):
            raise ValueError(f"priors is {priors!r}, expected an object of the class Priors")
        if number("regularisation", self.regularisation) < 0.0:
            raise ValueError(
                f"regularisation is {self.regularisation}, expected a number of at least 0"
            )
        held = {
            f"{part}.{name}": values
            for part, model in (("counts", counts), ("noise", noise))
            for name, values in model.values().items()
        }
        for name, values in ({} if self.frozen is None else self.frozen).items():
            held[str(name)] = [float(value) for value in np.atleast_1d(values)]
        return {
            "classifier": classifier_model(self.classifier).settings(),
            "counts": counts.settings(),
            "noise": noise.settings(),
            "priors": priors.settings(self.regularisation),
            "time_unit": None if self.time_unit is None else number("time_unit", self.time_unit),
            "alignment": one_of("alignment", self.alignment, ("free", "ordered")),
            "labels": one_of("labels", self.labels, ("independent", "chain")),
            "stamps": one_of("stamps", self.stamps, ("onset", "end", "presence")),
            "delay": None if self.delay is None else span("delay", self.delay),
            "varies": self._variations(),
            "clock_range": (
                None if self.clock_range is None else number("clock_range", self.clock_range)
            ),
            "frozen": [{"name": name, "values": values} for name, values in held.items()],
        }

    def _options(self) -> dict[str, Any]:
        threads = joblib.effective_n_jobs(self.n_jobs)
        return {
            "restarts": whole("restarts", self.restarts),
            "seed": seed_of(self.random_state),
            "threads": threads,
            "sample": whole("sample", self.sample),
            "optimiser": {"max_iterations": whole("max_iter", self.max_iter)},
        }

    def _adopt(self, fitted: _core.Fitted) -> None:
        """Sets the attributes of the fitted model."""
        self._fitted = fitted
        for name, value in json.loads(fitted.learned()).items():
            setattr(self, f"{name}_", value)
        self._adopt_runs()
        self.ends_ = json.loads(fitted.learned_ends())
        self.modes_ = modes_of(fitted)
        self.parameters_ = fitted.parameters()
        own = fitted.estimates(0.95)
        self.standard_errors_ = {
            name: float(rows[0, 0]) if "." not in name else rows[:, 0] for name, rows in own.items()
        }
        outcome = json.loads(fitted.outcome())
        self.log_evidence_ = float(outcome["log_evidence"])
        self.converged_ = bool(outcome["converged"])
        self.n_iter_ = int(outcome["iterations"])
        self.time_unit_ = fitted.time_unit
        names = fitted.classes()
        self.classes_ = np.array([None, *names] if len(names) > 1 else [0, 1])
        self.confusion_ = fitted.confusion()
        self.n_features_in_ = fitted.n_features
        linear = fitted.linear()
        if linear is not None:
            self.coef_, self.intercept_ = linear[0].reshape(1, -1), np.array([linear[1]])
        elif hasattr(self, "coef_"):
            del self.coef_, self.intercept_
        names = json.loads(fitted.metadata()).get("features")
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _apart(sessions: list[Session]) -> list[Session]:
    """Gives sessions drawn more than once, as by a bootstrap, names of their own. Different
    sessions with the same name are left for the library to refuse."""
    seen: dict[int, int] = {}
    apart = []
    for session in sessions:
        times = seen[id(session)] = seen.get(id(session), 0) + 1
        again = times > 1 and session.name is not None
        apart.append(session.replace(name=f"{session.name} ({times})") if again else session)
    return apart


def _classes(sessions: list[Session]) -> set[str]:
    """All classes of stamps and labels."""
    given = (own for one in sessions for own in (one.classes, one.label_classes) if own is not None)
    return {str(name) for own in given for name in own if name is not None}


def _true_classes(session: Session) -> Names | None:
    """The class of each instance that is an event, None for the others; None if an event is of an
    unknown class."""
    if session.label_classes is not None:
        return np.array(session.label_classes, dtype=object)
    # Without any event nothing needs a name, and there may be false alarms.
    has_events = session.labels is None or np.any(session.labels == 1)
    return None if has_events else np.full(len(session), None, dtype=object)


def _notes(sessions: list[Session]) -> dict[str, Any]:
    """The origin that a model file records."""
    notes: dict[str, Any] = {"program": f"unjitter for Python {_core.__version__}"}
    if sessions[0].feature_names is not None:
        notes["features"] = sessions[0].feature_names
    return notes
