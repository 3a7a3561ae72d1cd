"""Mistakes are refused, with the place and what was expected."""

import math

import numpy as np
import pytest
import torch

from unjitter import Bernoulli, Gaussian, Priors, Uniform
from unjitter.torch import ImpreciseLabelLoss

LOSS = ImpreciseLabelLoss()
LOGITS = torch.zeros(2, 3)
TIMES = [0.0, 1.0, 2.0]
NESTED = torch.nested.nested_tensor([LOGITS[0], LOGITS[1]], layout=torch.jagged)


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
        ((LOGITS, TIMES, None), "events are None, expected the stamps, or a list"),
        ((LOGITS, TIMES, [None, []]), "events of sequence 0 are None, expected numbers"),
        ((torch.zeros(3), None, []), "times are None"),
        ((None, TIMES, []), "logits are None"),
        ((LOGITS.to_sparse(), TIMES, [[], []]), "logits are a sparse tensor.*to_dense"),
        (([LOGITS[0].to_sparse()], [TIMES], [[]]), "logits of sequence 0 are a sparse tensor"),
        ((torch.zeros(3), TIMES, torch.ones(1).to_sparse()), "events of sequence 0 are a sparse"),
        ((LOGITS, torch.ones(2, 3).to_sparse(), [[], []]), "times are a sparse tensor"),
        ((LOGITS, TIMES, torch.ones(2, 3).to_sparse(), None, [1, 1]), "events are a sparse"),
        ((NESTED, [TIMES] * 2, [[], []]), "nested tensor.*unbind"),
        ((LOGITS, TIMES, NESTED), "nested tensor.*unbind"),
        ((torch.zeros(3), TIMES, torch.tensor([False, True])), "are bool, expected numbers"),
        ((torch.zeros(3), torch.zeros(3).cfloat(), []), "are complex64, expected numbers"),
        ((torch.zeros(3), TIMES, [[1.0], [2.0, 3.0]]), "are no array of numbers"),
        ((torch.zeros(3), TIMES, ["1 s"]), "are <U3, expected numbers"),
        ((torch.zeros(3), TIMES, np.zeros(1, "M8[s]")), r"datetime64\[s\].*seconds from a start"),
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
        ImpreciseLabelLoss(background_rate=0.0)(logits, TIMES, [[], [], [0.1, 0.2, 0.3, 0.4]])
    uniform = ImpreciseLabelLoss(noise=Uniform(0.0, 0.5), background_rate=0.0)
    with pytest.raises(ValueError, match="session 1 of the batch: no alignment.*stamp 0 at 0.7"):
        uniform(logits, TIMES, [[0.2], [0.7], [0.9]])
    logits[2, 1] = math.nan
    with pytest.raises(ValueError, match="session 2 of the batch: log-odds 1 is NaN"):
        LOSS(logits, TIMES, [[], [], []])
    with pytest.raises(ValueError, match="session 0 of the batch: stamp 1 is NaN"):
        LOSS(torch.zeros(3), TIMES, [math.nan, 0.3])


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad, torch.func.jacrev])
def test_transforms_are_refused(transform):
    logits = torch.zeros(2, 3) if transform is torch.func.vmap else torch.zeros(3)
    words = r"torch.func \(vmap, grad.*shape \(batch, instances\)"
    with pytest.raises(NotImplementedError, match=words):
        transform(lambda own: LOSS(own, TIMES, [1.2]))(logits)
    with pytest.raises(NotImplementedError, match=words):
        torch.func.vmap(lambda own: LOSS(torch.zeros(3), own, [1.2]))(torch.zeros(2, 3))


def test_a_chain_says_what_it_needs():
    for needed, options in {
        r"one stamp at most \(bernoulli\), or of any number": {"counts": "geometric"},
        "some stamps from nowhere: a background.rate above 0": {"background_rate": 0.0},
    }.items():
        loss = ImpreciseLabelLoss(labels="chain", **options)
        with pytest.raises(ValueError, match=f"session 1 of the batch.*a chain.* need.*{needed}"):
            loss(LOGITS, TIMES, [[], [1.2]], [0, 3])


MANY = ImpreciseLabelLoss(
    varies={"delay": "annotator", "spread": "session"},
    groups={"annotator": ["ann", "bob"], "session": ["walk"]},
)


