"""Learn precise event detectors from sloppy timestamps."""

from . import _noises, baselines, metrics, plot, signal, simulate, stamps
from ._agreement import Agreement
from ._classifiers import Kernel, Logistic, Mlp
from ._core import __version__
from ._dataset import read_dataset
from ._detector import EventDetector
from ._diagnosis import Diagnosis
from ._frames import sessions_from_frames
from ._memory import set_memory_limit
from ._models import Auto, Bernoulli, Categorical, Geometric, Poisson
from ._modes import Mode
from ._noises import *  # noqa: F403
from ._pipeline import Pipeline, make_pipeline
from ._plan import Plan
from ._posterior import Posterior, posterior
from ._priors import Priors
from ._session import Session
from ._sync import Synced, SyncedClock, sync
from ._table import Table
from ._transform import OnFeatures
from ._warnings import NotConvergedWarning, UnjitterWarning

__all__ = [
    "Agreement",
    "Auto",
    "Bernoulli",
    "Categorical",
    "Diagnosis",
    "EventDetector",
    "Geometric",
    "Kernel",
    "Logistic",
    "Mlp",
    "Mode",
    "NotConvergedWarning",
    "OnFeatures",
    "Pipeline",
    "Plan",
    "Poisson",
    "Posterior",
    "Priors",
    "Session",
    "Synced",
    "SyncedClock",
    "Table",
    "UnjitterWarning",
    "__version__",
    "baselines",
    "make_pipeline",
    "metrics",
    "plot",
    "posterior",
    "read_dataset",
    "sessions_from_frames",
    "set_memory_limit",
    "signal",
    "simulate",
    "stamps",
    "sync",
]
__all__ += _noises.__all__
