"""Bare inference, for callers with their own scores."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from . import _core
from ._calendar import read_times
from ._check import number, one_of, settings, whole
from ._html import posterior_html
from ._models import Bernoulli, Counts, counts_model
from ._noise import Noise, noise_model
from ._noises import Gaussian

_Floats = NDArray[np.float64]
_Given = tuple[_Floats, _Floats, _Floats, Counts, Noise]


class Posterior:
    """The posterior over the alignments of one session; made by :func:`posterior`.

    Attributes
    ----------
    log_evidence : float
        log p(stamps | log-odds, times).
    positive : ndarray of shape (n_instances,)
        p(instance is positive | stamps).
    counts : ndarray of shape (n_instances, C + 1, 2)
        p(instance gave c stamps, label is y | stamps).
    responsibilities : scipy.sparse.csr_array of shape (n_instances, n_stamps)
        p(instance i gave stamp l | stamps); each column sums to one, less the probability that
        the stamp came from nowhere.
    best_alignment : ndarray of shape (n_stamps,)
        The instance of each stamp in the single likeliest alignment; -1 if it came from nowhere. If
        stamps may come in any order and instances may give several, it is better than all its
        neighbours, and not certain to be the likeliest.
    best_log_weight : float
        log p(that alignment, stamps | log-odds, times).
    """

    def __init__(self, core: _core.Posterior, given: _Given, options: dict[str, Any]) -> None:
        self._core = core
        self._given = given
        self._options = options
        times, events, *_ = given
        self._shape = (len(times), len(events))

    def __reduce__(self) -> tuple[Any, _Given]:
        # Repeating inference is as exact as its result, and its input is smaller.
        return partial(posterior, **self._options), self._given

    def __repr__(self) -> str:
        instances, stamps = self._shape
        return (
            f"Posterior({instances} instances, {stamps} stamps, "
            f"log_evidence={self.log_evidence:.6g})"
        )

    def _repr_html_(self) -> str:
        return posterior_html(self)

    @property
    def log_evidence(self) -> float:
        return self._core.log_evidence

    @cached_property
    def positive(self) -> NDArray[np.float64]:
        return self._core.positive()

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        return self._core.counts()

    @cached_property
    def responsibilities(self) -> csr_array:
        values, rows, starts = self._core.responsibilities()
        return csc_array((values, rows, starts), shape=self._shape).tocsr()

    @cached_property
    def _best(self) -> tuple[NDArray[np.int64], float]:
        return self._core.best_alignment()

    @property
    def best_alignment(self) -> NDArray[np.int64]:
        return self._best[0]

    @property
    def best_log_weight(self) -> float:
        return self._best[1]

    def sample(self, n: int = 1, seed: int = 0) -> NDArray[np.int64]:
        """Alignments drawn from the posterior, of stamps in the order of their instances.

        For ``alignment="free"`` this is a `ValueError`: the posterior of each stamp is known, but
        not that of all together.

        Parameters
        ----------
        n : int
            How many; refused if they would take gigabytes.
        seed : int
            The same seed gives the same draws.

        Returns
        -------
        ndarray of shape (n, n_stamps)
            The instance of each stamp in each draw; -1 if it came from nowhere.
        """
        return self._core.sample(whole("n", n), whole("seed", seed))


def posterior(
    times: ArrayLike,
    events: ArrayLike,
    log_odds: ArrayLike,
    counts: Counts = Bernoulli(false_rate=0.01, hit_rate=0.9),
    noise: Noise = Gaussian(delay=0.0, spread=1.0),
    *,
    alignment: str = "ordered",
    background_rate: float = 0.0,
) -> Posterior:
    """The posterior over which instance gave which stamp, and which instances are positive.

    By default it is exact: stamps keep the order of their instances, and each comes from one.

    Parameters
    ----------
    times : array-like of shape (n_instances,)
        Time of each instance, numbers or dates; they do not decrease.
    events : array-like of shape (n_stamps,)
        The stamps; they do not decrease.
    log_odds : array-like of shape (n_instances,)
        Log-odds that each instance is positive, by any classifier; infinite if it is known.
    counts : Bernoulli, Categorical, Poisson or Geometric
        Number of stamps per instance, with all its values.
    noise : noise model such as Gaussian
        Their delays, with all its values.
    alignment : {"ordered", "free"}
        Which alignments count. "ordered": stamps keep the order of their instances. "free": they
        may come in another order, as in :class:`EventDetector` by default; the result is exact if
        no two stamps could share an instance, and otherwise approximated by belief propagation.
    background_rate : float
        Stamps per unit of time (per second of dates) that come from no instance, between the
        first and the last instance or stamp.

    Returns
    -------
    Posterior

    Examples
    --------
    A press at 2.4, while a classifier is rather sure that something happened at 1:

    >>> from unjitter import Gaussian, posterior
    >>> found = posterior(
    ...     times=[0.0, 1.0, 2.0, 3.0],
    ...     events=[2.4],
    ...     log_odds=[-3.0, 2.0, -3.0, -3.0],
    ...     noise=Gaussian(delay=0.5, spread=1.0),
    ... )
    >>> found.best_alignment
    array([1])
    >>> found.positive.round(3)
    array([0.008, 0.978, 0.022, 0.014])

    Another press, long after, came from nowhere:

    >>> found = posterior(
    ...     [0.0, 1.0, 2.0, 3.0], [2.4, 40.0], [-3.0, 2.0, -3.0, -3.0], background_rate=0.01
    ... )
    >>> found.best_alignment
    array([ 1, -1])
    """
    read = read_times(times)
    calendar = read.calendar()
    when = _one_dimension("times", read.seconds(calendar, "times"))
    stamps = _one_dimension("events", read_times(events, "events").seconds(calendar, "events"))
    odds = _one_dimension("log_odds", log_odds)
    bound_counts, bound_noise = counts_model(counts), noise_model(noise)
    for part, given in (("counts", counts), ("noise", noise)):
        if isinstance(given, str):
            raise ValueError(
                f"{part} is {given!r}, but a posterior needs its values too, as in "
                f"{part}={'Bernoulli(0.01, 0.9)' if part == 'counts' else 'Gaussian(0.0, 1.0)'}"
            )
    for part, model in (("counts", bound_counts), ("noise", bound_noise)):
        if model.unknown():
            raise ValueError(
                f"{part} has no {model.unknown()[0]}, but a posterior learns nothing and needs all "
                "values"
            )
    options: dict[str, Any] = {
        "alignment": one_of("alignment", alignment, ("ordered", "free")),
        "background_rate": number("background_rate", background_rate),
    }
    core = _core.posterior(
        when,
        stamps,
        odds,
        settings(bound_counts.settings()),
        list(bound_counts.values().items()),
        settings(bound_noise.settings()),
        list(bound_noise.values().items()),
        settings(options["alignment"]),
        options["background_rate"],
    )
    return Posterior(core, (when, stamps, odds, bound_counts, bound_noise), options)


def _one_dimension(name: str, values: ArrayLike) -> _Floats:
    # A copy: the user may change the original later.
    numbers = np.asarray(values, dtype=np.float64).copy()
    if numbers.ndim != 1:
        raise ValueError(f"{name} have shape {numbers.shape}, expected one dimension")
    return numbers
