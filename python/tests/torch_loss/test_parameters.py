"""What is learned of the annotator: names, values, priors."""

import copy
import io
import math
import pickle

import numpy as np
import pytest
import torch
from learned import double
from scipy import stats

from unjitter import (
    Bernoulli,
    Categorical,
    EventDetector,
    Gaussian,
    GaussianMixture,
    Geometric,
    Poisson,
    Priors,
    Session,
    ShiftedGamma,
    StudentT,
    Uniform,
    posterior,
)
from unjitter.torch import ImpreciseLabelLoss

TIMES = [0.0, 1.0, 2.0, 3.0]
LOGITS = torch.tensor([-1.0, 0.5, 0.0, -2.0], dtype=torch.float64)


def test_names_follow_the_models():
    def names(*models):
        return [name for name, _ in ImpreciseLabelLoss(*models).named_parameters()]

    rates = ["unconstrained.false_rate", "unconstrained.hit_rate"]
    background = "unconstrained.background_rate"
    assert names() == [*rates, "unconstrained.delay", "unconstrained.spread", background]
    assert names("poisson", Uniform(0.0, 1.0)) == [*rates, background]
    assert names("categorical", "student_t")[2:] == [
        "unconstrained.false_split",
        "unconstrained.hit_split",
        "unconstrained.delay",
        "unconstrained.scale",
        "unconstrained.degrees_of_freedom",
        background,
    ]


def test_natural_values_are_those_given():
    mixture = GaussianMixture(weights=[0.25, 0.75], delays=[0.0, 2.0], spreads=[0.5, 1.0])
    table = [[0.9, 0.07, 0.03], [0.2, 0.6, 0.2]]
    loss = ImpreciseLabelLoss(Categorical(table), mixture, dtype=torch.float64, time_unit=0.1)
    # Through logits and logarithms and back: rounding.
    learned, given = loss.counts, Categorical(table)
    assert learned.false_rate == pytest.approx(given.false_rate, abs=1e-14)
    assert learned.hit_rate == pytest.approx(given.hit_rate, abs=1e-14)
    assert learned.false_split == pytest.approx(given.false_split, abs=1e-14)
    assert learned.hit_split == pytest.approx(given.hit_split, abs=1e-14)
    assert loss.noise.weights == pytest.approx((0.25, 0.75), abs=1e-14)
    assert loss.noise.delays == pytest.approx((0.0, 2.0), abs=1e-14)
    assert loss.noise.spreads == pytest.approx((0.5, 1.0), abs=1e-14)
    assert loss.natural()["hit_split"] == pytest.approx((0.75, 0.25), abs=1e-14)
    assert loss.delay == pytest.approx(1.5, abs=1e-13)
    # Variance within and between: 0.25·0.25 + 0.75·1 + 0.25·1.5² + 0.75·0.5².
    assert loss.spread == pytest.approx(math.sqrt(0.0625 + 0.75 + 0.5625 + 0.1875), abs=1e-13)
    assert loss.false_rate == pytest.approx(0.1, abs=1e-14)
    assert loss.hit_rate == pytest.approx(0.8, abs=1e-14)


def test_one_component_keeps_its_tuples():
    loss = ImpreciseLabelLoss(noise=GaussianMixture(components=1))
    assert loss.noise.components == 1
    assert loss.noise.weights == (1.0,)


def test_values_that_are_not_given_have_a_first_guess():
    loss = ImpreciseLabelLoss(start={"delay": 3.0}, time_unit=0.5, dtype=torch.float64)
    want = {"false_rate": 0.01, "hit_rate": 0.9, "delay": 3.0, "spread": 0.5}
    want["background_rate"] = 0.002
    assert loss.natural() == pytest.approx(want, abs=1e-14)
    assert all(parameter.requires_grad for parameter in loss.parameters())


