"""Warnings of unjitter, by category, so that each can be silenced or raised separately."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


class UnjitterWarning(UserWarning):
    """A warning about data or about the fitted model."""


class NotConvergedWarning(UnjitterWarning, ConvergenceWarning):  # type: ignore[misc]
    """Learning stopped early. Also a ``ConvergenceWarning`` of scikit-learn."""


def warn(kind: str, words: str, stacklevel: int) -> None:
    """Issues a warning of the library; `stacklevel` counts from the caller."""
    category = NotConvergedWarning if kind == "not_converged" else UnjitterWarning
    warnings.warn(words, category, stacklevel=stacklevel + 1)
