"""Features are not copied: the memory of a process that fits stays near that of the features."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's own accounts")

SCRIPT = """
import sys, warnings
import numpy as np
from unjitter import EventDetector, Session

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

instances, features = 400_000, 100
rng = np.random.default_rng(0)
X = np.empty((instances, features), dtype=sys.argv[1], order=sys.argv[2])
for row in range(0, instances, 10_000):
    X[row : row + 10_000] = rng.normal(size=(10_000, features))
times = np.arange(float(instances))
events = times[::40] + 0.3
# From here on: a new process has the peak of the one that started it.
open("/proc/self/clear_refs", "w").write("5")
before = peak()
session = Session(X, times, events)
detector = EventDetector(restarts=0, max_iter=3)
warnings.simplefilter("ignore")
detector.fit([session])
detector.predict_proba(session)
detector.log_evidence(session)
print((peak() - before) / X.nbytes)
"""


def growth(kind, order="C"):
    command = [sys.executable, "-c", SCRIPT, kind, order]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_contiguous_doubles_are_not_copied():
    # The features are 320 MB. Times, log-odds, probabilities, messages and other buffers take up to
    # fifty numbers per instance, of which the features have a hundred.
    assert growth("float64") < 0.5


def test_single_precision_is_not_copied_and_stays_single():
    # The same numbers beside features of half the size.
    assert growth("float32") < 1.0


def test_the_measure_sees_a_copy():
    # Rows that are no rows in memory have to be laid out anew.
    assert growth("float64", order="F") > 0.9