# What is held is not true of these sessions, and the detector says so.
@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_values_that_are_given_are_known_and_do_not_move():
    counts, noise = Bernoulli(false_rate=0.0), Gaussian(delay=0.25)
    options = {"background_rate": 0.0, "start": {"hit_rate": 0.6}, "dtype": torch.float64}
    loss = ImpreciseLabelLoss(counts, noise, **options)
    held = {name for name, p in loss.unconstrained.items() if not p.requires_grad}
    assert held == {"false_rate", "delay", "background_rate"}
    optimiser = torch.optim.SGD(loss.parameters(), lr=0.1, weight_decay=0.1)
    before = loss.natural()
    for _ in range(3):
        (loss(LOGITS, TIMES, [1.4]) + loss.penalty()).backward()
        optimiser.step()
    # A false rate of zero has the logit −∞.
    assert (loss.false_rate, loss.delay, loss.background_rate) == (0.0, 0.25, 0.0)
    assert (loss.counts.false_rate, loss.noise.delay) == (0.0, 0.25)
    assert loss.hit_rate != before["hit_rate"]
    assert loss.spread != before["spread"]
    # The same objects hold the same values in a detector.
    data = sessions(np.array([3.0, 0.8]), delay=0.4, spread=0.6, seed=1)
    detector = EventDetector(counts=counts, noise=noise, restarts=0).fit(data)
    assert (detector.false_rate_, detector.delay_) == (0.0, 0.25)


def test_all_may_be_known():
    known = Bernoulli(0.02, 0.8), Gaussian(0.25, 0.5)
    loss = ImpreciseLabelLoss(*known, background_rate=0.1, dtype=torch.float64)
    logits = LOGITS.clone().requires_grad_()
    value = loss(logits, TIMES, [1.4])
    # There is nothing that a prior could say.
    assert loss.penalty().item() == 0.0
    (value + loss.penalty()).backward()
    evidence = posterior(TIMES, [1.4], LOGITS, *known, background_rate=0.1).log_evidence
    assert value.item() == pytest.approx(-evidence, abs=1e-14)  # rounding
    assert torch.all(logits.grad != 0.0)


def test_what_has_been_learned_can_be_held():
    loss = ImpreciseLabelLoss(start={"spread": 0.7}).hold("spread")
    loss(LOGITS, TIMES, [1.4]).backward()
    assert loss.unconstrained["spread"].grad is None
    assert loss.unconstrained["delay"].grad is not None


def test_starts_may_be_arrays():
    start = {"weights": [0.25, 0.75], "delays": np.array([0.0, 2.0]), "hit_split": (0.5, 0.5)}
    loss = ImpreciseLabelLoss("categorical", "gaussian_mixture", start=start, dtype=torch.float64)
    for name, values in start.items():
        assert loss.natural()[name] == pytest.approx(tuple(values), abs=1e-14)
    assert all(parameter.requires_grad for parameter in loss.parameters())


def test_state_survives_copies_pickles_and_files():
    loss = ImpreciseLabelLoss("poisson", "laplace", time_unit=0.5, reduction="sum")
    with torch.no_grad():
        loss.unconstrained["delay"].fill_(1.5)
    file = io.BytesIO()
    torch.save(loss.state_dict(), file)
    file.seek(0)
    loaded = ImpreciseLabelLoss("poisson", "laplace", time_unit=0.5, reduction="sum")
    loaded.load_state_dict(torch.load(file))
    want = loss(LOGITS, TIMES, [1.4])
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss)), loaded):
        assert other.delay == 0.75
        assert torch.equal(other(LOGITS, TIMES, [1.4]), want)
        assert torch.equal(other.penalty(), loss.penalty())
    copied = copy.deepcopy(loss)
    with torch.no_grad():
        copied.unconstrained["delay"].fill_(0.0)
    assert loss.delay == 0.75


def test_a_state_brings_its_unit_of_time():
    start = {"delay": 1.5, "spread": 0.7, "false_rate": 0.02}
    saved = ImpreciseLabelLoss(start=start, time_unit=0.5, dtype=torch.float64)
    other = {"time_unit": 4.0, "dtype": torch.float64}
    loaded = ImpreciseLabelLoss(start={"delay": -3.0}, **other)
    loaded.load_state_dict(saved.state_dict())
    assert loaded.time_unit == 0.5
    assert loaded.natural() == saved.natural()
    assert torch.equal(loaded(LOGITS, TIMES, [1.4]), saved(LOGITS, TIMES, [1.4]))
    assert torch.equal(loaded.penalty(), saved.penalty())
    # As part of a network too, and in a file that holds nothing but plain numbers.
    file = io.BytesIO()
    torch.save(torch.nn.ModuleDict({"loss": saved}).state_dict(), file)
    file.seek(0)
    network = torch.nn.ModuleDict({"loss": ImpreciseLabelLoss(**other)})
    network.load_state_dict(torch.load(file, weights_only=True))
    assert network["loss"].natural() == saved.natural()


