"""LR-M with SciPy and numba: the paper's model, priors and protocol.

Written plainly: NumPy's BLAS for the features, `alignments` for the stamps, SciPy's L-BFGS-B with
the analytic gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import alignments
import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

INTERCEPT_PRECISION = 0.01


@dataclass
class Recording:
    """A session with true labels."""

    features: np.ndarray
    times: np.ndarray
    stamps: np.ndarray
    labels: np.ndarray


@dataclass
class Tolerance:
    """When to stop: the gradient relative to √|f|, and the decrease of one step relative to f."""

    gradient: float
    value: float


class Training:
    """Recordings as the objective sees them: standardised features, times in units."""

    def __init__(self, recordings: list[Recording]) -> None:
        gaps = np.concatenate([np.diff(one.times) for one in recordings])
        self.unit = np.partition(gaps, (len(gaps) - 1) // 2)[(len(gaps) - 1) // 2]
        features = np.concatenate([one.features for one in recordings])
        self.means, self.scales = features.mean(0), features.std(0)
        self.scales[self.scales == 0.0] = 1.0
        self.features = (features - self.means) / self.scales
        origins = [one.times[0] for one in recordings]
        pairs = list(zip(recordings, origins))
        self.times = np.concatenate([(one.times - at) / self.unit for one, at in pairs])
        self.stamps = np.concatenate([(one.stamps - at) / self.unit for one, at in pairs])
        self.instances = np.array([len(one.times) for one in recordings])
        self.stamps_of = np.array([len(one.stamps) for one in recordings])

    def evidence(self, log_odds, annotator):
        """Log evidence and its derivatives."""
        of = (self.times, self.stamps, self.instances, self.stamps_of)
        return alignments.gradient(log_odds, annotator, *of)

    def nearest(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels that take every stamp at its word, and the delays they leave."""
        labels, delays = np.zeros(len(self.times)), []
        row = stamp = 0
        for count, presses in zip(self.instances, self.stamps_of):
            times = self.times[row : row + count]
            for z in self.stamps[stamp : stamp + presses]:
                i = int(np.argmin(np.abs(times - z)))
                labels[row + i] = 1.0
                delays.append(z - times[i])
            row, stamp = row + count, stamp + presses
        return labels, np.sort(delays)

    def supposed(self, annotator) -> np.ndarray:
        """p(label | stamps) for a detector that knows only how rare stamps are."""
        rarity = np.clip(np.maximum(self.stamps_of, 0.5) / self.instances, 0.0, 0.5)
        log_odds = np.repeat(logit(rarity), self.instances)
        return expit(log_odds) + self.evidence(log_odds, annotator)[1]


def log_prior(params, precision):
    """The paper's priors, and their gradient."""
    weights, (false, hit, delay, log_spread) = params[:-4], params[-4:]
    precisions = np.append(np.full(len(weights) - 1, precision), INTERCEPT_PRECISION)
    value = 0.5 * np.log(precisions / (2 * np.pi)).sum() - 0.5 * (precisions * weights**2).sum()
    # Beta(5, 1) on a hit and on silence, a standard normal, an inverse Gamma(1, 1) on the variance.
    value += 2 * np.log(5.0) + 4 * log_expit(hit) + 4 * log_expit(-false)
    inverse = np.exp(-2 * log_spread)
    value += -0.5 * np.log(2 * np.pi) - 0.5 * delay**2 - 4 * log_spread - inverse
    annotator = [-4 * expit(false), 4 * expit(-hit), -delay, -4 + 2 * inverse]
    return value, np.concatenate([-precisions * weights, annotator])


def objective(params, training: Training, precision: float):
    """Minus the log posterior, and its gradient."""
    log_odds = training.features @ params[:-5] + params[-5]
    found, d_log_odds, d_annotator = training.evidence(log_odds, params[-4:])
    if not np.isfinite(found):
        return np.inf, np.zeros_like(params)
    prior, gradient = log_prior(params, precision)
    gradient[:-5] += training.features.T @ d_log_odds
    gradient[-5] += d_log_odds.sum()
    gradient[-4:] += d_annotator
    return -found - prior, -gradient