@pytest.mark.parametrize(
    ("loss", "events", "others", "message"),
    [
        (LOSS, {"ann": [1.2]}, {}, "events of a batch are a mapping, expected a list with one"),
        (LOSS, [{}, []], {}, "events of sequence 0 are by nobody, expected a mapping.*'ann'"),
        (LOSS, [{"ann": None}, []], {}, "events of sequence 0 are None"),
        (LOSS, [[[1.0, 0.5]], []], {}, "event 0 of sequence 0 is from 1 to 0.5, expected its earl"),
        (LOSS, [[], [[1, 2, 3]]], {}, r"events of sequence 1 have shape \(1, 3\).*\(stamps, 2\)"),
        (LOSS, np.zeros((2, 1, 2)), {}, "padded events need event_lengths"),
        (LOSS, np.zeros((2, 1, 3)), {"event_lengths": [1, 1]}, r"shape \(2, 1, 3\), expected \(2"),
        (LOSS, [[], [1.0]], {"annotators": [[0]]}, "annotators of 1 sequences for 2 of events"),
        (LOSS, [[], [1.0]], {"annotators": [[], [0, 1]]}, r"annotators of sequence 1.*\(1,\)"),
        (LOSS, [[], [1.0]], {"annotators": [[], [-1]]}, "annotators have -1, expected whole numb"),
        (LOSS, [[], [1.0]], {"annotators": [[], ["ann"]]}, "whole numbers.*for names.*a mapping"),
        (LOSS, [{"ann": []}, []], {"annotators": [[], []]}, "by annotator already, but annotators"),
        (
            LOSS,
            np.zeros((2, 1)),
            {"event_lengths": [1, 1], "annotators": [[0, 1], [0, 1]]},
            r"annotators have shape \(2, 2\), expected that of the events, \(2, 1\)",
        ),
        (LOSS, [[], []], {"groups": [{}]}, "groups of 1 sequences for 2 of logits"),
        (LOSS, [[], []], {"groups": ["walk", "run"]}, "groups of sequence 0 are 'walk', expected"),
        (
            LOSS,
            [[], []],
            {"groups": [{}, {"sesion": "a"}]},
            "groups of sequence 1 is 'sesion', exp",
        ),
        (LOSS, [[], []], {"groups": [{}, {"annotator": []}]}, "sequence 1 name no annotator"),
        (
            LOSS,
            [[], [1.2]],
            {"groups": [{}, {"annotator": ["ann", "bob"]}]},
            "groups of sequence 1 name 2 annotators, and nobody says who gave which",
        ),
        (
            LOSS,
            [[], [1.2]],
            {"annotators": [[], [2]], "groups": [{}, {"annotator": ["ann", "bob"]}]},
            "annotators of sequence 1 have 2, and its groups name 2",
        ),
        (
            LOSS,
            [{"ann": []}, []],
            {"groups": [{"annotator": "ann"}, {}]},
            "groups of sequence 0 name annotators, and its events are by annotator already",
        ),
        (MANY, [[], []], {}, "something differs by annotator, and nobody says whose.*'ann'"),
        (MANY, [{"ann": []}, {"bob": []}], {}, "something differs by session, and nobody.*'walk'"),
        (
            MANY,
            [[], []],
            {"groups": [{}, {"session": "wlak"}]},
            "groups of sequence 1: session 'wlak' is not among those of the loss, walk; leave it",
        ),
        (MANY, [{"bobby": []}, []], {"groups": [{}, {}]}, "annotator 'bobby' is not among.*bob;"),
    ],
)
def test_people_and_groups(loss, events, others, message):
    with pytest.raises(ValueError, match=message):
        loss(LOGITS, TIMES, events, **others)


EPOCH = 1.7e9


@pytest.mark.parametrize(
    ("dtype", "start", "step"),
    [
        (torch.float32, EPOCH, "128 apart at 1.7e\\+09"),
        (torch.float16, 3000.0, "2 apart at 3060"),
        (torch.bfloat16, 1000.0, "8 apart at 1056"),
    ],
)
def test_numbers_that_are_coarser_than_the_spread_are_refused(dtype, start, step):
    times = start + torch.arange(60.0, dtype=torch.float64)
    stamps, logits = times[[7, 30]] + 0.4, torch.zeros(60)
    loss = ImpreciseLabelLoss()
    words = f"are {str(dtype)[6:]}, whose numbers are {step}.* and the spread is 1: subtract"
    with pytest.raises(ValueError, match=f"times {words}"):
        loss(logits, times.to(dtype), stamps)
    with pytest.raises(ValueError, match=f"events {words[: words.index(' at ')]}"):
        loss(logits, times, stamps.to(dtype))
    with pytest.raises(ValueError, match=f"events {words[: words.index(' at ')]}"):
        loss([logits], [times], (stamps.to(dtype),))
    # The cure, to the digit: 0.4 is not a number of any of these types.
    fine = loss(logits, (times - start).to(dtype), stamps - start)
    assert fine.item() == pytest.approx(loss(logits, times, stamps).item(), rel=1e-6)
    # A spread that the numbers can bear.
    wide = ImpreciseLabelLoss(noise=Gaussian(spread=300.0))
    assert math.isfinite(wide(logits, times.to(dtype), stamps.to(dtype)).item())


