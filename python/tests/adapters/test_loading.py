"""Nobody who does not ask for a library pays for it, and who lacks it is told what to install."""

from __future__ import annotations

import subprocess
import sys

# The library that each module loads, and the extra that brings it.
LOADS = {"mne": "mne", "obspy": "obspy", "nwb": "pynwb", "sktime": "sktime"}


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_nothing_is_loaded_and_a_missing_library_is_named_with_its_extra():
    every = {*LOADS.values(), "neurokit2", "matplotlib"}
    loaded, *told = python(
        f"""
import importlib, sys
import unjitter, unjitter.neurokit
print(sorted({every} & set(sys.modules)))
for extra, library in {LOADS}.items():
    sys.modules[library] = None
    try:
        importlib.import_module("unjitter." + extra)
    except ImportError as error:
        print(error)
"""
    ).splitlines()
    assert loaded == "[]"
    assert len(told) == len(LOADS)
    for extra, words in zip(LOADS, told):
        assert f"pip install 'unjitter[{extra}]'" in words
