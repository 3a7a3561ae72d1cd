"""The loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from .._models import Counts
from .._noise import Noise
from .._priors import Priors
from . import _path
from ._annotator import Annotator
from ._batch import Batch
from ._collate import SessionBatch
from ._gpu.room import Room
from ._gradient import Known, differentiable, in_place
from ._numbers import bare, check_resolution, flat_numbers

_REDUCTIONS = ("none", "sum", "mean")


class ImpreciseLabelLoss(Annotator):
    """Minus the log probability of sloppy stamps, given a network's logits.

    Parameters
    ----------
    counts : {"bernoulli", "categorical", "poisson", "geometric"} or an object of that kind
        Number of stamps per instance. A value given in an object is fixed and not learned, as in
        :class:`unjitter.EventDetector`: ``Bernoulli(false_rate=0.01)`` learns the hit rate alone.
    noise : str or an object such as Gaussian, StudentT or Uniform
        Delay of stamps from their instance, likewise.
    background_rate : float, optional
        Stamps per unit of `times` that come from no instance; 0 if there are none. It is learned if
        it is not given.
    alignment : {"free", "ordered"}
        Which alignments count, as in :class:`unjitter.EventDetector`. "free": stamps may come in
        another order than their instances; the sum over all alignments is approximated by belief
        propagation. "ordered": stamps keep the order of their instances, and the sum over those of
        one annotator with independent labels is exact. How exact those of several annotators and
        of chains are, sections 24 and 26 of ``docs/model.md`` say.
    labels : {"independent", "chain"}
        How labels of neighbouring instances depend on each other, given the logits. "chain": they
        form runs that begin and end at rates which are learned: an event covers several instances,
        and is stamped once. Stamps for nothing then all come from the background, which is above 0,
        and `false_rate` is 0; counts are "bernoulli" or "poisson". A logit of
        log(onset rate / offset rate) says nothing, -1.6 at the start: a good bias for the network
        to begin with. How likely an instance is, :meth:`probabilities` says.
    stamps : {"onset", "end", "presence"}
        What stamps are about, if labels form a chain: the first instance of a run, its last one, or
        any.
    varies : mapping of str to str, optional
        Numbers of the annotator that differ between groups of stamps, as in
        :class:`unjitter.EventDetector`: ``{"delay": "annotator", "spread": "subject"}``.
    clock : {"session", "clock", "device", "subject", "annotator"}, optional
        What has a clock of its own, as there; ``clock="session"`` is ``varies={"offset": "session",
        "drift": "session"}``. A loss follows its gradient and does not look for clocks that are off
        by more than about the time between events.
    groups : mapping of str to list of str, optional
        The names of all groups between which something varies, by what they have in common:
        ``{"annotator": ["ann", "bob"]}``. :func:`groups_of` collects them from sessions.
    scatter : mapping of str to float, optional
        How wide groups differ, as the standard deviation of what varies: ``{"delay": 0.5}`` in the
        unit of `times`; of drifts what a clock gains per unit of time, of all others on a
        logarithmic scale. It is the prior of :meth:`penalty` and not learned. By default one unit
        of time for delays and offsets, 0.01 for drifts, 0.4 for spreads and 0.7 for rates.
    start : mapping of str to float, array-like or mapping, optional
        Start values, by the names of `unconstrained` and in natural values:
        ``{"delay": 0.0, "spread": 2.0, "delay_by_annotator": {"ann": 0.1, "bob": -0.1}}``. The
        others start at a false rate of 0.01, a hit rate of 0.9, a delay of about 0, a spread of
        about 1 unit of time, a background of 0.001 stamps per unit of time, groups that do not
        differ, and runs of 2 units of time, 10 units apart. A spread that is too wide at the start
        is safer than one that is too narrow.
    reduction : {"mean", "sum", "none"}
        Of the values of the sequences of a batch: their mean (over sequences, however long they
        are), their sum, or all of them.
    priors : Priors, optional
        The priors of :meth:`penalty`. That of the background supposes about one stamp per unit of
        time, since a loss sees a batch at a time and not how many stamps there are; for other data,
        ``Priors(silence=(0.5 + 16.7 / s, 1.5), background=(20.0, 190.0 / r), delay_width=g / 4)``
        is what a detector takes for s stamps per instance, r per unit of time, and gaps of g units
        between them.
    time_unit : float
        The unit of delays and spreads for learning and for priors, in the unit of `times`. Use the
        usual spacing of your instances: an optimiser's steps then have the right size. It changes
        neither the loss nor the unit of reported values. A state dict carries it: loading one also
        sets the unit, and so gives the same natural values.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    unconstrained : torch.nn.ParameterDict
        The annotator's parameters, learned or fixed, by name and on an unconstrained scale:
        ``false_rate`` and ``hit_rate`` are logits, ``spread`` and ``background_rate`` logarithms.
        A chain has ``onset_rate`` and ``offset_rate``, and what varies ``delay_by_annotator`` and
        the like, with a number for each group.
        They are parameters like any other: pass ``loss.parameters()`` to the optimiser, perhaps
        with a larger learning rate than the network's.
    false_rate, hit_rate : float
        P(at least one stamp | negative instance), P(at least one stamp | positive instance).
    delay, spread : float
        Mean and standard deviation of stamp - instance time.
    background_rate : float
        Stamps per unit of time that come from no instance.
    counts, noise : models as in the arguments
        With the learned values, for :func:`unjitter.posterior`.

    Notes
    -----
    **Fixed values.** A value given in `counts` or `noise`, or as `background_rate`, is fixed from
    the beginning. To fix the value learned so far, call ``loss.hold("spread")``, which is
    ``loss.unconstrained["spread"].requires_grad_(False)``.

    **The penalty.** Stamps alone cannot distinguish a detector from its mirror image: calling every
    positive instance negative and swapping the two rates changes nothing. With little data, rates
    and spreads can also run off to their limits. Add :meth:`penalty`, minus the log prior; it
    belongs to the *sum* over all training sequences, once:

    ==================================  =======================================================
    objective                           for ``n`` training sequences
    ==================================  =======================================================
    ``reduction="sum"``, all at once    ``loss(...) + loss.penalty()``
    ``reduction="mean"``, any batches   ``loss(...) + loss.penalty() / n``
    ``reduction="sum"``, batches of b   ``loss(...) + loss.penalty() * (b / n)``
    ==================================  =======================================================

    The network's own weights have no prior here; that is the optimiser's ``weight_decay``.

    **The network's view.** A network that looks at neighbouring instances can be late itself, and
    no stamp distinguishes its delay from the annotator's. Show it each instance by itself, or fix
    the delay, or trust the prior on it.

    **Groups.** A group deviates from what all have in common by a number that :meth:`penalty` keeps
    near zero: without the penalty nothing says which is which. Attributes such as `delay` are what
    all have in common; :meth:`natural` tells the deviations too.

    **Known labels.** An infinite logit, of either sign, is a known label; it has no gradient.

    **On a GPU.** Logits there stay there, with Bernoulli or Poisson counts, Gaussian noise or a
    mixture, a background above 0, rates other than 0 and 1, and one annotator whose stamps are
    points in time; anything else, groups and chains among it, is computed on the CPU, with one
    warning. Times, stamps and lengths that are on the GPU too are used without any wait, and so is
    the penalty, so that both can be compiled and captured in a CUDA graph. The first call does wait
    once, to see how many instances a stamp could belong to; call the loss once before a capture.
    Instances beyond what there is room for are left out at the ends of a stamp's window: the next
    calls warn and make room. A captured graph cannot: where the spread or denser instances outgrow
    its room, by a quarter, the sequence has the value NaN, and the graph must be captured again.
    Sums are in float64, whatever the logits are: values are those of the CPU to 1e-5 of their size,
    gradients to 1e-4 of the largest.

    Half-precision logits give a loss in float32; other values, and all gradients, have the type and
    the device of the logits. There are no second derivatives.

    Examples
    --------
    A press at 2.4, from an annotator who is late by about a second:

    >>> import torch
    >>> from unjitter import posterior
    >>> from unjitter.torch import ImpreciseLabelLoss
    >>> loss = ImpreciseLabelLoss(start={"delay": 1.0, "spread": 0.5})
    >>> logits = torch.tensor([-1.0, 0.0, -1.0, -1.0], requires_grad=True)
    >>> value = loss(logits, times=[0.0, 1.0, 2.0, 3.0], events=[2.4])
    >>> (value + loss.penalty()).backward()
    >>> print(logits.grad)  # the press speaks for the instance at 1
    tensor([ 0.2252, -0.2911,  0.0388,  0.2307])
    >>> loss.unconstrained["delay"].grad is not None
    True

    The place of a press, after training of the network and the loss:

    >>> found = posterior(
    ...     [0.0, 1.0, 2.0, 3.0],
    ...     [2.4],
    ...     logits.detach(),
    ...     loss.counts,
    ...     loss.noise,
    ...     alignment=loss.alignment,
    ...     background_rate=loss.background_rate,
    ... )
    >>> found.best_alignment
    array([1])

    Two people, of whom each may be late in their own way, and one of whom only knows about when:

    >>> loss = ImpreciseLabelLoss(
    ...     varies={"delay": "annotator"}, groups={"annotator": ["ann", "bob"]}
    ... )
    >>> value = loss(logits, [0.0, 1.0, 2.0, 3.0], {"ann": [1.2], "bob": [[1.5, 2.5]]})
    >>> (value + loss.penalty()).backward()
    >>> print(loss.unconstrained["delay_by_annotator"].grad)  # bob is later
    tensor([-0.1108, -0.8036])
    """

    def __init__(
        self,
        counts: str | Counts = "bernoulli",
        noise: str | Noise = "gaussian",
        *,
        background_rate: float | None = None,
        alignment: str = "free",
        labels: str = "independent",
        stamps: str = "onset",
        varies: Mapping[str, str] | None = None,
        clock: str | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        scatter: Mapping[str, float] | None = None,
        start: Mapping[str, Any] | None = None,
        reduction: str = "mean",
        priors: Priors | None = None,
        time_unit: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            counts,
            noise,
            background_rate=background_rate,
            alignment=alignment,
            labels=labels,
            stamps=stamps,
            varies=varies,
            clock=clock,
            groups=groups,
            scatter=scatter,
            start=start,
            priors=priors,
            time_unit=time_unit,
            device=device,
            dtype=dtype,
        )
        if reduction not in _REDUCTIONS:
            raise ValueError(
                f"reduction is {reduction!r}, expected one of {', '.join(_REDUCTIONS)}"
            )
        self.reduction = reduction
        self._room = Room()

    def forward(
        self,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        events: Any = None,
        lengths: ArrayLike | Tensor | None = None,
        event_lengths: ArrayLike | Tensor | None = None,
        *,
        annotators: Any = None,
        groups: Any = None,
    ) -> Tensor:
        """Minus the log probability of the stamps.

        Times and stamps are tensors, arrays or lists of numbers, on any device. They are data and
        take no gradient. :func:`collate` makes them from sessions: ``loss(logits, batch)`` takes
        them all, with who gave each stamp.

        Parameters
        ----------
        logits : Tensor of shape (T,) or (B, T), or list of B tensors of shape (T_b,)
            Log-odds that each instance is positive: one sequence, a padded batch, or a list.
        times : of shape (T,) or (B, T), or a list of B; or a SessionBatch, and nothing else
            Time of each instance; within a sequence they do not decrease. For a padded batch, shape
            (T,) means that all sequences have the same times.
        events : of shape (M,), a list of B of shape (M_b,), or of shape (B, M)
            The stamps of the sequence, or of each; none is fine. They are sorted if they are not in
            order. Of shape (M, 2), (M_b, 2) or (B, M, 2) they are the earliest and latest times of
            stamps that are known to an interval. Of several people, a mapping for each sequence:
            ``{"ann": [1.4], "bob": []}``; who annotated and stamped nothing belongs in it.
        lengths : of shape (B,), optional
            Number of real instances in each row of a padded batch. The rest is ignored and has a
            gradient of zero.
        event_lengths : of shape (B,), optional
            Number of real stamps in each row of padded `events`.
        annotators : of the shape of the stamps, optional
            Who gave each, by number from 0 within the sequence, instead of a mapping. Without it
            everybody annotated alone. The largest number tells how many annotated the sequence: if
            somebody with a larger one gave no stamp, name all of them in `groups`.
        groups : mapping, or list of B mappings, optional
            Whose stamps these are, where something varies: ``{"session": "walk", "device":
            "phone"}``. "annotator" is one name, or a list of the names of all who annotated, in the
            order of their numbers; a mapping of stamps tells it already. What is left out has the
            value of all groups together.

        Returns
        -------
        Tensor
            Of shape (B,) for a batch with reduction "none", otherwise a scalar.

        Raises
        ------
        ValueError
            If a sequence, which is named by its place in the batch, has logits that are NaN, times
            that decrease, more stamps than its instances can give, or stamps that no alignment
            explains or belief propagation does not settle for; or if times or stamps are of a type
            that is coarser than the spread, as float32 is for seconds since 1970. On a GPU numbers
            stay there, and nobody waits for what is found: a sequence with a number that is NaN,
            with times or stamps that are infinite, with times that decrease, or for which belief
            propagation does not settle has the value NaN, and so have its gradients.
        """
        if isinstance(times, SessionBatch):
            others = (events, lengths, event_lengths, annotators, groups)
            if any(own is not None for own in others):
                raise ValueError("a SessionBatch has times, stamps and all else: give it alone")
            batch, times, events = times, times.times, times.events
            lengths, event_lengths = batch.lengths, batch.event_lengths
            annotators, groups = batch.annotators, batch.groups
        if not self._has_kernels(logits, events, annotators, groups):
            given = (logits, times, events, lengths, event_lengths)
            value: Tensor = self._on_cpu(*given, annotators, groups)
            return value
        plain = _path.without_names(events, _path.is_one(logits))
        return self._on_gpu(logits, times, plain, lengths, event_lengths)

    def _has_kernels(
        self, logits: Tensor | Sequence[Tensor], events: Any, annotators: Any, groups: Any
    ) -> bool:
        device = _path.device_of(logits)
        if device is None or device.type not in _path.DEVICES:
            return False
        reason = (
            _path.why_not_labels(self.labels, bool(self._effects))
            or _path.why_not(self._counts.kind, self._noise.kind, self._is_inside)
            or _path.why_not_stamps(events, _path.is_one(logits), annotators, groups)
        )
        if reason is not None:
            _path.warn_once(reason)
        return reason is None

    def _on_gpu(
        self,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        events: Any,
        lengths: ArrayLike | Tensor | None,
        event_lengths: ArrayLike | Tensor | None,
    ) -> Tensor:
        from ._gpu.batch import DeviceBatch
        from ._gpu.ops import log_evidence

        if not torch.compiler.is_compiling() and self._room.size == 0:
            # The first call waits anyway, to see how wide windows are.
            check_resolution("times", *flat_numbers("times", times), self.spread)
            check_resolution("events", *flat_numbers("events", events), self.spread)
        batch = DeviceBatch.of(logits, times, events, lengths, event_lengths)
        device = batch.log_odds.device
        params = torch.cat([p.to(device) for p in self.unconstrained.values()])
        components = (len(params) - 2) // 3
        values = log_evidence(
            batch.log_odds,
            params,
            batch.times,
            batch.stamps,
            batch.lengths,
            batch.event_lengths,
            batch.offsets,
            batch.event_offsets,
            batch.size,
            batch.instances,
            batch.most_stamps,
            batch.time_stride,
            self.alignment == "ordered",
            self._counts.kind == "poisson",
            components,
            self.time_unit,
            self._room.number,
        )
        return self._reduced((-values).to(batch.log_odds.dtype), batch.is_single)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _on_cpu(
        self,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        events: Any,
        lengths: ArrayLike | Tensor | None,
        event_lengths: ArrayLike | Tensor | None,
        annotators: Any,
        groups: Any,
    ) -> Tensor:
        named = {own["by"]: own["names"] for own in self._effects}
        given = (logits, times, events, lengths, event_lengths)
        batch = Batch.of(*given, annotators, groups, named)
        params = self._vector()
        own = bare(params)
        batch.check_resolution(self._core.delay_and_spread(own)[1])
        values, d_log_odds, d_params = self._core.gradient(own, batch, torch.get_num_threads())
        known = Known(values, d_log_odds, d_params, batch.instances)
        log_evidence = differentiable(batch.logits, params, known)
        return self._reduced((-log_evidence).to(batch.device, batch.dtype), batch.is_single)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def probabilities(
        self,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        lengths: ArrayLike | Tensor | None = None,
    ) -> Any:
        """p(y_i = 1) of each instance, without stamps: what the network has learned to find.

        Of independent labels it is the sigmoid of the logits. In a chain neighbours have a say.

        Parameters
        ----------
        logits, times, lengths
            As for the loss.

        Returns
        -------
        Tensor, or list of Tensor
            Like the logits; zero where these are padding. It has no gradient.

        Examples
        --------
        >>> from unjitter.torch import ImpreciseLabelLoss
        >>> loss = ImpreciseLabelLoss(labels="chain")
        >>> logits = torch.tensor([-9.0, 3.0, -2.0, 3.0, -9.0])
        >>> print(loss.probabilities(logits, [0.0, 0.5, 1.0, 1.5, 2.0]))  # one run
        tensor([0.0021, 0.9501, 0.9213, 0.9501, 0.0021])
        """
        is_single = _path.is_one(logits)
        silent: Any = [] if is_single else [[]] * len(logits)
        batch = Batch.of(logits, times, silent, lengths)
        found = self._core.probabilities(bare(self._vector()), batch)
        placed = in_place(found, batch.logits, batch.instances, np.ones(len(batch.instances)))
        return placed[0] if isinstance(logits, Tensor) else placed

    def _reduced(self, losses: Tensor, is_single: bool) -> Tensor:
        if self.reduction == "mean":
            return losses.mean()
        if self.reduction == "sum" or is_single:
            return losses.sum()
        return losses

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, reduction={self.reduction!r}"
