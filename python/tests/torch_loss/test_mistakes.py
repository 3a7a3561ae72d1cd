"""Mistakes are refused, with the place and what was expected."""

import math

import pytest
import torch

from unjitter import Bernoulli, Gaussian, Priors, Uniform
from unjitter.torch import ImpreciseLabelLoss

LOSS = ImpreciseLabelLoss()
LOGITS = torch.zeros(2, 3)
TIMES = [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.zeros(2, 3, 1), TIMES, [[], []]), r"shape \(2, 3, 1\).*squeeze"),
        ((torch.zeros(2, 3, dtype=torch.int64), TIMES, [[], []]), "floating-point"),
        ((LOGITS, [0.0, 1.0], [[], []]), r"times have shape \(2,\)"),
        ((LOGITS, TIMES, [[]]), "events of 1 sequences for 2"),
        ((LOGITS, TIMES, [0.3, 0.4]), "events of sequence 0 have shape"),
        ((LOGITS, TIMES, torch.zeros(2, 1)), "need event_lengths"),
        ((LOGITS, TIMES, [[], []], [3]), "lengths must be 2 whole numbers"),
        ((LOGITS, TIMES, [[], []], [3.0, 2.0]), "lengths must be 2 whole numbers"),
        ((LOGITS, TIMES, [[], []], [4, 0]), "from 0 to 3"),
        ((LOGITS, TIMES, [[], []], [-1, 3]), "from 0 to 3"),
        ((LOGITS, TIMES, torch.zeros(2, 1), None, [1, 2]), "from 0 to 1"),
        ((LOGITS, TIMES, torch.zeros(3, 1), None, [1, 1, 1]), r"shape \(3, 1\)"),
        ((torch.zeros(3), TIMES, [], [3]), "for a padded batch"),
        (([torch.zeros(3)], [TIMES], [[]], [3]), "for a padded batch"),
        (([torch.zeros(2)], [TIMES], [[]]), "sequence 0 has 3 times for 2 logits"),
        (([[0.0, 0.0]], [[0.0, 1.0]], [[]]), "sequence 0 are not a tensor"),
        (([], [], []), "no sequences"),
        ((torch.zeros(0, 3), TIMES, []), "no sequences"),
    ],
)
def test_shapes(given, message):
    with pytest.raises(ValueError, match=message):
        LOSS(*given)


def test_a_sequence_is_named_by_its_place():
    logits = torch.zeros(3, 3)
    with pytest.raises(ValueError, match="session 1 of the batch.*time 2"):
        LOSS(logits, [TIMES, [0.0, 2.0, 1.0], TIMES], [[], [], []])
    with pytest.raises(ValueError, match="session 2 of the batch.*4 stamps"):
        LOSS(logits, TIMES, [[], [], [0.1, 0.2, 0.3, 0.4]])
    uniform = ImpreciseLabelLoss(noise=Uniform(0.0, 0.5))
    with pytest.raises(ValueError, match="session 1 of the batch: no alignment.*stamp 0 at 0.7"):
        uniform(logits, TIMES, [[0.2], [0.7], [0.9]])
    logits[2, 1] = math.nan
    with pytest.raises(ValueError, match="session 2 of the batch: log-odds 1 is NaN"):
        LOSS(logits, TIMES, [[], [], []])
    with pytest.raises(ValueError, match="session 0 of the batch: stamp 1 is NaN"):
        LOSS(torch.zeros(3), TIMES, [math.nan, 0.3])


def test_data_take_no_gradient():
    times = torch.tensor(TIMES, requires_grad=True)
    with pytest.raises(ValueError, match="times require a gradient"):
        LOSS(LOGITS, times, [[], []])
    with pytest.raises(ValueError, match="events require a gradient"):
        LOSS(torch.zeros(3), TIMES, times)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduction": "average"}, "reduction is 'average'"),
        ({"counts": "binomial"}, "counts is 'binomial'"),
        ({"noise": "uniform"}, "needs its interval"),
        ({"counts": Bernoulli(hit_rate=1.2)}, "hit_rate is 1.2"),
        ({"noise": Gaussian(spread=0.0)}, "spread is 0"),
        (
            {"start": {"spraed": 1.0}},
            r"'spraed' \(did you mean spread\?\), expected one of false_r",
        ),
        ({"start": {"noise.delay": 1.0}}, r"'noise.delay' \(did you mean delay"),
        ({"noise": Gaussian(delay=0.0), "start": {"delay": 0.0}}, "delay is known.*has a start"),
        ({"start": {"false_rate": 0.0}}, "start of false_rate is 0.0, an end of its range"),
        ({"start": {"hit_rate": 1.2}}, "hit_rate is 1.2"),
        ({"start": {"spread": [1.0, 2.0]}}, "spread"),
        ({"start": {"delay": None}}, "delay"),
        ({"time_unit": 0.0}, "time_unit is 0"),
        ({"time_unit": math.nan}, "time_unit is NaN"),
        ({"priors": Priors(hit_rate=(0.0, 1.0))}, "hit_rate.a is 0"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        ImpreciseLabelLoss(**options)


def test_only_parameters_can_be_held():
    with pytest.raises(ValueError, match="no parameter 'sigma'.*, expected one of false_rate"):
        ImpreciseLabelLoss().hold("delay", "sigma")


def test_diverged_parameters_are_named():
    loss = ImpreciseLabelLoss()
    with torch.no_grad():
        loss.unconstrained["spread"].fill_(math.nan)
    with pytest.raises(ValueError, match="noise.spread is NaN"):
        loss(LOGITS, TIMES, [[], []])
