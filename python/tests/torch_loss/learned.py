"""Losses in which everything is learned."""

import torch

from unjitter import Uniform
from unjitter.torch import ImpreciseLabelLoss


def double(counts, noise, **options):
    """A loss in double precision that starts at the values of the models and holds none of them."""
    start = {**counts.values(), **noise.values()}
    free = noise if isinstance(noise, Uniform) else type(noise)(**_size(noise))
    return ImpreciseLabelLoss(
        type(counts)(**_size(counts)), free, start=start, dtype=torch.float64, **options
    )


def _size(model):
    """The settings of a model that are no values."""
    return {name: value for name, value in model.settings().items() if name != "kind"}
