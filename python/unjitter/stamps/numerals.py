"""Seconds as text."""

from __future__ import annotations

import math
import re

import numpy as np

# Stricter than float(), which also takes "nan", "infinity" and "1_000".
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
LONGEST_NUMBER = 100


def parse_number(text: str) -> float | None:
    """The finite number that `text` spells, or None.

    >>> parse_number("1.5"), parse_number("1e-3"), parse_number("nan"), parse_number("1,5")
    (1.5, 0.001, None, None)
    """
    if len(text) > LONGEST_NUMBER or not NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def number_text(number: float) -> str:
    """The shortest text that reads back as exactly this number, without an exponent.

    >>> number_text(0.1), number_text(12.0), number_text(1e-7), number_text(-0.0)
    ('0.1', '12', '0.0000001', '0')
    """
    return np.format_float_positional(number + 0.0, trim="-")
