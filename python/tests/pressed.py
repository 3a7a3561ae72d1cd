"""Ctrl-C, sent to ourselves in the middle of some work."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest


def seconds_to_stop(work: Callable[[], Any], after: float = 1.0) -> float:
    """How long `work` goes on after a Ctrl-C that comes when it has run for some seconds."""
    pressed = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # Started in the background or under nohup, Python leaves the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        # Work that ends by itself must not leave a Ctrl-C for whatever comes next.
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    return time.monotonic() - pressed[0]
