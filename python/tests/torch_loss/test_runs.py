"""Labels that form runs."""

import math

import numpy as np
import pytest
import torch
from enumerated import Enumerated

from unjitter import Session
from unjitter.torch import ImpreciseLabelLoss

TIMES = [0.0, 1.1, 2.0, 3.2, 4.1]
LOGITS = [-2.0, 0.5, 1.0, -1.5, 0.3]
PERSON = {"hit": 0.8, "false": 0.0, "background": 0.02, "delay": 0.4, "spread": 0.9}
START = {
    "hit_rate": 0.8,
    "background_rate": 0.02,
    "delay": 0.4,
    "spread": 0.9,
    "onset_rate": 0.3,
    "offset_rate": 0.7,
}


def chain(start=START, **options):
    return ImpreciseLabelLoss(labels="chain", start=start, dtype=torch.float64, **options)


@pytest.mark.parametrize("alignment", ["free", "ordered"])
@pytest.mark.parametrize("about", ["onset", "end", "presence"])
@pytest.mark.parametrize("stamps", [[], [2.63], [[2.1, 3.4]]], ids=["none", "one", "interval"])
def test_a_chain_is_enumerated(alignment, about, stamps):
    logits = torch.tensor(LOGITS, dtype=torch.float64)
    want = Enumerated(TIMES, LOGITS, rates=(0.3, 0.7), about=about)
    for unit in (1.0, 1.7):
        loss = chain(alignment=alignment, stamps=about, time_unit=unit)
        evidence = want.log_evidence({"stamps": stamps, **PERSON})
        # One stamp is summed exactly; intervals are tabulated to 1e-12, with cubics between.
        assert -loss(logits, TIMES, stamps).item() == pytest.approx(evidence, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"labels": "chain"}], ids=["independent", "chain"])
def test_probabilities_are_enumerated(options):
    start = START if options else None
    loss = ImpreciseLabelLoss(start=start, dtype=torch.float64, time_unit=1.7, **options)
    rates = (0.3, 0.7) if options else None
    short = [1.0, -0.5]
    wants = [
        Enumerated(TIMES, LOGITS, rates=rates).probabilities(),
        Enumerated(TIMES[:2], short, rates=rates).probabilities(),
    ]
    logits = [torch.tensor(own, dtype=torch.float64, requires_grad=True) for own in (LOGITS, short)]
    found = loss.probabilities(logits, [TIMES, TIMES[:2]])
    for own, want in zip(found, wants):
        assert own.numpy() == pytest.approx(want, abs=1e-14)  # sums of 32 numbers
    assert torch.equal(loss.probabilities(logits[0], TIMES), found[0])
    table = torch.full((2, 5), math.nan)
    table[0], table[1, :2] = logits[0].detach(), logits[1].detach()
    padded = loss.probabilities(table, TIMES, lengths=[5, 2])
    assert padded.dtype == torch.float32
    assert torch.equal(padded[0], loss.probabilities(table[0], TIMES))
    assert padded[1, :2].numpy() == pytest.approx(wants[1], abs=1e-6)  # single precision
    assert padded[1, 2:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("alignment", ["free", "ordered"])
def test_a_sequence_without_instances_says_nothing(alignment):
    loss = chain(
        alignment=alignment,
        reduction="none",
        varies={"delay": "annotator"},
        groups={"annotator": ["ann"]},
    )
    logits = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    times = [0.0, 1.0, 2.0]
    values = loss(logits, times, [{"ann": []}, {"ann": [0.4]}], lengths=[0, 3])
    values.sum().backward()
    assert values[0].item() == 0.0
    assert logits.grad[0].tolist() == [0.0, 0.0, 0.0]
    learned = [own for own in loss.parameters() if own.requires_grad]
    together = [own.grad.clone() for own in learned]
    loss.zero_grad()
    loss(logits[1], times, {"ann": [0.4]}).sum().backward()
    assert all(torch.equal(own.grad, other) for own, other in zip(learned, together))
    assert loss.probabilities(logits, times, lengths=[0, 3])[0].tolist() == [0.0, 0.0, 0.0]


def runs(seed, about, instances=1500):
    """Windows four times a second, runs of three seconds with ten between, stamped by hand."""
    random = np.random.default_rng(seed)
    times = np.arange(instances) * 0.25
    begin, end = 1.0 / 10.0, 1.0 / 3.0
    positive = np.zeros(instances, dtype=bool)
    for i in range(1, instances):
        rate = end if positive[i - 1] else begin
        is_changed = random.uniform() < 1.0 - np.exp(-0.25 * rate)
        positive[i] = positive[i - 1] ^ is_changed
    X = random.normal(1.5 * positive, 1.0)[:, None]
    firsts = np.flatnonzero(positive & ~np.append(False, positive[:-1]))
    lasts = np.flatnonzero(positive & ~np.append(positive[1:], False))
    of_events = times[{"onset": firsts, "end": lasts}[about]]
    stamps = of_events + random.normal(0.6, 0.3, len(of_events))
    return Session(X, times, stamps, labels=positive.astype(int))


def f1_of(found, labels):
    return 2.0 * (found & labels).sum() / (found.sum() + labels.sum())


@pytest.mark.parametrize("about", ["onset", "end"])
def test_a_chain_recovers_runs(about):
    *learned, held_out = (runs(seed, about) for seed in range(3))
    start = {"delay": 0.0, "spread": 1.0}
    options = {"reduction": "sum", "dtype": torch.float64}
    loss = ImpreciseLabelLoss(labels="chain", stamps=about, start=start, **options)
    # Instances that say nothing: their log-odds are those of the rates.
    linear = torch.nn.Linear(1, 1).double()
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.constant_(linear.bias, math.log(0.1 / 0.5))
    optimiser = torch.optim.LBFGS(
        [*linear.parameters(), *(own for own in loss.parameters() if own.requires_grad)],
        max_iter=60,
        line_search_fn="strong_wolfe",
    )
    features = [torch.tensor(own.X) for own in learned]
    times, events = [own.times for own in learned], [own.events for own in learned]

    def objective():
        optimiser.zero_grad()
        total = loss([linear(own).squeeze(-1) for own in features], times, events)
        total = total + loss.penalty() + 0.5 * linear.weight.square().sum()
        total.backward()
        return total

    optimiser.step(objective)
    # 61 runs, stamped with a spread of 0.3 to a window of 0.25: a standard error of 0.05.
    assert loss.delay == pytest.approx(0.6, abs=0.15)
    assert loss.spread == pytest.approx(0.3, abs=0.15)
    natural = loss.natural()
    # At equal spacing only the product of the rates is told from what all instances say: 1/30 here.
    assert 0.3 < natural["onset_rate"] * natural["offset_rate"] * 30.0 < 3.0
    logits = linear(torch.tensor(held_out.X)).squeeze(-1).detach()
    labels = held_out.labels == 1
    found = loss.probabilities(logits, held_out.times).numpy() >= 0.5
    # 0.93 when this was written, and 0.48 for what instances say by themselves.
    assert f1_of(found, labels) > 0.85
    assert f1_of(logits.numpy() > 0.0, labels) < 0.7
