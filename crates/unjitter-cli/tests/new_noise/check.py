"""The new noise model in Python: its class, its name, and a model that the command line wrote."""

import pickle
import sys
from pathlib import Path

import unjitter
from unjitter import EventDetector, LateLogistic

noise = LateLogistic(0.5, delay=0.1, spread=0.3)
assert repr(noise) == "LateLogistic(period=0.5, delay=0.1, spread=0.3, beats=1.0)", noise
assert pickle.loads(pickle.dumps(noise)) == noise
found = unjitter.posterior([0.0, 1.0], [1.6], [0.0, 0.0], noise=noise)
# The press at 1.6 is 0.6 late, as expected, for the instance at 1.
assert found.best_alignment.tolist() == [1]
read = EventDetector.load(sys.argv[1])
assert read.noise == LateLogistic(0.5, beats=2.0), read.noise
stubs = Path(unjitter.__file__).with_name("_noises.pyi").read_text()
assert "class LateLogistic(Noise):\n    period: float\n" in stubs, stubs
