"""The classes of the noise models, by their names.

Type checkers read them in `_noises.pyi`, which `make stubs` writes.
"""

from ._noise import NOISE

__all__ = [model.__name__ for model in NOISE.values()]

globals().update({model.__name__: model for model in NOISE.values()})
