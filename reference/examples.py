"""What the tests share: examples of every part, small sessions, comparison of numbers."""

import math
import unittest

GAUSSIAN = {"kind": "gaussian", "delay": 0.25, "spread": 0.5}
UNIT = {"kind": "uniform", "earliest": -0.5, "latest": 0.5}  # density 1 wherever it is positive

NOISE_EXAMPLES = [
    GAUSSIAN,
    {"kind": "gaussian_mixture", "weights": [0.3, 0.7], "delays": [-0.5, 1], "spreads": [0.4, 0.9]},
    {"kind": "laplace", "delay": 0.25, "spread": 0.5},
    {"kind": "student_t", "delay": 0.25, "scale": 0.5, "degrees_of_freedom": 4.5},
    {"kind": "shifted_gamma", "shift": -0.25, "shape": 2.5, "spread": 0.5},
    {"kind": "uniform", "earliest": -0.5, "latest": 1.25},
]
COUNT_EXAMPLES = [
    {"kind": "bernoulli", "false_rate": 0.1, "hit_rate": 0.8},
    {
        "kind": "categorical",
        "false_rate": 0.1,
        "hit_rate": 0.8,
        "false_split": [0.7, 0.2, 0.1],
        "hit_split": [0.5, 0.25, 0.25],
    },
    {"kind": "poisson", "false_rate": 0.1, "hit_rate": 0.8},
    {"kind": "geometric", "false_rate": 0.1, "hit_rate": 0.8},
]


def session(times, stamps, counts, noise=UNIT, log_odds=None, labels=None):
    return {
        "times": times,
        "stamps": stamps,
        "log_odds": log_odds or [0.3 * i - 0.4 for i in range(len(times))],
        "labels": labels or [None] * len(times),
        "counts": counts,
        "noise": noise,
    }


def equal_rates(kind, rate):
    return {"kind": kind, "false_rate": rate, "hit_rate": rate}


def normal(delay):
    x = (delay - GAUSSIAN["delay"]) / GAUSSIAN["spread"]
    return math.exp(-x * x / 2) / (GAUSSIAN["spread"] * math.sqrt(2 * math.pi))


def sigmoid(log_odds):
    return 1 / (1 + math.exp(-log_odds))


class TestCase(unittest.TestCase):
    def assert_close(self, got, want, relative, absolute=0.0):
        same = math.isclose(got, want, rel_tol=relative, abs_tol=absolute)
        self.assertTrue(same, f"got {got!r}, want {want!r}")
