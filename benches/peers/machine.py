"""What was measured where: the machine, the versions, the day."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

PEERS = ["numpy", "scipy", "jax", "scikit-learn", "numba", "pandas"]


def description() -> dict:
    """Processor, caches, load, versions, date and commit."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "caches": _caches(),
        "load": round(os.getloadavg()[0], 1),
        "versions": _versions(),
        "date": datetime.date.today().isoformat(),
        "commit": _first_line(["git", "describe", "--always", "--dirty=-changed"]),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    number = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model\t")]
    return f"{names[0]} (model {number[0]})" if names else platform.processor()


def _caches() -> str:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ["level", "type", "size"]
        )
        if kind != "Instruction":
            found.append(f"L{level} {_size(size)}")
    return ", ".join(found)


def _size(text: str) -> str:
    kilobytes = int(text.removesuffix("K"))
    return f"{kilobytes} KiB" if kilobytes < 1024 else f"{kilobytes / 1024:g} MiB"


def _versions() -> dict[str, str]:
    versions = {"Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in PEERS}
    python = os.environ.get("PEERS_TORCH", "")
    ask = "import importlib.metadata as m; print(m.version('torch'))"
    versions["torch"] = _first_line([python, "-c", ask]) if python else "not present"
    versions["rustc"] = _first_line(["rustc", "--version"]).removeprefix("rustc ")
    return versions


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[0]
