"""Prints `unjitter/_noises.pyi`: the classes of the noise models, for type checkers."""

from __future__ import annotations

from unjitter._noise import NOISE, Noise, arguments


def stub(model: type[Noise]) -> str:
    """The class as type checkers see it."""
    own = list(arguments(model.row))
    if not own:
        return f"class {model.__name__}(Noise): ...\n"
    fields = "".join(f"    {name}: {kind}\n" for name, kind, _, _ in own)
    given = "".join(
        f"        {name}: {kind}{'' if default is ... else f' = {default}'},\n"
        for name, kind, _, default in own
    )
    start = f"    def __init__(\n        self,\n{given}    ) -> None: ...\n"
    return f"class {model.__name__}(Noise):\n{fields}{start}"


def stubs() -> str:
    """All of the file."""
    models = sorted(model.__name__ for model in NOISE.values())
    names = "".join(f'    "{name}",\n' for name in models)
    return (
        '"""The classes of the noise models, for type checkers: `make stubs` writes this."""\n\n'
        f"from typing import Any\n\nfrom ._noise import Noise\n\n__all__ = [\n{names}]\n\n"
        + "\n".join(map(stub, NOISE.values()))
    )


if __name__ == "__main__":
    print(stubs(), end="")
