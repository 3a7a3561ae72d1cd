"""What must work wherever the package is installed, with nothing but its own needs.

Not a test of pytest's: releases run it beside each wheel.
"""

import tempfile
from pathlib import Path

import unjitter
from unjitter import EventDetector, simulate

sessions = simulate.respiration(seed=0)
detector = EventDetector().fit(sessions[:10])
score = detector.score(sessions[10:])
assert score > 0.7, score  # 0.87 where it was written
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.json"
    detector.save(path)
    again = EventDetector.load(path)
    assert list(again.align(sessions[10])["time"]) == list(detector.align(sessions[10])["time"])
print(f"unjitter {unjitter.__version__}: F1 {score:.2f}")
