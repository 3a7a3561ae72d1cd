"""A loss for PyTorch: train any network on sloppy timestamps.

The network gives each instance a logit, and the loss is minus the log probability of the stamps,
summed over all alignments to instances. The annotator's delay, spread and rates are parameters of
the loss and learned with the network. One pass gives the value and all derivatives: of the compiled
core on the CPU, or of a Triton kernel on the GPU.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("unjitter.torch needs PyTorch: pip install torch") from error

from ._collate import SessionBatch, collate
from ._groups import groups_of
from ._loss import ImpreciseLabelLoss

__all__ = ["ImpreciseLabelLoss", "SessionBatch", "collate", "groups_of"]
