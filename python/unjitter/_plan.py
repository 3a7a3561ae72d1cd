"""How many stamps are enough, and what labels would be worth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _tables


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What can be expected of more sessions like those at hand, or of labels for some of them.

    Attributes
    ----------
    sessions, stamps : int
        Those at hand.
    worth : float
        How many exact labels a stamp is worth: the share of the sessions that, labelled by hand and
        not stamped, would leave the detector the same expected excess loss as the stamps of all do.
    outlooks : list of dict
        What :meth:`to_frame` shows: first the sessions at hand, then more of them, then labels.
    refits : list of (sessions, f1, fits) or None
        Mean F1 of fits on parts of the sessions, on sessions that were left out, and how many fits.
    """

    sessions: int
    stamps: int
    worth: float
    outlooks: list[dict[str, Any]]
    refits: list[tuple[int, float, int]] | None

    def to_frame(self, *, backend: str | None = None) -> Any:
        """The result as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default of pandas or, without it, a :class:`Table`.

        Returns
        -------
        DataFrame with one row for each number of sessions
            ``sessions``, and how many of them are ``labelled``; the expected ``f1`` at the model's
            threshold, and ``f1_refits``, continued from refits; ``delay_width``, ``spread_width``
            and ``miss_rate_width`` of the intervals; ``as_good_as``, the further stamped sessions
            that would teach the detector as much. Missing values are NaN.
        """
        columns = {name: [line[name] for line in self.outlooks] for name in self.outlooks[0]}
        return _tables.frame(columns, backend)

    def __repr__(self) -> str:
        now, last = self.outlooks[0], max(self.outlooks, key=lambda line: line["sessions"])
        known = f"{self.sessions} sessions, a stamp is worth {self.worth:.2f} labels"
        f1 = f"F1 {now['f1']:.3f}, with {last['sessions']} sessions {last['f1']:.3f}"
        return f"Plan({known}; expected {f1})"


def plan_of(text: str) -> Plan:
    """From the library's result (JSON)."""
    plan = json.loads(text)
    refits = plan["refits"] and [
        (point["sessions"], point["f1"], point["fits"]) for point in plan["refits"]["points"]
    ]
    outlooks = [_line(own) for own in [plan["now"], *plan["more"], *plan["labelled"]]]
    return Plan(plan["sessions"], plan["stamps"], plan["worth"], outlooks, refits)


def _line(outlook: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    widths = {f"{name}_width": own for name, own in outlook.pop("widths").items()}
    known = {name: np.nan if own is None else own for name, own in (outlook | widths).items()}
    order = ["sessions", "labelled", "f1", "f1_refits", *widths, "as_good_as"]
    return {name: known[name] for name in order}
