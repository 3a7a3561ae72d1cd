"""What a detector has learned, and what it knows of given sessions."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import joblib
import numpy as np

from . import _core
from ._groups import looks_for_clocks, named, varying
from ._modes import modes_of
from ._session import Session
from ._settings import Settings
from ._warnings import warn


class Learned(Settings):
    """A fitted model, and its numbers as attributes."""

    delay_: float
    spread_: float
    miss_rate_: float
    false_rate_: float
    background_rate_: float
    _fitted: _core.Fitted
    _learned: ClassVar[Any] = _core.Fitted

    def _adopt(self, fitted: _core.Fitted) -> None:
        """Sets the attributes of the fitted model."""
        self._fitted = fitted
        for name, value in json.loads(fitted.learned()).items():
            setattr(self, f"{name}_", value)
        self._adopt_runs()
        self.ends_ = json.loads(fitted.learned_ends())
        self.modes_ = modes_of(fitted)
        self.parameters_ = fitted.parameters()
        own = fitted.estimates(0.95)
        self.standard_errors_ = {
            name: float(rows[0, 0]) if "." not in name else rows[:, 0] for name, rows in own.items()
        }
        outcome = json.loads(fitted.outcome())
        self.log_evidence_ = float(outcome["log_evidence"])
        self.converged_ = bool(outcome["converged"])
        self.n_iter_ = int(outcome["iterations"])
        self.time_unit_ = fitted.time_unit
        names = fitted.classes()
        self.classes_ = np.array([None, *names] if len(names) > 1 else [0, 1])
        self.confusion_ = fitted.confusion()
        self.n_features_in_ = fitted.n_features
        linear = fitted.linear()
        if linear is not None:
            self.coef_, self.intercept_ = linear[0].reshape(1, -1), np.array([linear[1]])
        elif hasattr(self, "coef_"):
            del self.coef_, self.intercept_
        names = json.loads(fitted.metadata()).get("features")
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _names(self) -> list[str]:
        """Classes of events, if there are several."""
        self._check_fitted()
        names = self._fitted.classes()
        return names if len(names) > 1 else []

    def _refuse(self, sessions: list[Session]) -> list[str]:
        """Refuses data that is certainly wrong if `check` is on; returns suspicious findings."""
        if not self.check:
            return []
        width = sessions[0].X.shape[1]
        if any(session.X.shape[1] != width for session in sessions):
            return []  # for the library to refuse
        names = sessions[0].feature_names or [f"X[:, {k}]" for k in range(width)]
        dated = all(session.calendar is not None for session in sessions)
        for_clocks = looks_for_clocks(self._variations())
        problems, suspicious = _core.inspect(sessions, names, dated, for_clocks)
        if problems:
            raise ValueError(f"{'; '.join(problems)} (check=False goes on all the same)")
        return suspicious

    def _named(self, sessions: list[Session]) -> list[dict[str, str]]:
        """What differs between groups; refuses sessions of which nobody can tell the group."""
        differs = varying(self._fitted)
        named(sessions, (own["by"] for own in differs))
        return differs

    def _knowing(self, sessions: list[Session]) -> _core.Fitted:
        """The fitted model with what differs for the groups of these sessions, seen or not; for
        methods that users call, whose line a warning names."""
        if not self._named(sessions):
            return self._fitted
        # A session that is given twice says no more than one.
        distinct = list({id(session): session for session in sessions}.values())
        threads = joblib.effective_n_jobs(self.n_jobs)
        known, warning = _core.adapted(self._fitted, distinct, self.use_labels, threads)
        if warning is not None:
            warn(*warning, stacklevel=3)
        return known