def supervised(weights, training: Training, targets, precision: float):
    """Cross-entropy plus prior, and its gradient."""
    log_odds = training.features @ weights[:-1] + weights[-1]
    value = -(targets * log_expit(log_odds) + (1 - targets) * log_expit(-log_odds)).sum()
    residuals = expit(log_odds) - targets
    precisions = np.append(np.full(len(weights) - 1, precision), INTERCEPT_PRECISION)
    gradient = np.append(training.features.T @ residuals, residuals.sum()) + precisions * weights
    return value + 0.5 * (precisions * weights**2).sum(), gradient


def fit(training: Training, precision: float, tolerance: Tolerance, seed: int = 0):
    """The best of three starts: naive, wide, random."""
    random = np.random.default_rng(seed)
    labels, delays = training.nearest()
    supposed = [(delays[(len(delays) - 1) // 2], 1.0), (0.0, 3.0)]
    supposed.append((2 * random.normal(), 0.5 * 16 ** random.uniform()))
    best = None
    for start, (delay, spread) in enumerate(supposed):
        annotator = np.array([logit(0.01), logit(0.9), delay, np.log(spread)])
        targets = labels if start == 0 else training.supposed(annotator)
        weights = np.zeros(training.features.shape[1] + 1)
        given = (training, targets, precision)
        options = {"maxiter": 30}
        weights = minimize(supervised, weights, given, "L-BFGS-B", jac=True, options=options).x
        from_ = np.concatenate([weights, annotator])
        value = objective(from_, training, precision)[0]
        options = {"maxiter": 500, "ftol": tolerance.value}
        options["gtol"] = tolerance.gradient * max(1.0, np.sqrt(abs(value)))
        given = (training, precision)
        found = minimize(objective, from_, given, "L-BFGS-B", jac=True, options=options)
        if best is None or found.fun < best.fun:
            best = found
    return best


def confusion(training: Training, weights, recordings: list[Recording]) -> np.ndarray:
    """Hits, false alarms and misses at one half."""
    counts = np.zeros(3)
    for one in recordings:
        standardised = (one.features - training.means) / training.scales
        found = standardised @ weights[:-5] + weights[-5] >= 0.0
        truth = one.labels > 0.5
        counts += [(found & truth).sum(), (found & ~truth).sum(), (~found & truth).sum()]
    return counts


def f1(counts: np.ndarray) -> float:
    """Harmonic mean of precision and recall; zero where nothing was hit."""
    hits, alarms, misses = counts
    return 2 * hits / (2 * hits + alarms + misses) if hits else 0.0


def cross_validate(recordings, folds, precisions, tolerance: Tolerance) -> np.ndarray:
    """Nested cross-validation: the candidate chosen and the F1 of every outer fold. `folds` has the
    inner fold of every recording, −1 where it is held out."""
    results = []
    for row in folds:
        scores = [np.zeros(3) for _ in precisions]
        for inner in range(int(row.max()) + 1):
            held_out = [one for one, fold in zip(recordings, row) if fold == inner]
            rest = [one for one, fold in zip(recordings, row) if fold not in (inner, -1)]
            training = Training(rest)
            for candidate, precision in enumerate(precisions):
                weights = fit(training, precision, tolerance).x
                scores[candidate] += confusion(training, weights, held_out)
        chosen = int(np.argmax([f1(counts) for counts in scores]))
        training = Training([one for one, fold in zip(recordings, row) if fold != -1])
        weights = fit(training, precisions[chosen], tolerance).x
        held_out = [one for one, fold in zip(recordings, row) if fold == -1]
        results.append((chosen, f1(confusion(training, weights, held_out))))
    return np.array(results)
