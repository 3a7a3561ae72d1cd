"""Stamps of several people, of groups, and in intervals."""

import math

import numpy as np
import pytest
import torch
from enumerated import Enumerated

from unjitter import EventDetector, GaussianMixture, Session
from unjitter.torch import ImpreciseLabelLoss, groups_of

ORDERS = pytest.mark.parametrize("alignment", ["free", "ordered"])
RATES = {"hit": 0.8, "false": 0.05, "background": 0.02}
TIMES = [0.0, 1.1, 2.0, 3.2, 4.1]
LOGITS = [-2.0, 0.5, 1.0, -1.5, 0.3]
VARIES = {
    "delay": "annotator",
    "spread": "annotator",
    "miss_rate": "session",
    "offset": "clock",
    "drift": "clock",
}
GROUPS = {"annotator": ["ann", "bob"], "session": ["walk", "run"], "clock": ["phone"]}
START = {
    "false_rate": RATES["false"],
    "hit_rate": RATES["hit"],
    "delay": 0.4,
    "spread": 0.9,
    "background_rate": RATES["background"],
}
DEVIATIONS = {
    "delay_by_annotator": {"ann": 0.2, "bob": -0.3},
    "spread_by_annotator": [0.1, -0.2],
    "miss_rate_by_session": {"walk": 0.3, "run": -0.1},
    "offset_by_clock": {"phone": 0.15},
    "drift_by_clock": {"phone": 0.04},
}


def loss_of(start=START, **options):
    return ImpreciseLabelLoss(start=start, dtype=torch.float64, **options)


def varied(**options):
    """A loss in which everything varies, in a unit of time other than one."""
    start = {**START, **DEVIATIONS}
    if "labels" in options:
        del start["false_rate"]
    return loss_of(start, varies=VARIES, groups=GROUPS, time_unit=1.7, **options)


def logits_of(*values, requires_grad=True):
    return [torch.tensor(own, dtype=torch.float64, requires_grad=requires_grad) for own in values]


# Two sequences: two people and intervals, and nobody but bob.
EVENTS = [{"ann": [1.83, [3.5, 4.1]], "bob": [1.2, 3.74]}, {"bob": [2.4]}]
EVENTS[0]["ann"] = [[1.83, 1.83], [3.5, 4.1]]
WHERE = [{"session": "walk", "clock": "phone"}, {"session": "run"}]


@ORDERS
@pytest.mark.parametrize(
    "labels",
    [{}, *({"labels": "chain", "stamps": s} for s in ("onset", "end", "presence"))],
    ids=str,
)
def test_gradients_match_finite_differences(alignment, labels):
    loss = varied(alignment=alignment, reduction="none", **labels)
    given = (*logits_of(LOGITS, LOGITS), *loss.unconstrained.values())

    def value(*own):
        # The parameters are gradcheck's own tensors: perturbed in place.
        return loss(list(own[:2]), [TIMES, TIMES], EVENTS, groups=WHERE)

    assert torch.autograd.gradcheck(value, given)


PARTS = {
    "poisson": {"counts": "poisson"},
    "poisson chain": {"counts": "poisson", "labels": "chain"},
    "mixture": {"noise": GaussianMixture(components=2)},
    "student_t": {"noise": "student_t"},
}


@ORDERS
@pytest.mark.parametrize("kind", PARTS)
def test_other_parts_match_finite_differences(alignment, kind):
    options, own = PARTS[kind], {"delay": 0.4, "spread": 0.9}
    if kind == "mixture":
        own = {"weights": [0.3, 0.7], "delays": [-0.2, 1.1], "spreads": [0.5, 0.8]}
    if kind == "student_t":
        own = {"delay": 0.4, "scale": 0.7, "degrees_of_freedom": 3.5}
    rates = {name: START[name] for name in ("hit_rate", "background_rate")}
    false = {} if "labels" in options else {"false_rate": 0.05}
    loss = loss_of(
        {**rates, **false, **own, **DEVIATIONS},
        alignment=alignment,
        reduction="none",
        time_unit=1.7,
        varies=VARIES,
        groups=GROUPS,
        **options,
    )
    given = (*logits_of(LOGITS, LOGITS), *loss.unconstrained.values())

    def value(*changed):
        return loss(list(changed[:2]), [TIMES, TIMES], EVENTS, groups=WHERE)

    assert torch.autograd.gradcheck(value, given)


