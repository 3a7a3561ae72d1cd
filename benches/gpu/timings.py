"""Milliseconds of the loss, of torch's CTC and of training steps, in turns on the same data."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from types import ModuleType

import torch
from checks import objective
from data import FEATURES, START, Batch, batch
from torch.nn.functional import binary_cross_entropy_with_logits, ctc_loss, logsigmoid

SIZES = [(32, 264), (256, 264), (32, 2000), (256, 2000), (64, 10_000)]
QUICK = [(2, 40), (3, 60)]


class Detector(torch.nn.Module):
    """Two layers, 64 wide, both ways."""

    def __init__(self) -> None:
        super().__init__()
        options = {"num_layers": 2, "bidirectional": True, "batch_first": True}
        self.gru = torch.nn.GRU(FEATURES, 64, **options)
        self.out = torch.nn.Linear(128, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.out(self.gru(features)[0]).squeeze(-1)


def table(library: ModuleType, device: str, quick: bool) -> list[dict]:
    return [row(library, device, *size, quick) for size in (QUICK if quick else SIZES)]


def row(library: ModuleType, device: str, size: int, length: int, quick: bool) -> dict:
    given = batch(size, length).to(device)
    network = Detector().to(device)
    losses = {
        order: library.Loss(alignment=order, start=START).to(device)
        for order in ["free", "ordered"]
    }
    logits = given.logits.clone().requires_grad_()

    def ours(order: str, kernels: bool) -> Callable[[], None]:
        def work() -> None:
            library.path.DEVICES = {device} if kernels else set()
            losses[order](logits, *given.data).backward()

        return work

    def step(loss: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], None]:
        def work() -> None:
            library.path.DEVICES = {device}
            network.zero_grad()
            loss(network(given.features)).backward()

        return work

    works = {
        "core": ours("free", False),
        "free": ours("free", True),
        "core, ordered": ours("ordered", False),
        "ordered": ours("ordered", True),
        "ctc": lambda: ctc(logits, given).backward(),
        "step, cross-entropy": step(
            lambda logits: binary_cross_entropy_with_logits(logits, given.labels)
        ),
        "step, free": step(lambda logits: objective(losses["free"], logits, given)),
        "step, ordered": step(lambda logits: objective(losses["ordered"], logits, given)),
    }
    found: dict = {"batch": size, "length": length, **in_turns(works, device, 2 if quick else 9)}
    library.path.DEVICES = {device}
    found["cells"] = given.cells()
    for order, loss in losses.items():
        found[f"room, {order}"] = loss._room.size
        found[f"rounds, {order}"] = loss._room.latest[1]
        if device == "cuda":
            found[f"bytes per cell, {order}"] = memory(loss, logits, given) / found["cells"]
            found[f"on the gpu, {order}"] = replayed(loss, logits, given)
    return found


def ctc(logits: torch.Tensor, given: Batch) -> torch.Tensor:
    classes = torch.stack([logsigmoid(-logits), logsigmoid(logits)], dim=2).transpose(0, 1)
    targets = torch.ones(given.events.shape, dtype=torch.int64, device=logits.device)
    counts = torch.minimum(given.event_lengths, given.lengths // 2)
    return ctc_loss(classes, targets, given.lengths, counts, zero_infinity=True)


def in_turns(works: dict[str, Callable[[], None]], device: str, rounds: int) -> dict[str, float]:
    """The median milliseconds of each."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for own in works.values():
        for _ in range(3 if device == "cuda" else 1):
            own()
    for _ in range(rounds):
        for name, own in works.items():
            found[name].append(_timed(own, device))
    return {name: statistics.median(times) for name, times in found.items()}


def _timed(work: Callable[[], None], device: str) -> float:
    """Of several in a row, so that the GPU need not wait for the first."""
    repeats = 1 if device == "cpu" else 5
    _wait(device)
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    _wait(device)
    return (time.perf_counter() - start) * 1e3 / repeats


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def memory(loss, logits: torch.Tensor, given: Batch) -> float:
    """The most bytes that forward and backward hold beyond what was there."""
    logits.grad = None
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    loss(logits, *given.data).backward()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def replayed(loss, logits: torch.Tensor, given: Batch) -> float:
    """Milliseconds of a CUDA graph of both ways: what the GPU does, without its host."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.autograd.grad(loss(logits, *given.data), logits)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.autograd.grad(loss(logits, *given.data), logits)
    return statistics.median(_timed(graph.replay, "cuda") for _ in range(5))


def tuning(library: ModuleType, device: str) -> list[dict]:
    """The kernels with more warps to a window and fewer, and with larger tiles and smaller."""
    usual = library.ops.CELLS_PER_WARP, library.ops.TILE
    rows = []
    for cells, tile in [(64, 1024), (64, 512), (32, 512), (64, 2048), (128, 1024)]:
        library.ops.CELLS_PER_WARP, library.ops.TILE = cells, tile
        for size, length in [(256, 264), (64, 10_000)]:
            given = batch(size, length).to(device)
            logits = given.logits.clone().requires_grad_()
            for order in ["free", "ordered"]:
                loss = library.Loss(alignment=order, start=START).to(device)
                for _ in range(3):
                    loss(logits, *given.data).backward()
                torch.cuda.synchronize()
                loss(logits, *given.data).backward()
                found = {"on the gpu": replayed(loss, logits, given)}
                named = {"batch": size, "length": length, "alignment": order}
                chosen = {"cells per warp": cells, "tile": tile}
                rows.append({**chosen, **named, **found, "rounds": loss._room.latest[1]})
    library.ops.CELLS_PER_WARP, library.ops.TILE = usual
    return rows
