"""A progress bar for long work."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeAlias

#: Of a fit: start, starts, iteration, value, gradient norm.
Iteration: TypeAlias = tuple[int, int, int, float, float]


class Bar:
    """A tqdm bar over pieces of work; nothing if not `enabled`."""

    def __init__(self, label: str, unit: str, *, enabled: bool) -> None:
        self.show = self._show if enabled else None
        self._label = label
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            if kind is None:
                # Starts converge before their last iteration; the rest will not come.
                self._bar.total = self._bar.n
            self._bar.close()

    def _show(self, done: int, total: int, iteration: Iteration | None) -> None:
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, desc=self._label, unit=self._unit)
        self._bar.update(done - self._bar.n)
        if iteration is not None:
            start, starts, _, value, gradient_norm = iteration
            self._bar.set_postfix_str(
                f"start {start + 1}/{starts}, loss {value:.6g}, gradient {gradient_norm:.1e}"
            )