def test_values_that_a_state_does_not_have_stay():
    state = ImpreciseLabelLoss(start={"delay": 1.5}, time_unit=0.5).state_dict()
    del state["unconstrained.spread"]
    loss = ImpreciseLabelLoss(start={"spread": 3.0}, time_unit=4.0)
    loss.load_state_dict(state, strict=False)
    # Through logarithms in single precision.
    assert (loss.delay, loss.spread) == pytest.approx((1.5, 3.0), rel=1e-6)


def test_a_state_without_a_unit_is_in_that_of_the_loss():
    saved = ImpreciseLabelLoss(start={"delay": 1.5}, time_unit=0.5)
    state = saved.state_dict()
    assert state.pop("_extra_state") == {"time_unit": 0.5}
    loaded = ImpreciseLabelLoss(time_unit=0.5)
    loaded.load_state_dict(state)
    assert loaded.natural() == saved.natural()
    network = torch.nn.ModuleDict({"loss": ImpreciseLabelLoss(time_unit=0.5)})
    network.load_state_dict({f"loss.{name}": values for name, values in state.items()})
    assert network["loss"].natural() == saved.natural()


def test_repr_tells_the_values():
    text = repr(ImpreciseLabelLoss(noise=Gaussian(delay=1.25), start={"spread": 0.5}))
    values = "false_rate=0.01, hit_rate=0.9, delay=1.25, spread=0.5, background_rate=0.001"
    assert f"bernoulli, gaussian, free, {values}" in text


VARIES = {
    "varies": {"delay": "annotator", "spread": "session", "drift": "session"},
    "groups": {"annotator": {"bob", "ann"}, "session": ["walk"]},
}


def test_deviations_are_told_by_group():
    start = {"delay": 0.4, "delay_by_annotator": {"bob": -0.3, "ann": 0.2}}
    loss = ImpreciseLabelLoss(start=start, time_unit=0.5, dtype=torch.float64, **VARIES)
    names = [name for name, _ in loss.named_parameters()][-3:]
    assert names == [
        "unconstrained.delay_by_annotator",
        "unconstrained.spread_by_session",
        "unconstrained.drift_by_session",
    ]
    natural = loss.natural()
    # Through multiples of the unit and back: rounding.
    assert natural["delay_by_annotator"] == pytest.approx({"ann": 0.2, "bob": -0.3}, abs=1e-15)
    assert natural["spread_by_session"] == {"walk": 0.0}
    assert loss.unconstrained["delay_by_annotator"].tolist() == pytest.approx([0.4, -0.6])
    again = ImpreciseLabelLoss(start=natural, dtype=torch.float64, **VARIES)
    assert again.natural()["delay_by_annotator"] == pytest.approx({"ann": 0.2, "bob": -0.3})
    assert "delay_by_annotator of 2, spread_by_session of 1" in repr(loss)
    held = loss.hold("delay_by_annotator").unconstrained["delay_by_annotator"]
    assert not held.requires_grad


