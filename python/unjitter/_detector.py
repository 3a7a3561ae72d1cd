"""The scikit-learn estimator: one session is one sample."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import joblib
from numpy.typing import ArrayLike
from sklearn.base import clone

from . import _core
from ._aligning import Aligning
from ._asking import Asking
from ._base import Sessions, apart, are_sessions, learnable, sessions_of
from ._check import asked_threshold, no_labels_apart, settings, whole
from ._classes import refuse_taken
from ._classifiers import Classifier
from ._elsewhere import Elsewhere
from ._flat import sessions_from_arrays
from ._groups import named
from ._models import Counts
from ._noise import Noise
from ._predicting import Predicting
from ._priors import Priors
from ._progress import Bar
from ._session import Session
from ._warnings import warn


class EventDetector(Predicting, Aligning, Asking):
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
        return apart(sessions)


def _classes(sessions: list[Session]) -> set[str]:
    """All classes of stamps and labels."""
    given = (own for one in sessions for own in (one.classes, one.label_classes) if own is not None)
    return {str(name) for own in given for name in own if name is not None}


def _notes(sessions: list[Session]) -> dict[str, Any]:
    """The origin that a model file records."""
    notes: dict[str, Any] = {"program": f"unjitter for Python {_core.__version__}"}
    if sessions[0].feature_names is not None:
        notes["features"] = sessions[0].feature_names
    return notes
