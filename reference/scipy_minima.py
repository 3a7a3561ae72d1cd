"""Minima found by SciPy, as golden numbers for the optimiser of the Rust library.

Each problem is an explicit formula, so that the Rust tests can write it down again. The minimiser and
the value come from a second-order method with the exact Hessian (trust-exact); a first-order method,
named in the record, confirms them and gives the number of evaluations that the Rust code is measured
against. It is L-BFGS-B, but BFGS where the value may be infinite: there L-BFGS-B reports convergence
at the start.

    python reference/scipy_minima.py            writes reference/golden/scipy_minima.json
    python reference/scipy_minima.py --check    compares with it, exits 1 on a difference
"""

import argparse
import datetime
import json
import pathlib
import sys

import numpy as np
import scipy
from scipy.optimize import minimize, rosen, rosen_der, rosen_hess
from scipy.special import expit

GOLDEN = pathlib.Path(__file__).parent / "golden" / "scipy_minima.json"
# No stop on a small decrease: the gradient alone decides, as it does in the Rust tests.
OPTIONS = {"L-BFGS-B": {"maxcor": 10, "ftol": 0.0}, "BFGS": {}}


class Rosenbrock:
    """Σ 100 (x_{j+1} − x_j²)² + (1 − x_j)².

    In 20 dimensions it has a second minimum near (−1, 1, 1, …), so that one starts on this side.
    """

    method = "L-BFGS-B"
    gradient_tolerance = 1e-8

    def __init__(self, start):
        self.name = f"rosenbrock_{len(start)}"
        self.start = np.array(start)

    value, gradient, hessian = map(staticmethod, (rosen, rosen_der, rosen_hess))


class Quadratic:
    """½ Σ λ_k (H(x − m))_k², λ from 1 to 10⁶, H a reflection that mixes all coordinates."""

    name = "ill_conditioned_quadratic"
    method = "L-BFGS-B"
    gradient_tolerance = 1e-6

    def __init__(self, dim=30):
        j = np.arange(dim)
        normal = np.cos(j + 1.0)
        reflection = np.eye(dim) - 2.0 * np.outer(normal, normal) / (normal @ normal)
        self.matrix = reflection @ np.diag(10.0 ** (6.0 * j / (dim - 1))) @ reflection
        self.middle = np.sin(j)
        self.start = np.zeros(dim)

    def value(self, x):
        return 0.5 * (x - self.middle) @ self.matrix @ (x - self.middle)

    def gradient(self, x):
        return self.matrix @ (x - self.middle)

    def hessian(self, x):
        return self.matrix


class RidgeLogistic:
    """Σ log(1 + e^{s_i}) − y_i s_i + 0.05 ‖w‖², s = Xw; the last column of X is one."""

    name = "ridge_logistic"
    # The line search of L-BFGS-B fails below this: differences of the value drown in rounding.
    gradient_tolerance = 1e-6
    method = "L-BFGS-B"

    def __init__(self, count=60, dim=6):
        i, j = np.arange(count)[:, None], np.arange(dim)[None, :]
        self.features = np.where(j == dim - 1, 1.0, (j + 1.0) * np.sin(0.7 * i * (j + 1.0) + j))
        self.labels = np.where(7 * np.arange(count) % 5 < 2, 1.0, 0.0)
        self.start = np.zeros(dim)

    def value(self, w):
        s = self.features @ w
        return np.sum(np.logaddexp(0.0, s) - self.labels * s) + 0.05 * w @ w

    def gradient(self, w):
        return self.features.T @ (expit(self.features @ w) - self.labels) + 0.1 * w

    def hessian(self, w):
        p = expit(self.features @ w)
        return self.features.T @ ((p * (1.0 - p))[:, None] * self.features) + 0.1 * np.eye(len(w))


class LogBarrier:
    """cᵀx − Σ_k log(b_k − a_kᵀx), +∞ unless every a_kᵀx < b_k: a box cut by slanted planes."""

    name = "log_barrier"
    method = "BFGS"
    gradient_tolerance = 1e-8

    def __init__(self, dim=4, planes=6):
        k, j = np.arange(planes)[:, None], np.arange(dim)[None, :]
        self.normals = np.vstack([np.eye(dim), -np.eye(dim), np.cos(1.0 + 2.0 * k + 3.0 * j)])
        self.bounds = np.concatenate([np.full(2 * dim, 0.5), 0.3 + 0.1 * np.arange(planes)])
        self.cost = 20.0 * np.sin(1.0 + np.arange(dim))
        self.start = np.zeros(dim)

    def value(self, x):
        gap = self.bounds - self.normals @ x
        return self.cost @ x - np.sum(np.log(gap)) if np.all(gap > 0.0) else np.inf

    def gradient(self, x):
        gap = self.bounds - self.normals @ x
        return self.cost + self.normals.T @ (1.0 / gap)

    def hessian(self, x):
        gap = self.bounds - self.normals @ x
        return self.normals.T @ (self.normals / gap[:, None] ** 2)


