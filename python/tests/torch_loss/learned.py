"""Losses in which everything is learned."""

import torch

from unjitter import Uniform
from unjitter.torch import ImpreciseLabelLoss

BACKGROUND = 0.02


def double(counts, noise, **options):
    """A loss in double precision that starts at the values of the models, with a background, and
    holds none of them."""
    start = {**counts.values(), **noise.values(), "background_rate": BACKGROUND}
    free = noise if isinstance(noise, Uniform) else type(noise)(**_size(noise))
    return ImpreciseLabelLoss(
        type(counts)(**_size(counts)), free, start=start, dtype=torch.float64, **options
    )


def _size(model):
    """The settings of a model that are no values."""
    return {name: value for name, value in model.settings().items() if name != "kind"}
