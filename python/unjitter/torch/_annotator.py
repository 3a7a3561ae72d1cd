"""What is learned of the annotator beside a network: held, copied and told, with its priors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from .. import _core
from .._check import number, one_of
from .._models import Categorical, Counts, counts_model
from .._noise import Noise, noise_model
from .._priors import Priors
from ._gradient import Known, differentiable
from ._numbers import bare
from ._start import begin, check_name, short

_Floats = NDArray[np.float64]
_Own = TypeVar("_Own", bound="Annotator")


class Annotator(nn.Module):
    """The annotator's parameters on an unconstrained scale, with their natural values."""

    def __init__(
        self,
        counts: str | Counts,
        noise: str | Noise,
        *,
        background_rate: float | None,
        alignment: str,
        start: Mapping[str, ArrayLike] | None,
        priors: Priors | None,
        time_unit: float,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.alignment = one_of("alignment", alignment, ("free", "ordered"))
        self._counts, self._noise = counts_model(counts), noise_model(noise)
        self._measure_in(time_unit)
        self._priors = json.dumps((Priors() if priors is None else priors).settings(1.0))
        self.unconstrained = nn.ParameterDict()
        known = {**self._counts.values(), **self._noise.values()}
        if background_rate is not None:
            known["background_rate"] = [number("background_rate", background_rate)]
        for name, numbers in begin(self._core, known, {} if start is None else start).items():
            begun = torch.tensor(numbers, device=device, dtype=dtype or torch.get_default_dtype())
            self.unconstrained[name] = nn.Parameter(begun, requires_grad=name not in known)
        self._log_prior(self._vector())
        self._look_at_ends()
        look = Annotator._look_at_ends
        self.register_load_state_dict_post_hook(look)  # type: ignore[no-untyped-call]

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def penalty(self) -> Tensor:
        """Minus the log prior of the rates and of the delay, for the table in the notes above.

        Only learned parameters count. The prior is a density of natural values, so that its peak is
        the most probable rate or spread.

        Returns
        -------
        Tensor
            A scalar, where the parameters are.

        Examples
        --------
        >>> from unjitter.torch import ImpreciseLabelLoss
        >>> loss = ImpreciseLabelLoss()
        >>> loss.penalty().backward()
        >>> bool(loss.unconstrained["hit_rate"].grad > 0)  # it would rather be lower
        True
        """
        params = self._vector()
        value, gradient = self._log_prior(params)
        known = Known(np.array([value]), gradient[:0], gradient[None, :], [0])
        log_prior = differentiable([], params, known)
        like = next(self.parameters())
        return (-log_prior[0]).to(like.device, like.dtype)

    def hold(self: _Own, *names: str) -> _Own:
        """Fix parameters at their present values; returns the loss itself.

        >>> from unjitter.torch import ImpreciseLabelLoss
        >>> loss = ImpreciseLabelLoss().hold("delay", "spread")
        >>> [name for name, _ in loss.named_parameters() if _.requires_grad]
        ['unconstrained.false_rate', 'unconstrained.hit_rate', 'unconstrained.background_rate']
        """
        for name in names:
            check_name(self._core, name)
        for name in names:
            self.unconstrained[name].requires_grad_(False)
        return self

    def natural(self) -> dict[str, float | tuple[float, ...]]:
        """The learned values, by name and in natural units.

        >>> from unjitter.torch import ImpreciseLabelLoss
        >>> loss = ImpreciseLabelLoss(
        ...     start={"delay": 0.5}, background_rate=0.0, dtype=torch.float64
        ... )
        >>> {name: round(value, 9) for name, value in loss.natural().items()}
        {'false_rate': 0.01, 'hit_rate': 0.9, 'delay': 0.5, 'spread': 1.0, 'background_rate': 0.0}
        """
        return {
            name: values[0] if len(values) == 1 else tuple(values)
            for name, values in self._natural().items()
        }

    @property
    def false_rate(self) -> float:
        return self._natural()["false_rate"][0]

    @property
    def hit_rate(self) -> float:
        return self._natural()["hit_rate"][0]

    @property
    def delay(self) -> float:
        return self._core.delay_and_spread(bare(self._vector()))[0]

    @property
    def spread(self) -> float:
        return self._core.delay_and_spread(bare(self._vector()))[1]

    @property
    def background_rate(self) -> float:
        return self._natural()["background_rate"][0]

    @property
    def counts(self) -> Counts:
        values = self._natural()
        if isinstance(self._counts, Categorical):
            return Categorical(
                false_rate=values["false_rate"][0],
                hit_rate=values["hit_rate"][0],
                false_split=values["false_split"],
                hit_split=values["hit_split"],
            )
        return replace(
            self._counts, false_rate=values["false_rate"][0], hit_rate=values["hit_rate"][0]
        )

    @property
    def noise(self) -> Noise:
        natural = self._natural()
        values: dict[str, Any] = {
            own["name"]: natural[own["name"]] if own["is_list"] else natural[own["name"]][0]
            for own in self._noise.row["parameters"]
        }
        return replace(self._noise, **values)

    def extra_repr(self) -> str:
        values = ", ".join(
            f"{name}={', '.join(f'{number:.4g}' for number in numbers)}"
            for name, numbers in self._natural().items()
        )
        return f"{self._counts.kind}, {self._noise.kind}, {self.alignment}, {values}"

    def get_extra_state(self) -> dict[str, float]:
        """The unit of a state dict's numbers."""
        return {"time_unit": self.time_unit}

    def set_extra_state(self, state: dict[str, float]) -> None:
        """Take over the unit of a state dict, whose numbers, and an optimiser's for them, are
        useless in another. Natural values that the state dict does not have stay the same."""
        if state["time_unit"] == self.time_unit:
            return
        natural = self._natural()
        self._measure_in(state["time_unit"])
        with torch.no_grad():
            for name, numbers in begin(self._core, natural, {}).items():
                self.unconstrained[name].copy_(torch.from_numpy(numbers))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        # An old state dict without a unit is taken to be in ours.
        state_dict.setdefault(f"{prefix}_extra_state", self.get_extra_state())
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _measure_in(self, time_unit: float) -> None:
        self.time_unit = float(time_unit)
        counts, noise = (json.dumps(own.settings()) for own in (self._counts, self._noise))
        self._core = _core.Annotator(counts, noise, json.dumps(self.alignment), self.time_unit)

    def _look_at_ends(self, *_: Any) -> None:
        """Notes whether all parameters are inside their ranges, which learning never leaves."""
        self._is_inside = bool(torch.isfinite(self._vector().detach()).all())

    def _vector(self) -> Tensor:
        """All parameters, for the core."""
        return torch.cat([p.to("cpu", torch.float64) for p in self.unconstrained.values()])

    def _natural(self) -> dict[str, list[float]]:
        natural = self._core.natural(bare(self._vector()))
        return {short(name): list(values) for name, values in natural}

    def _log_prior(self, params: Tensor) -> tuple[float, _Floats]:
        free = [flag for p in self.unconstrained.values() for flag in [p.requires_grad] * len(p)]
        return self._core.log_prior(self._priors, bare(params), free)
