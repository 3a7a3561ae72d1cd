"""Losses for sloppy stamps, side by side: same network, same data, same threshold rule.

    python benches/losses/run.py            # measures
    python benches/losses/run.py --page     # writes docs/losses.md and its figure from the results
    python benches/losses/run.py --quick    # checks only, with tiny fits; writes nothing

Results go to a file per set in `target/losses` after every case; `--minutes` stops the
measuring between cases. A second run goes on from there.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import platform
import time
from dataclasses import asdict
from pathlib import Path

import data
import methods
import noise
import numpy
import score
import torch
import train
from padded import Padded, Scale

RESULTS = Path(__file__).resolve().parents[2] / "target" / "losses"
SIMULATED = "simulated"
RECORDINGS = 40  # simulated ones to learn from, and as many held out
STEPS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="checks only")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60.0, help="start no case after these")
    parser.add_argument("--sets", nargs="+", default=[SIMULATED, *data.present()])
    parser.add_argument("--page", action="store_true", help="write the page of what was measured")
    given = parser.parse_args()
    # The networks are small: one thread is as fast as many, and leaves the others alone.
    torch.set_num_threads(1)
    if given.quick:
        import checks

        checks.all_checks()
        return
    if given.page:
        import page

        page.write([json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))])
        return
    end = time.monotonic() + 60.0 * given.minutes
    for name in given.sets:
        measure(name, given.seeds, end)


def measure(name: str, seeds: int, end: float) -> None:
    """All cases of a set that are not in its file yet."""
    file = RESULTS / f"{name}.json"
    found = json.loads(file.read_text()) if file.is_file() else {"rows": []}
    found["about"] = about()
    done = {(row["family"], row["seed"]) for row in found["rows"]}
    for seed in range(seeds):
        for family in noise.usable():
            if (family.name, seed) in done or time.monotonic() > end:
                continue
            found["rows"] += one_case(name, family, seed)
            RESULTS.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(found, indent=1))


def about() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "date": datetime.date.today().isoformat(),
        "versions": f"unjitter {version('unjitter')}, PyTorch {torch.__version__}, "
        f"NumPy {numpy.__version__}, Python {platform.python_version()}",
        "steps": str(STEPS),
        "recordings": str(RECORDINGS),
    }


def one_case(name: str, family: noise.Family, seed: int) -> list[dict]:
    """Counts of every method and width, on one set with one family's stamps."""
    if name == SIMULATED:
        training, held_out = (data.simulated(seed + first, RECORDINGS) for first in (1000, 2000))
    else:
        training, held_out = data.split(data.real(name), seed)
    training = noise.stamp(training, family, seed)
    rows = []
    for method in methods.METHODS:
        for width, rate in itertools.product(method.widths, train.RATES):
            counts = one_fit(method, width, rate, training, held_out, STEPS, seed)
            row = {"set": name, "family": family.name, "seed": seed, "method": method.name}
            rows.append({**row, "width": width, "rate": rate, **asdict(counts)})
            told = f"{name} {family.name} {seed} {method.name} {width:g} {rate:g}"
            print(f"{told}: {counts.f1:.3f}", flush=True)
    return rows


def one_fit(
    method: methods.Method,
    width: float,
    rate: float,
    training: list[data.Recording],
    held_out: list[data.Recording],
    steps: int,
    seed: int,
) -> score.Counts:
    """Trains one network by one loss and judges it."""
    scale = Scale(training)
    padded, unseen = Padded.of(training, scale), Padded.of(held_out, scale)
    network = train.trained(padded, method.make(padded, training, width), rate, steps, seed)
    return score.judged(network, unseen, held_out, score.threshold(network, padded))


if __name__ == "__main__":
    main()