def test_numbers_that_are_fine_enough_pass():
    loss = ImpreciseLabelLoss(noise=Gaussian(spread=0.05))
    # A day in seconds: steps of 0.008. What is beyond the lengths does not count.
    times = torch.tensor([[86300.0, 86301.0, 86302.0], [5.0, EPOCH, EPOCH]])
    loss(LOGITS, times, [[86300.1], []], lengths=[3, 1])
    loss(LOGITS, times.numpy(), np.array([[86300.1], [EPOCH]], np.float32), [3, 1], [1, 0])
    loss(LOGITS, torch.zeros(3), [[], []])
    # Whole numbers have all their digits.
    loss(torch.zeros(3), torch.tensor([0, 1, 2]) + int(EPOCH), [])


def test_data_take_no_gradient():
    times = torch.tensor(TIMES, requires_grad=True)
    with pytest.raises(ValueError, match="times require a gradient"):
        LOSS(LOGITS, times, [[], []])
    with pytest.raises(ValueError, match="events of sequence 0 require a gradient"):
        LOSS(torch.zeros(3), TIMES, times)


GROUPS = {"groups": {"session": ["walk"]}}
DIFFER = {"varies": {"delay": "session"}, **GROUPS}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduction": "average"}, "reduction is 'average'"),
        ({"counts": "binomial"}, "counts is 'binomial'"),
        ({"noise": "uniform"}, "needs its earliest and latest"),
        ({"counts": Bernoulli(hit_rate=1.2)}, "hit_rate is 1.2"),
        ({"noise": Gaussian(spread=0.0)}, "spread is 0"),
        (
            {"start": {"spraed": 1.0}},
            r"'spraed' \(did you mean spread\?\), expected one of false_r",
        ),
        ({"start": {"noise.delay": 1.0}}, r"'noise.delay' \(did you mean delay"),
        ({"noise": Gaussian(delay=0.0), "start": {"delay": 0.0}}, "delay is known.*has a start"),
        ({"start": {"false_rate": 0.0}}, "start of false_rate is 0.0, an end of its range"),
        ({"alignment": "any"}, "alignment is 'any', expected 'free' or 'ordered'"),
        ({"background_rate": -0.1}, "background.rate is -0.1, expected a number of at least 0"),
        ({"background_rate": "low"}, "background_rate is 'low', expected a finite number"),
        ({"start": {"background_rate": 0.0}}, "start of background_rate is 0.0, an end of its r"),
        ({"background_rate": 0.1, "start": {"background_rate": 0.1}}, "background_rate is known"),
        ({"start": {"hit_rate": 1.2}}, "hit_rate is 1.2"),
        ({"start": {"spread": [1.0, 2.0]}}, "spread"),
        ({"start": {"delay": None}}, "delay"),
        ({"time_unit": 0.0}, "time_unit is 0"),
        ({"time_unit": math.nan}, "time_unit is NaN"),
        ({"priors": Priors(hit_rate=(0.0, 1.0))}, "hit_rate.a is 0"),
        ({"labels": "runs"}, "labels is 'runs', expected 'independent' or 'chain'"),
        ({"labels": "chain", "stamps": "start"}, "stamps is 'start', expected 'onset' or"),
        ({"stamps": "end"}, "stamps is 'end', which is for labels='chain'"),
        ({"labels": "chain", "counts": Bernoulli(0.1)}, "false rate supposes independent labels"),
        (
            {"labels": "chain", "varies": {"false_rate": "session"}, **GROUPS},
            "false rate supposes independent labels.*those of the background",
        ),
        ({"labels": "chain", "start": {"false_rate": 0.1}}, "false_rate is known and has a start"),
        ({"varies": {"delay": "person"}}, r"varies\['delay'\] is 'person', expected 'annotator'"),
        ({"varies": {"delay": "session"}}, "delay differs by session, and groups name none.*of"),
        ({"clock": "clock", **GROUPS}, "offset differs by clock, and groups name none"),
        ({"groups": {"person": ["ann"]}}, "groups is 'person', expected 'annotator'"),
        ({"groups": ["ann"]}, r"groups are \['ann'\], expected a mapping"),
        ({"scatter": {"delay": 1.0}}, "scatter is of 'delay', which does not vary"),
        ({**DIFFER, "scatter": {"delay": 0.0}}, "how wide delay by session scatters is 0"),
        ({**DIFFER, "scatter": {"delay": "wide"}}, r"scatter\['delay'\] is 'wide', expected a fin"),
        ({**DIFFER, "start": {"delay_by_session": {"a": 1.0}}}, "delay_by_session is of a, exp.*w"),
        ({**DIFFER, "start": {"delay": {"a": 1.0}}}, "start of delay is of a, expected a number"),
        ({**DIFFER, "noise": Uniform(0.0, 1.0)}, "delay by session"),
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
