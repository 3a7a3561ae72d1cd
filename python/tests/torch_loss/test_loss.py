"""The value of the loss and its gradients."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from learned import BACKGROUND, double

import unjitter
from unjitter import (
    Bernoulli,
    Categorical,
    Gaussian,
    GaussianMixture,
    Geometric,
    Laplace,
    Poisson,
    ShiftedGamma,
    StudentT,
    Uniform,
)

COUNTS = [
    Bernoulli(false_rate=0.05, hit_rate=0.8),
    Categorical([[0.9, 0.07, 0.03], [0.2, 0.6, 0.2]]),
    Poisson(false_rate=0.05, hit_rate=0.8),
    Geometric(false_rate=0.05, hit_rate=0.8),
]
# No stamp of SEQUENCES is at a kink of these or at an end of an interval.
NOISE = [
    Gaussian(delay=0.4, spread=0.9),
    GaussianMixture(weights=[0.3, 0.7], delays=[-0.2, 1.1], spreads=[0.5, 0.8]),
    Laplace(delay=0.4, spread=0.9),
    StudentT(delay=0.4, scale=0.7, degrees_of_freedom=3.5),
    ShiftedGamma(shift=-0.6, shape=2.5, spread=0.9),
    Uniform(-1.513, 3.017),
]
PAIRS = [(counts, noise) for counts in COUNTS for noise in NOISE]
IDS = [f"{counts.kind}-{noise.kind}" for counts, noise in PAIRS]

# Times, stamps and logits; the second sequence has no stamp.
SEQUENCES = [
    ([0.0, 1.1, 2.0, 3.2, 4.1], [1.83, 3.74], [-2.0, 0.5, 1.0, -1.5, 0.3]),
    ([0.5, 1.5, 2.5], [], [-0.7, 0.2, -1.0]),
    ([10.0, 11.0, 12.5, 13.0], [11.29], [0.1, 2.0, -1.0, 0.0]),
]
TIMES, EVENTS, LOGITS = map(list, zip(*SEQUENCES))


def tensors(dtype=torch.float64, requires_grad=True):
    return [torch.tensor(own, dtype=dtype, requires_grad=requires_grad) for own in LOGITS]


def padded(rows, fill):
    most = max(map(len, rows))
    table = [list(row) + [fill] * (most - len(row)) for row in rows]
    return torch.tensor(table, dtype=torch.float64)


@pytest.mark.parametrize("alignment", ["free", "ordered"])
@pytest.mark.parametrize(("counts", "noise"), PAIRS, ids=IDS)
def test_gradients_match_finite_differences(counts, noise, alignment):
    # A unit of time other than one, so that forgetting it shows.
    loss = double(counts, noise, alignment=alignment, reduction="none", time_unit=1.7)
    parameters = list(loss.unconstrained.values())

    def value(*given):
        # The parameters are gradcheck's own tensors: perturbed in place.
        return loss(list(given[:3]), TIMES, EVENTS)

    assert torch.autograd.gradcheck(value, (*tensors(), *parameters))


@pytest.mark.parametrize(("counts", "noise"), PAIRS, ids=IDS)
@pytest.mark.parametrize("alignment", ["free", "ordered"])
@pytest.mark.parametrize("time_unit", [1.0, 0.3])
def test_value_is_that_of_bare_inference(counts, noise, alignment, time_unit):
    loss = double(counts, noise, alignment=alignment, reduction="none", time_unit=time_unit)
    values = loss(tensors(), TIMES, EVENTS)
    rates = {"given": BACKGROUND, "learned": loss.background_rate}
    models = {"given": (counts, noise), "learned": (loss.counts, loss.noise)}
    for value, times, events, logits in zip(values, TIMES, EVENTS, LOGITS):
        for name, rate in rates.items():
            options = {"alignment": alignment, "background_rate": rate}
            found = unjitter.posterior(times, events, logits, *models[name], **options)
            # Another recursion, and values that went through logits and logarithms: rounding.
            assert value.item() == pytest.approx(-found.log_evidence, abs=1e-12)


# Rounding; messages settle to 1e-7.
@pytest.mark.parametrize(("alignment", "accuracy"), [("ordered", 1e-14), ("free", 1e-7)])
def test_gradient_is_prior_minus_posterior(alignment, accuracy):
    loss = double(COUNTS[0], NOISE[0], alignment=alignment, reduction="sum")
    logits = tensors()
    loss(logits, TIMES, EVENTS).backward()
    options = {"alignment": alignment, "background_rate": BACKGROUND}
    for own, times, events in zip(logits, TIMES, EVENTS):
        found = unjitter.posterior(times, events, own.detach(), COUNTS[0], NOISE[0], **options)
        want = torch.sigmoid(own.detach()).numpy() - found.positive
        assert own.grad.numpy() == pytest.approx(want, abs=accuracy)


@pytest.mark.parametrize("alignment", ["free", "ordered"])
def test_one_stamp_and_one_instance_by_hand(alignment):
    loss = double(Bernoulli(0.1, 0.8), Gaussian(0.5, 2.0), alignment=alignment)
    logit = torch.tensor([math.log(3.0)], dtype=torch.float64)
    rate = 0.25 * 0.1 + 0.75 * 0.8
    density = math.exp(-0.5 * (1.5 / 2.0) ** 2) / (2.0 * math.sqrt(2.0 * math.pi))
    value = loss(logit, times=[1.0], events=[3.0]).item()
    # From the instance, or from nowhere; and no other from nowhere in two units of time.
    weight = rate * density + (1.0 - rate) * BACKGROUND
    assert value == pytest.approx(2.0 * BACKGROUND - math.log(weight), abs=1e-14)  # rounding
    silent = loss(logit, times=[1.0], events=[]).item()
    assert silent == pytest.approx(-math.log(1.0 - rate), abs=1e-14)


def test_padded_list_and_single_agree_to_the_bit():
    loss = double(COUNTS[2], NOISE[3], reduction="none")
    listed = tensors()
    values = loss(listed, TIMES, EVENTS)
    values.sum().backward()

    one_by_one = [loss(own.detach(), t, e) for own, t, e in zip(listed, TIMES, EVENTS)]
    assert torch.equal(values, torch.stack(one_by_one))
    assert one_by_one[0].shape == ()

    # What is beyond the lengths may be anything, even NaN.
    logits = padded(LOGITS, math.nan).requires_grad_()
    lengths = torch.tensor([len(own) for own in LOGITS])
    inputs = [
        (padded(TIMES, -1.0), EVENTS, None),
        ([np.array(own) for own in TIMES], [np.array(own) for own in EVENTS], None),
        (padded(TIMES, math.nan).numpy(), padded(EVENTS, 99.0), [2, 0, 1]),
    ]
    for times, events, event_lengths in inputs:
        logits.grad = None
        batch = loss(logits, times, events, lengths, event_lengths)
        assert torch.equal(values, batch)
        batch.sum().backward()
        for row, own in zip(logits.grad, listed):
            assert torch.equal(row[: len(own)], own.grad)
            assert torch.all(row[len(own) :] == 0.0)


def test_times_may_be_shared_and_stamps_in_any_order():
    loss = double(COUNTS[0], NOISE[0], reduction="none")
    logits = torch.tensor([[0.1, -1.0, 2.0], [1.0, 0.0, -1.0]], dtype=torch.float64)
    times = [0.0, 1.0, 2.0]
    shared = loss(logits, times, [[0.3, 1.9], [1.2]])
    own = loss(logits, [times, times], [[1.9, 0.3], torch.tensor([1.2], dtype=torch.float64)])
    assert torch.equal(shared, own)


def test_reductions():
    values = double(COUNTS[0], NOISE[0], reduction="none")(tensors(), TIMES, EVENTS)
    total = double(COUNTS[0], NOISE[0], reduction="sum")(tensors(), TIMES, EVENTS)
    mean = double(COUNTS[0], NOISE[0])(tensors(), TIMES, EVENTS)
    assert values.shape == (3,)
    assert torch.equal(total, values.sum())
    assert torch.equal(mean, values.mean())


def test_upstream_gradients_weight_the_sequences():
    loss = double(COUNTS[0], NOISE[0], reduction="none")
    weights = torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64)
    logits = tensors()
    (loss(logits, TIMES, EVENTS) * weights).sum().backward()
    weighted = {name: p.grad.clone() for name, p in loss.unconstrained.items()}
    want = {name: torch.zeros(1, dtype=torch.float64) for name in weighted}
    for k, weight in enumerate(weights):
        own = tensors()[k]
        loss.zero_grad()
        loss(own, TIMES[k], EVENTS[k]).backward()
        assert torch.allclose(logits[k].grad, weight * own.grad, atol=1e-15)  # one product
        for name, parameter in loss.unconstrained.items():
            want[name] += weight * parameter.grad
    for name, got in weighted.items():
        assert torch.allclose(got, want[name], atol=1e-14)  # sums of three


def test_a_second_backward_gives_the_same():
    loss = double(COUNTS[0], NOISE[0])
    logits = tensors()
    value = loss(logits, TIMES, EVENTS)
    value.backward(retain_graph=True)
    first = [own.grad.clone() for own in logits]
    for own in logits:
        own.grad = None
    value.backward()
    assert all(torch.equal(own.grad, once) for own, once in zip(logits, first))


def test_second_derivatives_are_refused():
    loss = double(COUNTS[0], NOISE[0])
    logits = tensors()[0]
    value = loss(logits, TIMES[0], EVENTS[0])
    (gradient,) = torch.autograd.grad(value, logits, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        gradient.square().sum().backward()
    (gradient,) = torch.autograd.grad(
        loss.penalty(), loss.unconstrained["spread"], create_graph=True
    )
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        gradient.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types_of_logits(dtype):
    loss = double(COUNTS[0], NOISE[0]).float()
    logits = tensors(dtype)
    value = loss(logits, TIMES, EVENTS)
    value.backward()
    assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert all(own.grad.dtype == dtype for own in logits)
    assert all(p.grad.dtype == torch.float32 for p in loss.parameters())
    exact = double(COUNTS[0], NOISE[0])([own.double() for own in logits], TIMES, EVENTS)
    # The loss has its parameters in single precision.
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)


def test_known_labels_have_no_gradient():
    loss = double(COUNTS[0], NOISE[0])
    logits = torch.tensor([-1.0, math.inf, -math.inf, 0.5], dtype=torch.float64, requires_grad=True)
    loss(logits, [0.0, 1.0, 2.0, 3.0], [1.4]).backward()
    assert logits.grad[1:3].tolist() == [0.0, 0.0]
    assert torch.all(logits.grad[[0, 3]] != 0.0)


def test_a_sequence_without_instances_says_nothing():
    loss = double(COUNTS[0], NOISE[0], reduction="none")
    logits = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    values = loss(logits, [0.0, 1.0, 2.0], [[], [0.4]], lengths=[0, 3])
    assert values[0].item() == 0.0
    values.sum().backward()
    assert logits.grad[0].tolist() == [0.0, 0.0, 0.0]


def test_the_number_of_threads_changes_no_bit():
    random = np.random.default_rng(5)
    # Long enough to be worth two threads, of lengths that share out unevenly.
    logits = [torch.tensor(random.normal(size=n) - 2.0) for n in (9000, 100, 4000, 3000)]
    times = [np.arange(len(own)) * 0.7 for own in logits]
    events = [np.sort(random.uniform(0.0, t[-1], size=len(t) // 20)) for t in times]

    def run(threads):
        torch.set_num_threads(threads)
        loss = double(COUNTS[0], NOISE[0], reduction="sum")
        own = [one.clone().requires_grad_() for one in logits]
        value = loss(own, times, events)
        value.backward()
        return [value, *(one.grad for one in own), *(p.grad for p in loss.parameters())]

    before = torch.get_num_threads()
    try:
        one, two = run(1), run(2)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(one, two))


def test_forked_processes_have_threads_of_their_own(tmp_path):
    # In a process of its own, which PyTorch has not given threads yet.
    script = tmp_path / "fork.py"
    script.write_text(
        """
