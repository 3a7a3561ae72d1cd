"""The library from a wheel, where nothing but NumPy and PyTorch is installed.

The loss needs the compiled core and a few modules; scikit-learn and the rest of what `import
unjitter` needs may be missing on a machine that can install nothing. So the packages are entered
without running their `__init__`, and without a wheel the installed library is taken as it is.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType


def load(wheel: Path | None) -> ModuleType:
    """A module with the loss, the models and the kernels' switches."""
    if wheel is None:
        importlib.import_module("unjitter.torch")
    else:
        found = sorted(wheel.glob("*.whl")) if wheel.is_dir() else [wheel]
        folder = Path(tempfile.mkdtemp(prefix="unjitter-wheel-"))
        zipfile.ZipFile(found[-1]).extractall(folder)
        for name in ["unjitter", "unjitter.torch"]:
            package = ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")))]
            sys.modules[name] = package
    library = ModuleType("library")
    library.Loss = importlib.import_module("unjitter.torch._loss").ImpreciseLabelLoss
    library.models = importlib.import_module("unjitter._models")
    library.noises = importlib.import_module("unjitter._noises")
    library.path = importlib.import_module("unjitter.torch._path")
    library.ops = importlib.import_module("unjitter.torch._gpu.ops")
    return library
