"""A bar that shows how far a fit is."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Bar:
    """A tqdm bar over the iterations of all starts; nothing if not `enabled`."""

    def __init__(self, *, enabled: bool, restarts: int, max_iter: int) -> None:
        self.show = self._show if enabled else None
        self._enabled = enabled
        self._max_iter = max_iter
        self._starts = restarts + 1
        self._bar: Any = None

    def __enter__(self) -> Bar:
        if self._enabled:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=self._starts * self._max_iter, desc="fit", unit="it")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            if kind is None:
                # Starts converge before their last iteration; what is left will not come.
                self._bar.total = self._bar.n
            self._bar.close()

    def _show(
        self, start: int, starts: int, iteration: int, value: float, gradient_norm: float
    ) -> None:
        self._bar.n = start * self._max_iter + iteration
        self._bar.set_postfix_str(
            f"start {start + 1}/{starts}, loss {value:.6g}, gradient {gradient_norm:.1e}"
        )
