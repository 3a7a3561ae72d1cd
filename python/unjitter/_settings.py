"""The parameters of an estimator, as the library takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np

from ._base import Detector, seed_of
from ._check import number, one_of, span, whole
from ._classifiers import Classifier, classifier_model
from ._groups import GROUPS, variations
from ._models import Counts, counts_model
from ._noise import Noise, noise_model
from ._priors import Priors


class Settings(Detector):
    """What the parameters of a detector ask for."""

    classifier: str | Classifier
    counts: str | Counts
    noise: str | Noise
    regularisation: float
    priors: Priors | None
    time_unit: float | None
    alignment: str
    labels: str
    stamps: str
    delay: tuple[float, float] | None
    varies: Mapping[str, str] | None
    clock: str | None
    clock_range: float | None
    frozen: Mapping[str, Any] | None
    restarts: int
    sample: int
    check: bool
    use_labels: bool
    max_iter: int
    random_state: Any
    n_jobs: int | None
    verbose: int

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

    def _variations(self) -> list[dict[str, str]]:
        return variations(self.varies, self.clock, GROUPS)
