"""Files for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[[str, "str | bytes"], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a file of that name and content in a fresh folder."""

    def make_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make_file
