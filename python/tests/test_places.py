"""Aligned stamps in any data frame, as adapters to other libraries read them."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import make_session

from unjitter import EventDetector
from unjitter._recording import places_of


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "numpy"])
def test_places_are_read_from_any_data_frame(backend):
    session = make_session(0)
    detector = EventDetector(restarts=0).fit([session])
    places = places_of(detector.align(session, backend=backend), session.events)
    table = detector.align(session)
    # A session without ends and classes.
    assert places.ends is None and places.classes is None
    for name in ("times", "low", "high", "p_spurious"):
        values = getattr(places, name)
        np.testing.assert_array_equal(values, table["time" if name == "times" else name])
    with pytest.raises(ValueError, match="aligned has no column 'stamp'"):
        places_of(detector.align_events(session, backend=backend), session.events)
