"""Triton reads this when kernels are defined: they then run on the CPU."""

import os

os.environ["TRITON_INTERPRET"] = "1"