@ORDERS
def test_two_people_are_enumerated(alignment):
    # Each stamp has one owner or none: then what people tell each other is exact.
    spread = 0.05
    loss = loss_of(
        {**START, "spread": spread, "delay_by_annotator": {"ann": 0.1, "bob": -0.2}},
        alignment=alignment,
        varies={"delay": "annotator"},
        groups=GROUPS,
    )
    ann, bob = {"stamps": [1.45, 4.62], "delay": 0.5}, {"stamps": [1.33], "delay": 0.2}
    (logits,) = logits_of(LOGITS)
    want = Enumerated(TIMES, LOGITS).log_evidence(
        *({**own, "spread": spread, **RATES} for own in (ann, bob))
    )
    got = loss(logits, TIMES, {"ann": ann["stamps"], "bob": bob["stamps"]})
    # Messages settle to 1e-7, and the evidence is stationary in them.
    assert -got.item() == pytest.approx(want, abs=1e-10)


@ORDERS
def test_an_interval_is_enumerated(alignment):
    stamps = [[1.4, 2.9]]
    own = {"stamps": stamps, "delay": 0.4, "spread": 0.9, **RATES}
    want = Enumerated(TIMES, LOGITS).log_evidence(own)
    (logits,) = logits_of(LOGITS)
    got = loss_of(alignment=alignment)(logits, TIMES, stamps)
    # The distribution function is tabulated to 1e-12, with cubics between.
    assert -got.item() == pytest.approx(want, abs=1e-9)


@ORDERS
def test_groups_of_one_person_have_their_own_numbers(alignment):
    loss = varied(alignment=alignment, reduction="none")
    values = loss(
        logits_of(LOGITS, LOGITS),
        [TIMES] * 2,
        [[1.9], [1.9]],
        groups=[{"annotator": "bob", "session": "run", "clock": "phone"}, {}],
    )
    odds = (1.0 - 0.8) / 0.8 * math.exp(-0.1)
    rates = {**RATES, "hit": 1.0 / (1.0 + odds)}
    # Clocks are right in the middle of their session, and instances seem later behind it.
    middle = (TIMES[0] + TIMES[-1]) / 2.0
    times = [t + 0.04 * (t - middle) for t in TIMES]
    own = {"stamps": [1.9], "delay": 0.4 - 0.3 + 0.15, "spread": 0.9 * math.exp(-0.2), **rates}
    shifted = Enumerated(times, LOGITS)
    shifted._duration = Enumerated(TIMES, LOGITS)._duration
    # Rounding; messages settle to 1e-7, and the evidence is stationary in them.
    assert -values[0].item() == pytest.approx(shifted.log_evidence(own), abs=1e-12)
    plain = {"stamps": [1.9], "delay": 0.4, "spread": 0.9, **RATES}
    want = Enumerated(TIMES, LOGITS).log_evidence(plain)
    assert -values[1].item() == pytest.approx(want, abs=1e-12)


@ORDERS
def test_known_labels_keep_people_apart(alignment):
    certain = torch.tensor([-math.inf, math.inf, -math.inf, math.inf, -math.inf])
    together = varied(alignment=alignment)
    both = {"ann": [1.83, 3.5], "bob": [0.7, 3.74]}
    where = WHERE[0]
    alone = [together(certain, TIMES, {who: own}, groups=where) for who, own in both.items()]
    # Sums in another order.
    got = together(certain, TIMES, both, groups=where).item()
    assert got == pytest.approx(sum(own.item() for own in alone), abs=1e-10)


