"""What unjitter warns of, by category, so that each can be silenced or raised on its own."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


class UnjitterWarning(UserWarning):
    """Something to be wary of in data or in what was learned from them."""


class NotConvergedWarning(UnjitterWarning, ConvergenceWarning):  # type: ignore[misc]
    """Learning stopped before it was done. scikit-learn's ``ConvergenceWarning`` too."""


def warn(kind: str, words: str, stacklevel: int) -> None:
    """Issues a warning of the library; `stacklevel` counts from the caller."""
    category = NotConvergedWarning if kind == "not_converged" else UnjitterWarning
    warnings.warn(words, category, stacklevel=stacklevel + 1)
