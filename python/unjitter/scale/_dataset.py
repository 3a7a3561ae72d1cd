"""Sessions in partitions, and what can be asked of them."""

from __future__ import annotations

import abc
import json
import logging
import pickle
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._elsewhere import Elsewhere
from .._session import Session
from . import _questions
from ._layout import Size
from ._questions import Describe, Evaluate, Fold, Gather, Place, Score, Tabulate

log = logging.getLogger("unjitter.scale")


class Pass(Protocol):
    """A question on its way to every partition."""

    def poll(self, seconds: float) -> list[bytes] | None:
        """The answers, or None if they are not all there after so many seconds."""

    def cancel(self) -> None:
        """Takes the question back."""


@dataclass(frozen=True)
class Scores:
    """How a detector does on sessions.

    Attributes
    ----------
    f1 : float
        Over all labelled instances; NaN without any.
    log_evidence : float
        Per stamp.
    sessions, stamps : int
        How many there were.
    """

    f1: float
    log_evidence: float
    sessions: int
    stamps: int


class Dataset(Elsewhere, abc.ABC):
    """Sessions in partitions; see :mod:`unjitter.scale`.

    ``EventDetector().fit(dataset)`` learns from them, and ``predict``, ``align`` and ``score`` take
    them too.

    Attributes
    ----------
    passes : int
        How often all partitions were asked for the evidence, by all fits together.
    """

    passes: int = 0
    _sizes: list[Size] | None = None
    # The partition of each session.
    _place: dict[str, int]

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex

    @abc.abstractmethod
    def __len__(self) -> int:
        """Number of partitions."""

    @abc.abstractmethod
    def _submit(self, question: Callable[[Place], bytes], numbers: Sequence[int]) -> Pass:
        """Asks the partitions of these numbers; answers come in their order."""

    @abc.abstractmethod
    def _frame(self, question: Tabulate) -> Any:
        """The tables of all partitions as a frame of the engine, which is computed when needed."""

    def _gathered(self, twice: str) -> bool:
        """Brings rows of a session together, after one was found in two partitions; False if that
        is not possible."""
        return False

    def _is_dated(self) -> bool:
        """Whether times are dates."""
        return False

    def sizes(self) -> list[Size]:
        """Every session, in order of names."""
        if self._sizes is None:
            self._sizes = self._described()
        return self._sizes

    def _described(self) -> list[Size]:
        answers = [json.loads(answer) for answer in self._ask(Describe(), range(len(self)))]
        self._place = {row[0]: number for number, own in enumerate(answers) for row in own}
        own = sorted(Size(*row) for answer in answers for row in answer)
        for first, second in zip(own, own[1:], strict=False):
            if first.name == second.name:
                if self._gathered(first.name):
                    return self._described()
                raise ValueError(
                    f"session {first.name!r} is in two partitions; bring its rows together"
                )
            if first.features != second.features:
                raise ValueError(
                    f"session {second.name!r} has {second.features} features, and session "
                    f"{first.name!r} {first.features}"
                )
        log.info("%d sessions, %d stamps", len(own), sum(size.stamps for size in own))
        return own

    def sessions(self, names: Iterable[str]) -> list[Session]:
        """The sessions of these names, in order."""
        wanted = frozenset(names)
        self.sizes()
        numbers = sorted({self._place[name] for name in wanted})
        found = [s for answer in self._ask(Gather(wanted), numbers) for s in pickle.loads(answer)]
        return sorted(found, key=lambda session: str(session.name))

    def _ask(self, question: Callable[[Place], bytes], numbers: Sequence[int]) -> list[bytes]:
        """The answers of partitions; Ctrl-C takes the question back."""
        pending = self._submit(question, numbers)
        try:
            while (answers := pending.poll(0.2)) is None:
                pass
        except BaseException:
            pending.cancel()
            raise
        return answers

    def _fit(
        self,
        model: str,
        options: str,
        use_labels: bool,
        threshold: float | None,
        inspected: Callable[[list[Session]], str],
        show: Any,
        left_out: Fold | None = None,
    ) -> _core.Fitted:
        """A fit of all sessions but those of a fold. `inspected` sees the sample, and has notes."""
        kept = [
            size
            for size in self.sizes()
            if left_out is None or _core.fold_of(size.together, left_out[1]) != left_out[0]
        ]
        if not kept:
            raise ValueError("no sessions were given")
        enough = json.loads(options)["sample"]
        known = [(size.name, size.stamps, size.instances) for size in kept]
        chosen = _core.sampled(known, enough)
        names = [size.name for size, is_in in zip(kept, chosen, strict=True) if is_in]
        sample = self.sessions(names)
        log.info("searching on %d of %d sessions", len(sample), len(kept))

        def submit(fitted: str, params: NDArray[np.float64]) -> Pass:
            self.passes += 1
            log.info("pass %d over all sessions, %d questions", self.passes, len(params))
            question = Evaluate(fitted, params, use_labels, left_out)
            return self._submit(question, range(len(self)))

        return _core.fit_over(
            model,
            options,
            sample,
            (len(kept), sum(size.stamps for size in kept), sum(size.ends for size in kept)),
            submit,
            use_labels,
            inspected(sample),
            threshold,
            show,
        )

    def _score(self, model: str, threshold: float, only: Fold | None = None) -> Scores:
        answers = self._ask(Score(model, threshold, only), range(len(self)))
        # In order of names, so that sums have the same bits wherever sessions are.
        rows = sorted(tuple(row) for answer in answers for row in json.loads(answer))
        hits, false, missed = (sum(row[k] for row in rows) for k in (3, 4, 5))
        stamps = sum(row[1] for row in rows)
        of_all = 2 * hits + false + missed
        return Scores(
            f1=2 * hits / of_all if of_all else float("nan"),
            log_evidence=sum(row[2] for row in rows) / max(stamps, 1),
            sessions=len(rows),
            stamps=stamps,
        )

    def _table(
        self, model: str, threshold: float, method: str, more: dict[str, str], **options: Any
    ) -> Any:
        return self._frame(Tabulate(model, threshold, method, self._is_dated(), more, options))

    def close(self) -> None:
        """Frees what workers of this process keep."""
        _questions.forget(self._token)