@ORDERS
def test_one_stream_keeps_its_bits(alignment):
    logits, plain = logits_of(LOGITS)[0], loss_of(alignment=alignment)
    want = plain(logits, TIMES, [1.83, 3.74])
    d_want = torch.autograd.grad(want, [logits, *plain.parameters()])
    alike = loss_of(alignment=alignment, varies=VARIES, groups=GROUPS)
    person = {"annotator": ["ann"], "session": "run", "clock": None}
    ways = [
        (plain, {"ann": [1.83, 3.74]}, {}),
        (plain, [[1.83, 1.83], [3.74, 3.74]], {}),
        (plain, [1.83, 3.74], {"annotators": [0, 0], "groups": {"session": "somewhere"}}),
        (alike, {"ann": [1.83, 3.74]}, {"groups": {"session": "run"}}),
        (alike, [1.83, 3.74], {"groups": person}),
    ]
    for loss, events, others in ways:
        got = loss(logits, TIMES, events, **others)
        assert torch.equal(got, want), events
        parameters = [loss.unconstrained[name] for name in plain.unconstrained]
        d_got = torch.autograd.grad(got, [logits, *parameters])
        assert all(torch.equal(a, b) for a, b in zip(d_got, d_want)), events


def test_forms_agree_to_the_bit():
    loss = varied(reduction="none")
    logits = torch.tensor([LOGITS, LOGITS], dtype=torch.float64)
    want = loss(logits, TIMES, EVENTS, groups=WHERE)
    lists = [[[1.83, 1.83], [3.5, 4.1], [1.2, 1.2], [3.74, 3.74]], [[2.4, 2.4]]]
    numbers = [[0, 0, 1, 1], [0]]
    people = [{**WHERE[0], "annotator": ["ann", "bob"]}, {**WHERE[1], "annotator": ["bob"]}]
    assert torch.equal(loss(logits, TIMES, lists, annotators=numbers, groups=people), want)
    # Later stamps first, and anything beyond the lengths.
    table = torch.full((2, 5, 2), math.nan, dtype=torch.float64)
    whose = torch.full((2, 5), -7)
    for row, (own, who) in enumerate(zip(lists, numbers)):
        table[row, : len(own)] = torch.tensor(own, dtype=torch.float64).flip(0)
        whose[row, : len(who)] = torch.tensor(who).flip(0)
    padded = loss(logits, TIMES, table, event_lengths=[4, 1], annotators=whose, groups=people)
    assert torch.equal(padded, want)


@ORDERS
def test_who_stamps_nothing_speaks_too(alignment):
    (logits,) = logits_of([-1.0, 2.0, -1.0])
    times = [0.0, 1.0, 2.0]
    loss = loss_of({**START, "spread": 0.05}, alignment=alignment)
    alone, both = (
        loss(logits, times, {"ann": [1.4]}),
        loss(logits, times, {"ann": [1.4], "bob": []}),
    )
    own = {"spread": 0.05, "delay": 0.4, **RATES}
    oracle = Enumerated(times, [-1.0, 2.0, -1.0])
    want = oracle.log_evidence({"stamps": [1.4], **own}, {"stamps": [], **own})
    assert -both.item() == pytest.approx(want, abs=1e-10)  # messages settle to 1e-7
    assert both > alone


def test_the_largest_number_tells_how_many_annotated():
    (logits,) = logits_of([-1.0, 2.0, -1.0])
    loss, times = loss_of(), [0.0, 1.0, 2.0]
    named = {"annotator": ["ann", "bob"]}
    alone = loss(logits, times, [1.4], annotators=[0])
    both = loss(logits, times, [1.4], annotators=[0], groups=named)
    assert torch.equal(alone, loss(logits, times, {"ann": [1.4]}))
    assert torch.equal(both, loss(logits, times, {"ann": [1.4], "bob": []}))
    assert both > alone


