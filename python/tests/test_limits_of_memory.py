"""What would need more memory than is allowed is refused, and the next call works again."""

from __future__ import annotations

import numpy as np
import pytest

from unjitter import Gaussian, Poisson, _core, posterior, set_memory_limit


def test_too_much_memory_is_refused():
    before = _core.memory_limit()
    times, events = np.arange(20_000) / 10.0, 3600.0 + 10.0 * np.arange(200)
    counts = Poisson(false_rate=0.01, hit_rate=0.9)
    try:
        set_memory_limit(0.02)
        with pytest.raises(ValueError, match=r"limit of 0.02 GiB; most likely the stamps have an"):
            posterior(times, events, np.full(20_000, -4.0), counts, Gaussian(0.0, 1000.0))
        near = posterior(times, times[:3], np.full(20_000, -4.0), counts, Gaussian(0.0, 1.0))
        assert np.isfinite(near.log_evidence)
    finally:
        _core.set_memory_limit(before)


def test_a_limit_is_a_number_above_zero():
    for wrong in (0, -1.0, np.nan, "much"):
        with pytest.raises(ValueError, match="gibibytes is"):
            set_memory_limit(wrong)
