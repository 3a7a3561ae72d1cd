"""Pads sessions to a batch for a DataLoader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .._base import same_names, sessions_of
from .._session import UNKNOWN, Session
from ._groups import session_groups, several


class SessionBatch(NamedTuple):
    """Sessions side by side, the shorter ones padded with zeros; made by :func:`collate`.

    A loss takes it whole, with all that is known of the stamps: ``loss(logits, batch)``.

    Attributes
    ----------
    features : float32 Tensor of shape (B, T, D)
    times : float64 Tensor of shape (B, T)
        From the first instance of each session on.
    events : float64 Tensor of shape (B, M), or (B, M, 2)
        The stamps, likewise; their earliest and latest times if some are known to an interval.
    lengths, event_lengths : int64 Tensor of shape (B,)
        Number of real instances and of real stamps in a row.
    labels : int64 Tensor of shape (B, T), or None
        0 or 1, and -1 if unknown; None if no session has labels.
    annotators : int64 Tensor of shape (B, M), or None
        Who gave each stamp, by number; None if no session has several annotators.
    groups : list of dict
        Of each session, for the `groups` of a loss.
    """

    features: Tensor
    times: Tensor
    events: Tensor
    lengths: Tensor
    event_lengths: Tensor
    labels: Tensor | None
    annotators: Tensor | None
    groups: list[dict[str, Any]]


def collate(sessions: Sequence[Session]) -> SessionBatch:
    """Pad sessions to a batch: the ``collate_fn`` of a ``torch.utils.data.DataLoader``.

    Features become single precision, as networks have them. Times and stamps stay double and count
    from the first instance of their session, so that no digit is lost.

    Parameters
    ----------
    sessions : list of Session
        With the same features. Sessions with `observed` intervals, `ends` or `classes` are refused,
        since the loss does not support them: make a session of each annotated interval, and leave
        out ends and classes.

    Returns
    -------
    SessionBatch

    Examples
    --------
    >>> import torch
    >>> from torch.utils.data import DataLoader
    >>> from unjitter import simulate
    >>> from unjitter.torch import ImpreciseLabelLoss, collate
    >>> sessions = simulate.respiration(seed=0, sessions=6)
    >>> network, loss = torch.nn.Linear(sessions[0].X.shape[1], 1), ImpreciseLabelLoss()
    >>> for batch in DataLoader(sessions, batch_size=2, collate_fn=collate):
    ...     logits = network(batch.features).squeeze(-1)
    ...     value = loss(logits, batch)
    >>> logits.shape == batch.times.shape
    True
    """
    listed = sessions_of(sessions)
    same_names(listed)
    for position, session in enumerate(listed):
        _check(f"session {position if session.name is None else session.name}", session, listed[0])
    has_labels = any(session.labels is not None for session in listed)
    has_widths = any(session.rounded is not None for session in listed)
    groups = [session_groups(session) for session in listed]
    return SessionBatch(
        features=_padded([_single(session) for session in listed], torch.float32),
        times=_padded([session.times - _start(session) for session in listed], torch.float64),
        events=_padded([_stamps(session, has_widths) for session in listed], torch.float64),
        lengths=torch.tensor([len(session) for session in listed]),
        event_lengths=torch.tensor([len(session.events) for session in listed]),
        labels=_padded([_labels(session) for session in listed], torch.int64, UNKNOWN)
        if has_labels
        else None,
        annotators=_padded([_numbers(session) for session in listed], torch.int64)
        if several(groups)
        else None,
        groups=groups,
    )


def _check(title: str, session: Session, first: Session) -> None:
    if session.X.shape[1] != first.X.shape[1]:
        raise ValueError(
            f"{title} has {session.X.shape[1]} features, the first has {first.X.shape[1]}"
        )
    if session.observed is not None:
        raise ValueError(
            f"{title} has spans in which nobody annotated (observed), which the loss does not "
            "know: make a session of each span that was annotated"
        )
    if session.ends is not None:
        raise ValueError(
            f"{title} has ends of its events, which the loss does not know: "
            "session.replace(ends=None) leaves their beginnings"
        )
    if session.classes is not None or session.label_classes is not None:
        raise ValueError(
            f"{title} has events of several classes, which the loss does not tell apart: "
            "session.replace(classes=None, labels=session.labels) makes them events of one kind"
        )
    lost = np.argwhere(np.isinf(_single(session)) & np.isfinite(session.X))
    if len(lost):
        row, column = lost[0]
        raise ValueError(
            f"{title}: feature {column} of instance {row} is {session.X[row, column]:g}, beyond "
            "single precision: scale it"
        )


def _start(session: Session) -> float:
    return float(session.times[0]) if len(session) else 0.0


def _stamps(session: Session, has_widths: bool) -> NDArray[np.float64]:
    """Stamps, or their earliest and latest times."""
    stamps = session.events - _start(session)
    if not has_widths:
        return stamps
    half = np.zeros(len(stamps)) if session.rounded is None else session.rounded / 2.0
    return np.column_stack([stamps - half, stamps + half])


def _numbers(session: Session) -> NDArray[np.int64]:
    """Who gave each stamp, by place among all who annotated."""
    if session.annotators is None:
        return np.zeros(len(session.events), np.int64)
    return np.searchsorted(session._people(), session.annotators)


def _single(session: Session) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return session.X.astype(np.float32)


def _labels(session: Session) -> NDArray[np.int8]:
    return np.full(len(session), UNKNOWN, np.int8) if session.labels is None else session.labels


def _padded(rows: Sequence[NDArray[np.generic]], dtype: torch.dtype, fill: float = 0.0) -> Tensor:
    tensors = [torch.tensor(row, dtype=dtype) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=fill)