def two_people(seed=3, instances=400):
    """Sessions in which ann is half a second late and bob a second and a half."""
    random = np.random.default_rng(seed)
    made = []
    for name in ("a", "b", "c"):
        X = random.normal(size=(instances, 1))
        times = np.cumsum(random.uniform(0.8, 1.2, instances))
        positive = random.uniform(size=instances) < 1.0 / (1.0 + np.exp(4.0 - 3.0 * X[:, 0]))
        events = {}
        for who, delay in (("ann", 0.5), ("bob", 1.5)):
            pressed = positive & (random.uniform(size=instances) < 0.9)
            events[who] = times[pressed] + random.normal(delay, 0.2, pressed.sum())
        made.append(Session(X, times, events, name=name))
    return made


def learned(sessions, loss, **forward):
    """The linear network that a loss and its penalty learn."""
    torch.manual_seed(0)
    linear = torch.nn.Linear(sessions[0].X.shape[1], 1).double()
    parameters = [*linear.parameters(), *(p for p in loss.parameters() if p.requires_grad)]
    optimiser = torch.optim.LBFGS(
        parameters, max_iter=200, tolerance_change=0.0, line_search_fn="strong_wolfe"
    )
    features = [torch.tensor(session.X) for session in sessions]
    times = [session.times for session in sessions]

    def value():
        return loss([linear(own).squeeze(-1) for own in features], times, **forward)

    def objective():
        optimiser.zero_grad()
        total = value() + loss.penalty() + 0.5 * linear.weight.square().sum()
        total.backward()
        return total

    optimiser.step(objective)
    return linear, value


def test_learning_tells_two_people_apart():
    sessions = two_people()
    loss = ImpreciseLabelLoss(
        varies={"delay": "annotator"},
        groups=groups_of(sessions),
        reduction="sum",
        dtype=torch.float64,
        start={"delay": 0.9},
    )
    events = [
        {who: own.events[own.annotators == who] for who in ("ann", "bob")} for own in sessions
    ]
    learned(sessions, loss, events=events)
    late = loss.natural()["delay_by_annotator"]
    # About 200 stamps of each with a spread of 0.2: standard errors of 0.015.
    assert loss.delay + late["ann"] == pytest.approx(0.5, abs=0.06)
    assert loss.delay + late["bob"] == pytest.approx(1.5, abs=0.06)
    assert loss.spread == pytest.approx(0.2, abs=0.04)


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_evidence_is_that_of_a_detector():
    # One session, and as many stamps of each: a detector's background goes with these.
    session = two_people(instances=120)[0]
    ann, bob = (session.events[session.annotators == who] for who in ("ann", "bob"))
    few = min(len(ann), len(bob))
    rounded = np.resize([0.0, 0.3, 0.0], 2 * few)
    session = session.replace(events={"ann": ann[:few], "bob": bob[:few]}, rounded=rounded)
    varies = {"delay": "annotator", "spread": "annotator"}
    detector = EventDetector(counts="bernoulli", varies=varies, restarts=0, max_iter=15)
    detector.fit([session])
    groups = detector.groups_
    start = {
        "false_rate": detector.false_rate_,
        "hit_rate": 1.0 - detector.miss_rate_,
        "delay": detector.delay_,
        "spread": detector.spread_,
        "background_rate": detector.background_rate_,
    }
    for what in varies:
        own = groups[groups["what"] == what]
        start[f"{what}_by_annotator"] = detector.parameters_[f"groups.{what}_by_annotator"]
        assert list(own["group"]) == ["ann", "bob"]
    loss = loss_of(start, varies=varies, groups=groups_of(session))
    logits = torch.tensor(session.X @ detector.coef_[0] + detector.intercept_[0])
    halves = (0.0 if session.rounded is None else session.rounded) / 2.0
    stamps = np.column_stack([session.events - halves, session.events + halves])
    whose = {who: stamps[session.annotators == who] for who in ("ann", "bob")}
    got = loss(logits, session.times, whose)
    # Messages settle to 1e-7, and features are standardised in the detector.
    assert -got.item() == pytest.approx(detector.log_evidence_, abs=1e-6)
