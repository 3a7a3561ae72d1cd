"""Data that many tests share."""

from __future__ import annotations

import pytest
from drawn import make_session

from unjitter import Session


@pytest.fixture(scope="session")
def sessions() -> list[Session]:
    return [make_session(seed) for seed in range(6)]
