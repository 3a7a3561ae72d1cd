"""The penalty by PyTorch, where parameters are on a GPU, beside that of the core."""

import numpy as np
import pytest
import torch

from unjitter import Bernoulli, Gaussian, GaussianMixture, Priors
from unjitter.torch import ImpreciseLabelLoss, _path

PARTS = {
    "gaussian": ("bernoulli", "gaussian"),
    "mixture": ("poisson", GaussianMixture(components=3)),
    "one component": ("poisson", GaussianMixture(components=1)),
    "some are known": (Bernoulli(false_rate=0.0), Gaussian(delay=0.3)),
}
PRIORS = {
    "usual": Priors(),
    "all given": Priors(
        hit_rate=(4.0, 2.5),
        silence=(6.0, 1.5),
        delay=(0.3, 2.0),
        variance=(2.0, 1.5),
        mixture_weight=3.0,
        background=(2.5, 8.0),
    ),
    "wide delays": Priors(delay_width=7.0),
}


@pytest.fixture
def on_gpu(monkeypatch):
    """Says whether the CPU counts as a device with kernels."""
    return lambda on: monkeypatch.setattr(_path, "DEVICES", {"cpu"} if on else set())


def both(loss):
    """The penalty and its gradient in what is learned."""
    loss.zero_grad()
    value = loss.penalty()
    value.backward()
    return value.detach(), torch.cat([p.grad for p in loss.parameters() if p.grad is not None])


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("priors", PRIORS)
def test_it_is_that_of_the_core(on_gpu, parts, priors):
    options = {"priors": PRIORS[priors], "time_unit": 0.5, "dtype": torch.float64}
    loss = ImpreciseLabelLoss(*PARTS[parts], **options)
    random = np.random.default_rng(0)
    for _ in range(100):
        with torch.no_grad():
            for own in loss.parameters():
                own += torch.from_numpy(random.normal(0.0, 0.5, own.shape))
        on_gpu(False)
        want = both(loss)
        on_gpu(True)
        got = both(loss)
        for found, expected in zip(got, want):
            # Sums of ten numbers that may cancel.
            assert torch.allclose(found, expected, rtol=1e-12, atol=1e-11)


def test_it_needs_no_copy_of_the_parameters(on_gpu, monkeypatch):
    loss = ImpreciseLabelLoss()
    on_gpu(True)
    # Every copy goes this way, and each one would wait.
    monkeypatch.setattr(ImpreciseLabelLoss, "_vector", None)
    monkeypatch.setattr(torch.Tensor, "item", None)
    loss.penalty().backward()
    assert loss.penalty().dtype == torch.float32


def test_it_is_zero_where_all_is_known(on_gpu):
    on_gpu(True)
    known = Bernoulli(0.02, 0.8), Gaussian(0.25, 0.5)
    penalty = ImpreciseLabelLoss(*known, background_rate=0.1).penalty()
    assert (penalty.item(), penalty.dtype) == (0.0, torch.float32)


@pytest.mark.parametrize(
    "options",
    [
        {"labels": "chain"},
        {"noise": "laplace"},
        {"counts": "categorical"},
        {"varies": {"delay": "annotator"}, "groups": {"annotator": ["ann"]}},
    ],
    ids=str,
)
def test_other_parts_are_left_to_the_core(on_gpu, options):
    loss = ImpreciseLabelLoss(**options)
    on_gpu(False)
    want = both(loss)
    on_gpu(True)
    assert all(torch.equal(a, b) for a, b in zip(both(loss), want))


def test_a_compiled_objective_is_one_graph(on_gpu):
    on_gpu(True)
    loss = ImpreciseLabelLoss("poisson", dtype=torch.float64)
    want = both(loss)
    loss.zero_grad()
    torch.compile(loss.penalty, fullgraph=True, backend="aot_eager")().backward()
    gradient = torch.cat([p.grad for p in loss.parameters()])
    assert torch.allclose(gradient, want[1], rtol=1e-14, atol=1e-14)  # rounding