class PowellSingular:
    """(a + 10b)² + 5 (c − d)² + (b − 2c)⁴ + 10 (a − d)⁴; its Hessian is singular at the minimum."""

    name = "powell_singular"
    method = "L-BFGS-B"
    gradient_tolerance = 1e-8
    start = np.array([3.0, -1.0, 0.0, 1.0])
    # The value is Σ weight · (form · x)^power.
    terms = [
        (1.0, np.array([1.0, 10.0, 0.0, 0.0]), 2),
        (5.0, np.array([0.0, 0.0, 1.0, -1.0]), 2),
        (1.0, np.array([0.0, 1.0, -2.0, 0.0]), 4),
        (10.0, np.array([1.0, 0.0, 0.0, -1.0]), 4),
    ]

    def value(self, x):
        return sum(w * (f @ x) ** p for w, f, p in self.terms)

    def gradient(self, x):
        return sum(w * p * (f @ x) ** (p - 1) * f for w, f, p in self.terms)

    def hessian(self, x):
        return sum(w * p * (p - 1) * (f @ x) ** (p - 2) * np.outer(f, f) for w, f, p in self.terms)


def problems():
    return [
        Rosenbrock([-1.2, 1.0]),
        Rosenbrock([0.0] * 20),
        Quadratic(),
        RidgeLogistic(),
        LogBarrier(),
        PowellSingular(),
    ]


def solve(problem):
    """The golden record of one problem."""
    start, tolerance = problem.start, problem.gradient_tolerance
    exact = minimize(
        problem.value,
        start,
        jac=problem.gradient,
        hess=problem.hessian,
        method="trust-exact",
        options={"gtol": 1e-3 * tolerance, "maxiter": 10_000},
    )
    first_order = minimize(
        problem.value,
        start,
        jac=problem.gradient,
        method=problem.method,
        options={"gtol": tolerance, "maxiter": 10_000} | OPTIONS[problem.method],
    )
    gap = abs(first_order.fun - exact.fun)
    if not gap <= 1e-9 * max(1.0, abs(exact.fun)):
        raise SystemExit(f"{problem.name}: SciPy disagrees with itself by {gap}")
    left = np.max(np.abs(problem.gradient(first_order.x)))
    if not first_order.success or left > tolerance:
        raise SystemExit(f"{problem.name}: stopped at gradient {left}: {first_order.message}")
    return {
        "name": problem.name,
        "start": start.tolist(),
        "gradient_tolerance": tolerance,
        "minimiser": exact.x.tolist(),
        "value": float(exact.fun),
        "method": problem.method,
        "evaluations": int(first_order.nfev),
    }


def differences(fresh, golden):
    """What differs between two lists of records beyond another BLAS or release of SciPy."""
    if [r["name"] for r in fresh] != [r["name"] for r in golden]:
        return ["the problems are not the same"]
    found = []
    for new, old in zip(fresh, golden):
        # The Powell minimiser sits at zero with a singular Hessian: a gradient of 1e-11 leaves 1e-4.
        slack = 1e-3 if new["name"] == "powell_singular" else 1e-7
        if new["start"] != old["start"]:
            found.append(f"{new['name']}: start")
        if not np.allclose(new["minimiser"], old["minimiser"], rtol=0.0, atol=slack):
            found.append(f"{new['name']}: minimiser")
        # trust-exact ends far below its tolerance: both values are the minimum up to rounding.
        if not np.isclose(new["value"], old["value"], rtol=1e-12, atol=1e-12):
            found.append(f"{new['name']}: value")
        # Rounding of another BLAS changes the path a little.
        if not np.isclose(new["evaluations"], old["evaluations"], rtol=0.25, atol=3):
            found.append(f"{new['name']}: evaluations {old['evaluations']} -> {new['evaluations']}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    fresh = [solve(problem) for problem in problems()]
    if arguments.check:
        found = differences(fresh, json.loads(GOLDEN.read_text())["problems"])
        print("\n".join(found) or f"{len(fresh)} problems agree")
        sys.exit(1 if found else 0)
    record = {
        "script": "reference/scipy_minima.py",
        "scipy": scipy.__version__,
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
        "problems": fresh,
    }
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
