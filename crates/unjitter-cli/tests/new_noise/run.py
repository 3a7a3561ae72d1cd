"""A noise model is added in a copy of the sources, by the steps of CONTRIBUTING.md and no others.

A file, two lines and `make stubs`: after that the library holds it to the laws of all noise models,
the command line learns with it, and Python reads the model. (The oracle and the documents are for
people to write.) The copy is built without optimisation in a folder that stays, so that only what
has changed is built again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[3]
COPY = SOURCES / "target" / "new-noise" / "sources"
TARGET = COPY.parent / "target"
NOISE = Path("crates/unjitter/src/model/noise")
BUILT = {"target", "node_modules", "__pycache__"}
ENVIRONMENT = os.environ | {
    "CARGO_TARGET_DIR": str(TARGET),
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "PYTHONPATH": str(COPY / "python"),
}


def run(*command: str | Path, where: Path = COPY) -> str:
    """What a command says; it must go well."""
    done = subprocess.run(
        list(map(str, command)), cwd=where, env=ENVIRONMENT, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def put(name: Path, content: bytes) -> None:
    """A file of the copy; one that is the same stays as it is, and is not built again."""
    path = COPY / name
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def with_lines(text: str) -> str:
    """The table with the new row, and the declaration of the file."""
    row = "    late_logistic::LateLogistic { period: f64, beats: f64 },\n"
    text = text.replace("mod laplace;\n", "mod laplace;\nmod late_logistic;\n")
    return text.replace("\n}\n", f"\n{row}}}\n", 1)


def copy_with_new_noise() -> None:
    """All sources, the new file and the two lines."""
    files = {}
    for folder, inner, names in os.walk(SOURCES):
        # What is built or installed, and histories.
        inner[:] = [name for name in inner if name not in BUILT and not name.startswith(".")]
        paths = [Path(folder) / name for name in names if not name.endswith(".so")]
        files |= {path.relative_to(SOURCES): path.read_bytes() for path in paths}
    files[NOISE / "mod.rs"] = with_lines(files[NOISE / "mod.rs"].decode()).encode()
    files[NOISE / "late_logistic.rs"] = (HERE / "late_logistic.rs").read_bytes()
    for old in COPY.rglob("*"):
        if old.is_file() and old.relative_to(COPY) not in files:
            old.unlink()
    for name, content in files.items():
        put(name, content)


def main() -> None:
    copy_with_new_noise()
    run("rustfmt", "--check", "--edition", "2024", NOISE / "late_logistic.rs")
    said = run("cargo", "test", "-p", "unjitter", "--lib", "model::noise")
    assert "late_logistic::tests::the_lag_is_measured_in_the_unit ... ok" in said, said
    assert "tests::densities_integrate_to_one ... ok" in said, said
    run("cargo", "build", "--quiet", "-p", "unjitter-cli", "-p", "unjitter-python")
    program, work = TARGET / "debug" / "unjitter", TARGET / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    run(program, "simulate", "--sessions", "2", "-o", ".", where=work)
    options = ["--noise", "late-logistic", "--period", "0.5", "--beats", "2"]
    run(program, "fit", ".", *options, "--restarts", "0", "--max-iterations", "20", where=work)
    noise = json.loads((work / "model.json").read_text())["model"]["noise"]
    assert noise == {"kind": "late_logistic", "period": 0.5, "beats": 2.0}, noise
    run(program, "align", ".", where=work)
    assert "Beats of the lag, with late-logistic noise; 1 by default" in run(program, "fit", "-h")
    shutil.copy(TARGET / "debug" / "lib_core.so", COPY / "python/unjitter/_core.abi3.so")
    stubs = run(sys.executable, "python/noise_stubs.py")
    (COPY / "python/unjitter/_noises.pyi").write_text(stubs)
    run(sys.executable, HERE / "check.py", work / "model.json")


if __name__ == "__main__":
    main()
