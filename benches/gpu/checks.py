"""The kernels on the GPU beside the core in double precision, and what else must work there."""

from __future__ import annotations

import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch
from data import START, Batch, batch

#: Of a batch: values relative to their size, gradients relative to the largest one.
VALUE, GRADIENT = 1e-5, 1e-4


def accuracy(library: ModuleType, device: str, quick: bool) -> list[dict]:
    """Errors for all kinds of parts, and for batches of many shapes."""
    small, long = (60, 200) if quick else (2000, 10_000)
    cases = {
        f"ragged, up to {small}": batch(4 if quick else 64, small, seed=1, ragged=True),
        f"{long} instances": batch(1 if quick else 4, long, seed=2),
        "saturated logits": _saturated(batch(2 if quick else 8, small, seed=3)),
    }
    rows = []
    for alignment in ["free", "ordered"]:
        for counts in ["bernoulli", "poisson"]:
            for noise in [None, library.noises.GaussianMixture(components=2)]:
                for name, given in cases.items():
                    found = _errors(library, given, device, counts, noise, alignment)
                    kind = f"{alignment}, {counts}, {'mixture' if noise else 'gaussian'}"
                    rows.append({"case": f"{kind}: {name}", **found})
    return rows


def _errors(library, given: Batch, device: str, counts, noise, alignment) -> dict:
    start = START if noise is None else {"background_rate": START["background_rate"]}
    options = {"alignment": alignment, "start": start, "reduction": "none"}
    core = library.Loss(counts, noise or "gaussian", dtype=torch.float64, **options)
    ours = library.Loss(counts, noise or "gaussian", dtype=torch.float32, **options).to(device)
    # The same numbers for both: what single precision makes of the start is not an error.
    with torch.no_grad():
        for one, other in zip(core.unconstrained.values(), ours.unconstrained.values()):
            one.copy_(other.cpu().double())
    want = _gradients(core, given.logits.double(), given)
    got = _gradients(ours, given.logits.to(device), given.to(device))
    errors = [(a.cpu().double() - b).abs() for a, b in zip(got, want)]
    return {
        "value": (errors[0] / want[0].abs()).max().item(),
        "d_logits": (errors[1].max() / want[1].abs().max()).item(),
        "d_params": (errors[2].max() / want[2].abs().max()).item(),
    }


def _gradients(loss, logits, given: Batch) -> tuple[torch.Tensor, ...]:
    own = logits.detach().clone().requires_grad_()
    values = loss(own, *given.data)
    values.sum().backward()
    return values.detach(), own.grad, torch.cat([p.grad for p in loss.unconstrained.values()])


def _saturated(given: Batch) -> Batch:
    given.logits[:, ::3] *= 40.0
    given.logits[:, 5] = torch.inf
    given.logits[:, 8] = -torch.inf
    return given


def smoke(library: ModuleType, device: str) -> dict[str, str]:
    """ "ok", or what went wrong."""
    checks = [no_waiting, graph, compiled, autocast, fallback, distributed]
    return {check.__name__: _told(lambda own=check: own(library, device)) for check in checks}


def _told(check: Callable[[], None]) -> str:
    try:
        check()
    except Exception:
        return traceback.format_exc(limit=-3)
    return "ok"


def objective(loss, logits: torch.Tensor, given: Batch) -> torch.Tensor:
    """That of the docs, as if the batch were all there is."""
    return loss(logits, *given.data) + loss.penalty() / len(given.lengths)


def _ready(library, device: str, **options):
    given = batch(8, 264, seed=4).to(device)
    loss = library.Loss(start=START, **options).to(device)
    logits = given.logits.requires_grad_()
    for _ in range(3):
        objective(loss, logits, given).backward()
    torch.cuda.synchronize()
    expected = logits.grad.clone() / 3
    logits.grad = None
    return given, loss, logits, expected


def no_waiting(library, device: str) -> None:
    for alignment in ["free", "ordered"]:
        given, loss, logits, _ = _ready(library, device, alignment=alignment)
        torch.cuda.set_sync_debug_mode("error")
        try:
            objective(loss, logits, given).backward()
        finally:
            torch.cuda.set_sync_debug_mode("default")


def graph(library, device: str) -> None:
    given, loss, logits, expected = _ready(library, device)
    learned = [logits, *loss.parameters()]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        want = torch.autograd.grad(objective(loss, logits, given), learned)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        gradients = torch.autograd.grad(objective(loss, logits, given), learned)
    for own in gradients:
        own.zero_()
    captured.replay()
    torch.cuda.synchronize()
    assert torch.allclose(gradients[0], expected, rtol=1e-5, atol=1e-7)
    assert all(torch.allclose(*own, rtol=1e-5, atol=1e-6) for own in zip(gradients, want))


def compiled(library, device: str) -> None:
    given, loss, logits, expected = _ready(library, device)
    torch.compile(objective, fullgraph=True)(loss, logits, given).backward()
    assert torch.allclose(logits.grad, expected, rtol=1e-5, atol=1e-7)


def autocast(library, device: str) -> None:
    given, loss, _, _ = _ready(library, device)
    network = torch.nn.Linear(given.features.shape[2], 1).to(device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        value = loss(network(given.features).squeeze(-1), *given.data)
    value.backward()
    assert value.dtype == torch.float32 and torch.isfinite(network.weight.grad).all()


def fallback(library, device: str) -> None:
    given, _, logits, _ = _ready(library, device)
    library.path.warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        library.Loss("geometric").to(device)(logits, *given.data).backward()
    assert any("computed on the CPU" in str(warning.message) for warning in told)


def distributed(library, device: str) -> None:
    given, loss, _, _ = _ready(library, device)

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.loss = torch.nn.Linear(given.features.shape[2], 1), loss

        def forward(self, features, *data):
            return self.loss(self.network(features).squeeze(-1), *data)

    with tempfile.TemporaryDirectory() as folder:
        store = torch.distributed.FileStore(str(Path(folder) / "store"), 1)
        torch.distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
        try:
            both = torch.nn.parallel.DistributedDataParallel(Both().to(device), device_ids=[0])
            both(given.features, *given.data).backward()
            assert torch.isfinite(both.module.network.weight.grad).all()
        finally:
            torch.distributed.destroy_process_group()
