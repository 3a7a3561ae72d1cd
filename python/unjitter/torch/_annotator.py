"""What is learned of the annotator beside a network: held, copied and told, with its priors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
from . import _path
from ._gradient import Known, differentiable
from ._groups import deviations, effects
from ._numbers import bare
from ._prior import log_prior
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
        labels: str,
        stamps: str,
        varies: Mapping[str, str] | None,
        clock: str | None,
        groups: Mapping[str, Iterable[str]] | None,
        scatter: Mapping[str, float] | None,
        start: Mapping[str, Any] | None,
        priors: Priors | None,
        time_unit: float,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.alignment = one_of("alignment", alignment, ("free", "ordered"))
        self.labels = one_of("labels", labels, ("independent", "chain"))
        self.stamps = one_of("stamps", stamps, ("onset", "end", "presence"))
        if self.labels == "independent" and self.stamps != "onset":
            raise ValueError(f"stamps is {self.stamps!r}, which is for labels='chain'")
        self._effects = effects(varies, clock, groups, scatter)
        self._counts, self._noise = counts_model(counts), noise_model(noise)
        self._measure_in(time_unit)
        self._densities = (Priors() if priors is None else priors).settings(1.0)
        self._priors = json.dumps(self._densities)
        self.unconstrained = nn.ParameterDict()
        known = {**self._counts.values(), **self._noise.values()}
        if background_rate is not None:
            known["background_rate"] = [number("background_rate", background_rate)]
        if self.labels == "chain":
            self._refuse_false_rates(known)
            known["false_rate"] = [0.0]
        for name, numbers in begin(self._core, known, self._in_order(start)).items():
            begun = torch.tensor(numbers, device=device, dtype=dtype or torch.get_default_dtype())
            self.unconstrained[name] = nn.Parameter(begun, requires_grad=name not in known)
        self._log_prior(self._vector())
        self._look_at_ends()
        look = Annotator._look_at_ends
        self.register_load_state_dict_post_hook(look)  # type: ignore[no-untyped-call]

    def penalty(self) -> Tensor:
        """Minus the log prior of the rates, the delay and how groups deviate, for the table in the
        notes of :class:`ImpreciseLabelLoss`.

        Only learned parameters count. The prior is a density of natural values, so that its peak is
        the most probable rate or spread. On a GPU that has kernels for the loss it is computed
        there, without waiting.

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
        like = next(self.parameters())
        if like.device.type in _path.DEVICES and self._has_plain_parts():
            found = log_prior(dict(self.unconstrained.items()), self._densities)
            return -found.to(like.dtype)
        value: Tensor = self._penalty_of_core()
        return value.to(like.device, like.dtype)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _penalty_of_core(self) -> Tensor:
        params = self._vector()
        value, gradient = self._log_prior(params)
        known = Known(np.array([value]), gradient[:0], gradient[None, :], [0])
        return -differentiable([], params, known)[0]

    def _has_plain_parts(self) -> bool:
        """Whether there are kernels for its kinds of parts, as far as the prior knows these."""
        is_plain = _path.why_not_labels(self.labels, bool(self._effects)) is None
        is_known = self._counts.kind in _path.COUNTS and self._noise.kind in _path.NOISES
        return is_plain and is_known

    def hold(self: _Own, *names: str) -> _Own:
        """Fix parameters at their present values; returns the loss itself.

        Examples
        --------
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

    def natural(self) -> dict[str, float | tuple[float, ...] | dict[str, float]]:
        """The learned values, by name and in natural units.

        Those that differ between groups have a value for each: what is added to the delay, to the
        logarithm of the spread or of the background rate, or to the log-odds of a rate.

        >>> from unjitter.torch import ImpreciseLabelLoss
        >>> loss = ImpreciseLabelLoss(
        ...     start={"delay": 0.5}, background_rate=0.0, dtype=torch.float64
        ... )
        >>> {name: round(value, 9) for name, value in loss.natural().items()}
        {'false_rate': 0.01, 'hit_rate': 0.9, 'delay': 0.5, 'spread': 1.0, 'background_rate': 0.0}
        """
        named = deviations(self._effects)
        return {
            name: dict(zip(named[name], values))
            if name in named
            else values[0]
            if len(values) == 1
            else tuple(values)
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
        named = deviations(self._effects)
        values = ", ".join(
            f"{name} of {len(numbers)}"
            if name in named
            else f"{name}={', '.join(f'{number:.4g}' for number in numbers)}"
            for name, numbers in self._natural().items()
        )
        kinds = [self._counts.kind, self._noise.kind, self.alignment]
        kinds += [] if self.labels == "independent" else [self.labels, self.stamps]
        return f"{', '.join(kinds)}, {values}"

    def get_extra_state(self) -> dict[str, Any]:
        """The unit of a state dict's numbers, and whose deviations they are."""
        named = deviations(self._effects)
        return {"time_unit": self.time_unit, **({"groups": named} if named else {})}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Take over the unit of a state dict, whose numbers, and an optimiser's for them, are
        useless in another. Natural values that the state dict does not have stay the same."""
        own = deviations(self._effects)
        for name, groups in state.get("groups", {}).items():
            if name in own and own[name] != groups:
                raise ValueError(
                    f"{name} in the state dict is of {', '.join(groups)}, and in the loss of "
                    f"{', '.join(own[name])}"
                )
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
        alignment, labels, stamps = map(json.dumps, (self.alignment, self.labels, self.stamps))
        varying = json.dumps(self._effects)
        self._core = _core.Annotator(
            counts, noise, alignment, self.time_unit, labels, stamps, varying
        )

    def _in_order(self, start: Mapping[str, Any] | None) -> dict[str, ArrayLike]:
        """Start values in which those of groups are in the order of these."""
        named = deviations(self._effects)
        ordered = {} if start is None else dict(start)
        for name, values in ordered.items():
            if not isinstance(values, Mapping):
                continue
            if set(values) != set(named.get(name, [])):
                raise ValueError(
                    f"start of {name} is of {', '.join(map(str, values))}, expected "
                    f"{', '.join(named.get(name, [])) or 'a number'}"
                )
            ordered[name] = [values[group] for group in named[name]]
        return ordered

    def _refuse_false_rates(self, known: Mapping[str, list[float]]) -> None:
        """Stamps for nothing come from the background: instances outside of runs give none."""
        varies = any(own["what"] == "false_rate" for own in self._effects)
        if varies or known.get("false_rate", [0.0]) != [0.0]:
            raise ValueError(
                "a false rate supposes independent labels, and these form a chain; stamps for "
                "nothing are those of the background"
            )

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