import os, signal, numpy as np, torch
from unjitter.torch import ImpreciseLabelLoss
torch.set_num_threads(2)
loss, times = ImpreciseLabelLoss(), np.arange(3000.0)
value = lambda: loss(torch.zeros(4, 3000), times, [[5.0, 9.0]] * 4).item()
before = value()
child = os.fork()
if child == 0:
    signal.alarm(60)  # one without threads waits for ever
    os._exit(0 if value() == before else 1)
assert os.waitpid(child, 0)[1] == 0
assert value() == before
"""
    )
    subprocess.run([sys.executable, "-W", "ignore", script], check=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_cuda_logits_give_cuda_results():
    loss = double(COUNTS[0], NOISE[0]).to("cuda", torch.float32)
    on_cpu = double(COUNTS[0], NOISE[0]).float()
    logits = padded(LOGITS, 0.0).float().to("cuda").requires_grad_()
    lengths = torch.tensor([len(own) for own in LOGITS], device="cuda")
    value = loss(logits, padded(TIMES, 0.0).to("cuda"), EVENTS, lengths)
    value.backward()
    assert value.device.type == "cuda"
    assert value.dtype == torch.float32
    assert logits.grad.device.type == "cuda"
    assert all(p.grad.device.type == "cuda" for p in loss.parameters())
    assert loss.penalty().device.type == "cuda"
    again = logits.detach().cpu().requires_grad_()
    want = on_cpu(again, padded(TIMES, 0.0), EVENTS, lengths.cpu())
    want.backward()
    # What the docs state: of values relative to their size, of gradients to the largest one.
    assert value.item() == pytest.approx(want.item(), rel=1e-5)
    error = (logits.grad.cpu() - again.grad).abs().max()
    assert error <= 1e-4 * again.grad.abs().max()


# The compiler's own, about tensors that cross the break.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_compiled_code_breaks_its_graph_at_the_loss():
    loss = double(COUNTS[0], NOISE[0])
    weight = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)

    def objective(features):
        return loss(weight * features, TIMES[0], EVENTS[0]) + loss.penalty()

    features = torch.tensor(LOGITS[0], dtype=torch.float64)
    want = objective(features)
    (d_want,) = torch.autograd.grad(want, weight)
    got = torch.compile(objective, backend="eager")(features)
    (d_got,) = torch.autograd.grad(got, weight)
    assert torch.equal(want, got)
    assert torch.equal(d_want, d_got)


def test_importing_unjitter_does_not_import_torch():
    code = "import sys, unjitter; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_torch_the_import_says_what_to_install():
    code = (
        "import sys, unjitter; sys.modules['torch'] = None\n"
        "try:\n    import unjitter.torch\n"
        "except ImportError as error:\n    sys.exit('pip install torch' not in str(error))\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