def test_a_state_knows_its_groups():
    start = {"delay_by_annotator": [0.2, -0.3]}
    saved = ImpreciseLabelLoss(start=start, time_unit=0.5, dtype=torch.float64, **VARIES)
    file = io.BytesIO()
    torch.save(saved.state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    loaded = ImpreciseLabelLoss(dtype=torch.float64, **VARIES)
    loaded.load_state_dict(state)
    assert loaded.natural() == saved.natural()
    for other in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        given = (LOGITS, TIMES, {"ann": [1.4], "bob": [1.7]})
        assert torch.equal(other(*given, groups={}), saved(*given, groups={}))
    groups = {"annotator": ["ann", "cleo"], "session": ["walk"]}
    strangers = ImpreciseLabelLoss(varies=VARIES["varies"], groups=groups, dtype=torch.float64)
    with pytest.raises(ValueError, match="in the state dict is of ann, bob, and.*of ann, cleo"):
        strangers.load_state_dict(state)


def test_a_chain_has_rates_and_no_false_rate():
    loss = ImpreciseLabelLoss(labels="chain", time_unit=0.5, dtype=torch.float64)
    natural = loss.natural()
    # Runs of two units, ten units apart.
    assert natural["onset_rate"] == pytest.approx(0.2)
    assert natural["offset_rate"] == pytest.approx(1.0)
    assert (loss.false_rate, loss.counts.false_rate) == (0.0, 0.0)
    assert not loss.unconstrained["false_rate"].requires_grad
    assert loss.unconstrained["onset_rate"].requires_grad
    assert "bernoulli, gaussian, free, chain, onset, onset_rate=0.2" in repr(loss)


def test_penalty_of_groups_is_as_wide_as_was_said():
    deviations = {"delay_by_annotator": [0.2, -0.3], "drift_by_session": [0.02]}
    scatter = {"delay": 0.7, "spread": 0.3}
    options = {"time_unit": 0.5, "dtype": torch.float64, "scatter": scatter, **VARIES}
    loss = ImpreciseLabelLoss(start=deviations, **options)
    plain = ImpreciseLabelLoss(time_unit=0.5, dtype=torch.float64)
    normal = stats.norm.logpdf
    # In units of time, as all priors.
    want = normal([0.4, -0.6], scale=1.4).sum() + normal(0.0, scale=0.3) + normal(0.02, scale=0.01)
    got = loss.penalty().item() - plain.penalty().item()
    assert got == pytest.approx(-want, abs=1e-12)  # rounding
    parameters = tuple(loss.unconstrained.values())
    assert torch.autograd.gradcheck(lambda *_: loss.penalty(), parameters)


UNIT = 0.5


def minus_log_densities(loss, priors):
    """The prior of every parameter, by scipy, on natural values in units of time."""
    value = {name: np.atleast_1d(v) for name, v in loss.natural().items()}
    log_densities = {
        "hit_rate": lambda v: stats.beta.logpdf(v, *priors.hit_rate),
        "false_rate": lambda v: stats.beta.logpdf(1.0 - v, *priors.silence),
        "delay": lambda v: stats.norm.logpdf(v / UNIT, *priors.delay),
        "spread": lambda v: stats.invgamma.logpdf(
            (v / UNIT) ** 2, priors.variance[0], scale=priors.variance[1]
        ),
        "degrees_of_freedom": lambda v: stats.gamma.logpdf(
            v, priors.degrees_of_freedom[0], scale=1.0 / priors.degrees_of_freedom[1]
        ),
        "shape": lambda v: stats.gamma.logpdf(
            v - 1.0, priors.shape[0], scale=1.0 / priors.shape[1]
        ),
        "background_rate": lambda v: stats.gamma.logpdf(
            v * UNIT, priors.background[0], scale=1.0 / priors.background[1]
        ),
        "weights": lambda v: stats.dirichlet.logpdf(v, [priors.mixture_weight] * len(v)),
        "hit_split": lambda v: stats.dirichlet.logpdf(v, [priors.count_split] * len(v)),
    }
    same = {"shift": "delay", "delays": "delay", "spreads": "spread", "scale": "spread"}
    same["false_split"] = "hit_split"
    learned = [name for name, p in loss.unconstrained.items() if p.requires_grad]
    return -sum(np.sum(log_densities[same.get(name, name)](value[name])) for name in learned)


@pytest.mark.parametrize(
    "models",
    [
        (Bernoulli(0.03, 0.7), Gaussian(0.4, 0.6)),
        (Categorical(), StudentT(0.4, 0.6, 5.0)),
        (Poisson(), ShiftedGamma(-0.3, 2.5, 0.8)),
        (Geometric(), GaussianMixture([0.2, 0.5, 0.3], [0.0, 1.0, 2.0], [0.3, 0.4, 0.5])),
        (Bernoulli(), Uniform(0.0, 1.0)),
    ],
    ids=["gaussian", "student_t", "shifted_gamma", "mixture", "uniform"],
)
def test_penalty_is_minus_the_log_prior(models):
    priors = Priors(
        hit_rate=(4.0, 2.0),
        silence=(6.0, 1.5),
        delay=(0.3, 2.0),
        variance=(2.0, 1.5),
        count_split=1.5,
        mixture_weight=3.0,
        background=(2.5, 8.0),
    )
    loss = double(*models, priors=priors, time_unit=UNIT)
    # Densities of order one by another implementation: rounding.
    assert loss.penalty().item() == pytest.approx(minus_log_densities(loss, priors), abs=1e-11)
    # The parameters are gradcheck's own tensors: perturbed in place.
    parameters = tuple(loss.unconstrained.values())
    assert torch.autograd.gradcheck(lambda *_: loss.penalty(), parameters)
    loss.hold("hit_rate")
    assert loss.penalty().item() == pytest.approx(minus_log_densities(loss, priors), abs=1e-11)


def sessions(weights, delay, spread, seed):
    """Linear detectors and Bernoulli presses with normal delays. One session: a detector's
    background goes with the presses of each, the loss's does not."""
    random = np.random.default_rng(seed)
    features = random.normal([0.5, -1.0], [1.0, 3.0], size=(1200, 2))
    times = np.cumsum(random.uniform(1.6, 2.4, size=1200))
    log_odds = features @ weights - 3.5
    positive = random.uniform(size=1200) < 1.0 / (1.0 + np.exp(-log_odds))
    pressed = random.uniform(size=1200) < np.where(positive, 0.92, 0.01)
    events = times[pressed] + random.normal(delay, spread, size=pressed.sum())
    return [Session(features, times, events)]


@pytest.mark.parametrize("alignment", ["free", "ordered"])
def test_a_linear_model_finds_the_optimum_of_the_detector(alignment):
    data = sessions(np.array([3.0, 0.8]), delay=1.2, spread=1.2, seed=2)
    # Without these, a detector takes them from the number of stamps and the gaps between them.
    priors = Priors(silence=(5.0, 1.5), background=(2.0, 300.0), delay_width=2.0)
    same = {"alignment": alignment, "priors": priors, "time_unit": 2.0}
    detector = EventDetector(counts="bernoulli", max_iter=1000, **same).fit(data)

    every = np.concatenate([session.X for session in data])
    mean, scale = every.mean(axis=0), every.std(axis=0)
    features = [torch.tensor((session.X - mean) / scale) for session in data]
    loss = ImpreciseLabelLoss(
        start={"delay": 0.0, "spread": 3.0}, reduction="sum", dtype=torch.float64, **same
    )
    torch.manual_seed(0)
    linear = torch.nn.Linear(2, 1).double()
    optimiser = torch.optim.LBFGS(
        [*linear.parameters(), *loss.parameters()],
        max_iter=500,
        tolerance_grad=1e-8,
        tolerance_change=0.0,
        line_search_fn="strong_wolfe",
    )

    def value():
        logits = [linear(own).squeeze(-1) for own in features]
        return loss(logits, [one.times for one in data], [one.events for one in data])

    def objective():
        optimiser.zero_grad()
        # The detector's priors on weights and intercept: precisions of 1 and 0.01.
        ridge = 0.5 * linear.weight.square().sum() + 0.005 * linear.bias.square().sum()
        total = value() + loss.penalty() + ridge
        total.backward()
        return total

    optimiser.step(objective)
    # The detector stops where no entry of its gradient exceeds 1e-5·√|objective|, about 2e-4; the
    # curvatures are above ten.
    assert loss.delay == pytest.approx(detector.delay_, abs=1e-5)
    assert loss.spread == pytest.approx(detector.spread_, abs=1e-5)
    assert 1.0 - loss.hit_rate == pytest.approx(detector.miss_rate_, abs=1e-5)
    assert loss.false_rate == pytest.approx(detector.false_rate_, abs=1e-5)
    assert loss.background_rate == pytest.approx(detector.background_rate_, abs=1e-5)
    coef = linear.weight.detach().numpy() / scale
    assert coef == pytest.approx(detector.coef_, abs=1e-4)
    assert -value().item() == pytest.approx(detector.log_evidence_, abs=1e-4)
    # And both are near what the simulation put in, within about three standard errors.
    assert loss.delay == pytest.approx(1.2, abs=0.15)
    assert loss.spread == pytest.approx(1.2, abs=0.15)
    assert loss.hit_rate == pytest.approx(0.92, abs=0.1)
    assert loss.false_rate == pytest.approx(0.01, abs=0.02)
    assert loss.background_rate < 0.01
