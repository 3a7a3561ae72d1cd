"""The kernels for GPUs, run on the CPU by Triton's interpreter, beside the compiled core."""

import copy
import pickle
import warnings
from pathlib import Path
from subprocess import run
from sys import executable

import numpy as np
import pytest
import torch
from learned import double

from unjitter import Bernoulli, Gaussian, GaussianMixture, Poisson
from unjitter.torch import ImpreciseLabelLoss, _path
from unjitter.torch._gpu import messages, ops, room

pytest.importorskip("triton")

ALIGNMENTS = ["free", "ordered"]
COUNTS = [Bernoulli(false_rate=0.05, hit_rate=0.8), Poisson(false_rate=0.05, hit_rate=0.8)]
NOISE = [
    Gaussian(delay=0.4, spread=0.9),
    GaussianMixture(weights=[0.3, 0.5, 0.2], delays=[-0.2, 1.1, 3.0], spreads=[0.5, 0.8, 2.0]),
]
PAIRS = [(counts, noise) for counts in COUNTS for noise in NOISE]
IDS = [f"{counts.kind}-{noise.kind}" for counts, noise in PAIRS]
KINDS = pytest.mark.parametrize(("counts", "noise"), PAIRS, ids=IDS)
ORDERS = pytest.mark.parametrize("alignment", ALIGNMENTS)

# The interpreter divides and takes logarithms with NumPy, which tells of what is then masked.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.fixture(autouse=True)
def _memory_begins_with_nan():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def kernels(monkeypatch):
    """Says whether the kernels take over from the core."""

    def choose(on):
        monkeypatch.setattr(_path, "DEVICES", {"cuda", "cpu"} if on else {"cuda"})

    return choose


class Sequences:
    """A ragged batch: crowds of stamps, none, one instance, one stamp far from all instances."""

    def __init__(self, seed=0, instances=(40, 25, 1, 12), stamps=(9, 0, 2, 1), saturated=False):
        random = np.random.default_rng(seed)
        most, most_stamps = max(instances), max(stamps)
        shape = (len(instances), most)
        self.times = np.cumsum(random.uniform(0.0, 2.0, shape), axis=1)
        self.events = random.uniform(0.0, most, (len(instances), most_stamps))
        self.events[0, :3] = [3.0, 3.2, 3.2]
        self.events[-1, 0] = 200.0
        self.logits = torch.from_numpy(random.normal(-1.0, 2.0, shape))
        if saturated:
            wild = [60.0, -60.0, 800.0, -800.0, np.inf, -np.inf]
            self.logits[0, :36] = torch.tensor(wild * 6, dtype=torch.float64)
        self.lengths, self.event_lengths = list(instances), list(stamps)

    def padded(self, dtype=torch.float64):
        logits = self.logits.to(dtype, copy=True).requires_grad_()
        return logits, self.times, self.events, self.lengths, self.event_lengths

    def listed(self):
        rows = zip(self.logits, self.times, self.events, self.lengths, self.event_lengths)
        cut = [(f[:n].clone().requires_grad_(), t[:n], z[:m]) for f, t, z, n, m in rows]
        return [list(column) for column in zip(*cut)]


def gradients(loss, given):
    """The values of a batch, and all derivatives of a sum with unequal weights."""
    values = loss(*given)
    loss.zero_grad()
    weights = torch.linspace(0.5, 1.5, len(values), dtype=values.dtype)
    (weights * values).sum().backward()
    logits = given[0] if isinstance(given[0], list) else [given[0]]
    d_logits = torch.cat([own.grad.reshape(-1) for own in logits])
    d_params = torch.cat([p.grad for p in loss.unconstrained.values()])
    return values.detach(), d_logits, d_params


def is_settled(loss):
    """Whether the last call did, of which the next one would hear."""
    loss._room.listen()
    return loss._room.latest[2] == 0


@ORDERS
@KINDS
@pytest.mark.parametrize("saturated", [False, True])
def test_the_core_gives_the_same(kernels, counts, noise, alignment, saturated):
    loss = double(counts, noise, alignment=alignment, reduction="none", time_unit=1.7)
    sequences = Sequences(saturated=saturated)
    want = gradients(loss, sequences.padded())
    kernels(True)
    got = gradients(loss, sequences.padded())
    assert is_settled(loss)
    # Windows leave out a share of 1e-10; messages settle to 1e-7; H is kept in single precision.
    for found, expected, accuracy in zip(got, want, [1e-9, 1e-6, 1e-6]):
        assert torch.allclose(found, expected, rtol=1e-6, atol=accuracy)


@ORDERS
@pytest.mark.parametrize("counts", COUNTS, ids=lambda own: own.kind)
def test_single_precision_is_accurate(kernels, counts, alignment):
    loss = double(counts, NOISE[0], alignment=alignment, reduction="none")
    sequences = Sequences(1, (300, 90), (18, 5))
    want = gradients(loss, sequences.padded())
    kernels(True)
    got = gradients(loss.float(), sequences.padded(torch.float32))
    assert is_settled(loss)
    assert got[0].dtype == got[1].dtype == got[2].dtype == torch.float32
    # What the docs state, of the largest gradient.
    for found, expected, accuracy in zip(got, want, [1e-5, 1e-4, 1e-4]):
        error = (found.double() - expected).abs().max()
        assert error <= accuracy * expected.abs().max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_crowds_that_swing_are_damped(kernels, monkeypatch, dtype):
    # Six stamps between two instances, of which one gave them all: without damping both are called
    # likely and unlikely by turns, and the value was -18.8 after 400 rounds instead of 7.7.
    counts, noise = Poisson(false_rate=0.001, hit_rate=0.99), Gaussian(delay=0.0, spread=1.0)
    start = {**counts.values(), **noise.values(), "background_rate": 1e-6}
    loss = ImpreciseLabelLoss("poisson", start=start, reduction="none", dtype=torch.float64)
    events = np.sort(np.random.default_rng(0).normal(0.5, 0.3, 6))
    logits = torch.full((1, 2), -6.0, dtype=dtype)
    want = gradients(loss, (logits.clone().double().requires_grad_(), [0.0, 1.0], [events]))
    kernels(True)
    # As with 100, in a quarter of the time.
    monkeypatch.setattr(messages, "ROUNDS_BEFORE_DAMPING", 20)
    loss._room.fit(2)
    got = gradients(loss.to(dtype), (logits.requires_grad_(), [0.0, 1.0], [events]))
    assert is_settled(loss)
    assert loss._room.latest[1] > 20
    # What the docs state of single precision; messages settle to 1e-7.
    for found, expected, accuracy in zip(got, want, [1e-5, 1e-4, 1e-4]):
        error = (found.double() - expected).abs().max()
        assert error <= accuracy * expected.abs().max()


@ORDERS
@KINDS
def test_gradients_match_finite_differences(kernels, counts, noise, alignment):
    kernels(True)
    loss = double(counts, noise, alignment=alignment, reduction="none", time_unit=1.7)
    logits, *rest = Sequences(2, (9, 4), (3, 1)).padded()
    values, d_logits, d_params = gradients(loss, (logits, *rest))
    weights = torch.linspace(0.5, 1.5, len(values), dtype=torch.float64)
    torch.manual_seed(0)
    # One direction for all of them, along which every wrong derivative shows.
    way = torch.randn(len(d_logits) + len(d_params), dtype=torch.float64)
    slope = torch.cat([d_logits, d_params]) @ way
    own = [logits, *loss.unconstrained.values()]
    pieces = way.split([p.numel() for p in own])
    ends = []
    with torch.no_grad():
        for step in (2e-4, -4e-4):
            for numbers, piece in zip(own, pieces):
                numbers += step * piece.reshape(numbers.shape)
            ends.append((weights * loss(logits, *rest)).sum().item())
    # The square of the step, and messages that settle to 1e-7.
    assert slope.item() == pytest.approx((ends[0] - ends[1]) / 4e-4, abs=2e-5)


@pytest.mark.parametrize("counts", COUNTS, ids=lambda own: own.kind)
@pytest.mark.parametrize("tile", [64, 1])
def test_tiles_of_any_size_agree_with_the_core(kernels, monkeypatch, counts, tile):
    loss = double(counts, NOISE[0], reduction="none")
    # Windows that reach over several tiles, and tiles that are not full.
    sequences = Sequences(5, (30, 20, 9, 4), (9, 5, 1, 1))
    want = gradients(loss, sequences.padded())
    kernels(True)
    # Two stamps, and one.
    monkeypatch.setattr(ops, "TILE", tile)
    got = gradients(loss, sequences.padded())
    for found, expected, accuracy in zip(got, want, [1e-9, 1e-6, 1e-6]):  # as above
        assert torch.allclose(found, expected, rtol=1e-6, atol=accuracy)


@ORDERS
def test_padded_listed_and_single_agree(kernels, alignment):
    kernels(True)
    loss = double(*PAIRS[3], alignment=alignment, reduction="none")
    sequences = Sequences()
    values, d_logits, d_params = gradients(loss, sequences.padded())
    listed = gradients(loss, sequences.listed())
    assert torch.equal(values, listed[0])
    is_real = np.arange(40) < np.array(sequences.lengths)[:, None]
    assert torch.equal(d_logits.reshape(4, 40)[torch.from_numpy(is_real)], listed[1])
    assert torch.count_nonzero(d_logits.reshape(4, 40)[torch.from_numpy(~is_real)]) == 0
    assert torch.allclose(d_params, listed[2], rtol=1e-14)  # another order of summation
    one_by_one = [loss(own.detach(), t, z) for own, t, z in zip(*sequences.listed())]
    assert torch.equal(values, torch.stack(one_by_one))


def test_times_may_be_shared(kernels):
    kernels(True)
    loss = double(*PAIRS[0], alignment="ordered", reduction="none")
    logits, times, events, lengths, counts = Sequences().padded()
    shared = loss(logits, times[0], events, lengths, counts)
    repeated = loss(logits, np.tile(times[0], (4, 1)), events, lengths, counts)
    assert torch.equal(shared, repeated)


def test_tensors_of_any_kind(kernels):
    kernels(True)
    loss = double(*PAIRS[0], alignment="ordered", reduction="none")
    logits, times, events, lengths, counts = Sequences().padded()
    want = loss(logits, times, events, lengths, counts)
    data = torch.from_numpy(times), torch.from_numpy(events)
    sizes = [torch.tensor(own, dtype=torch.int32) for own in (lengths, counts)]
    assert torch.equal(loss(logits, *data, *sizes), want)
    assert loss(logits.half(), *data, lengths, counts).dtype == torch.float32
    strided = torch.stack([logits, logits], dim=2)[:, :, 0]
    assert torch.equal(loss(strided, *data, lengths, counts), want)


def test_sequences_without_anything(kernels):
    loss = double(*PAIRS[0], reduction="none")
    given = [torch.zeros(0).double(), torch.zeros(2).double()], [[], [0.0, 1.0]], [[], []]
    want = loss(*given)
    kernels(True)
    assert torch.allclose(loss(*given), want, rtol=1e-14, atol=1e-14)  # rounding
    empty = torch.zeros(2, 0, requires_grad=True)
    loss(empty, torch.zeros(2, 0), torch.zeros(2, 0), None, [0, 0]).sum().backward()
    assert empty.grad.shape == (2, 0)


@pytest.mark.parametrize(
    ("counts", "noise", "background"),
    [
        ("categorical", "gaussian", None),
        ("bernoulli", "laplace", None),
        ("poisson", "gaussian", 0.0),
    ],
)
def test_parts_without_kernels_say_so_once(kernels, counts, noise, background):
    loss = ImpreciseLabelLoss(counts, noise, background_rate=background)
    given = torch.tensor([0.3, -1.0, 0.2]), [0.0, 1.0, 2.0], [1.2]
    want = loss(*given)
    kernels(True)
    _path.warn_once.cache_clear()
    with pytest.warns(UserWarning, match="computed on the CPU, though"):
        assert loss(*given) == want
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert loss(*given) == want


GROUPS = {"groups": {"annotator": ["ann", "bob"]}}


@pytest.mark.parametrize(
    ("options", "events", "others", "why"),
    [
        ({"labels": "chain"}, [1.3], {}, "labels that form a chain"),
        ({"varies": {"delay": "annotator"}, **GROUPS}, {"ann": [1.3]}, {}, "differ between groups"),
        ({}, {"ann": [1.3], "bob": [0.8]}, {}, "several annotators"),
        ({}, [1.3, 0.8], {"annotators": [0, 1]}, "several annotators"),
        ({}, [[1.0, 1.6]], {}, "stamps in intervals"),
    ],
)
def test_stamps_without_kernels_say_so_once(kernels, options, events, others, why):
    logits, times = torch.tensor([-1.0, 0.5, 0.0], dtype=torch.float64), [0.0, 1.0, 2.0]
    loss = ImpreciseLabelLoss(dtype=torch.float64, **options)
    kernels(False)
    want = loss(logits, times, events, **others)
    kernels(True)
    _path.warn_once.cache_clear()
    with pytest.warns(UserWarning, match=f"computed on the CPU, though.*no kernel for.*{why}"):
        assert torch.equal(loss(logits, times, events, **others), want)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss(logits, times, events, **others)


@pytest.mark.parametrize(
    ("events", "others"),
    [
        ([[1.3]], {"groups": [{"annotator": ["ann"], "session": "walk"}]}),
        ([{"ann": [1.3]}], {}),
        ([[1.3]], {"annotators": [[0]]}),
        ([[1.3]], {"annotators": [np.zeros(1, dtype=int)]}),
        (torch.tensor([[1.3]]), {"event_lengths": [1], "annotators": torch.zeros(1, 1).int()}),
    ],
)
def test_one_person_stays_with_the_kernels(kernels, monkeypatch, events, others):
    logits, times = torch.tensor([[-1.0, 0.5, 0.0]], dtype=torch.float64), [0.0, 1.0, 2.0]
    loss = ImpreciseLabelLoss(dtype=torch.float64)
    want = loss(logits, times, events, **others)
    kernels(True)
    monkeypatch.setattr(ImpreciseLabelLoss, "_on_cpu", None)
    # Windows leave out a share of 1e-10; 1.3 in single precision.
    assert loss(logits, times, events, **others).item() == pytest.approx(want.item(), abs=1e-9)


def test_one_person_of_one_sequence_stays_with_the_kernels(kernels, monkeypatch):
    logits, times = torch.tensor([-1.0, 0.5, 0.0], dtype=torch.float64), [0.0, 1.0, 2.0]
    loss = ImpreciseLabelLoss(dtype=torch.float64)
    kernels(True)
    monkeypatch.setattr(ImpreciseLabelLoss, "_on_cpu", None)
    assert loss(logits, times, {"ann": [1.3]}) == loss(logits, times, [1.3])


def test_a_batch_is_no_mapping(kernels):
    kernels(True)
    _path.warn_once.cache_clear()
    mistake = pytest.raises(ValueError, match="events of a batch are a mapping")
    with mistake, pytest.warns(UserWarning, match="several annotators"):
        ImpreciseLabelLoss()(torch.zeros(1, 3), [0.0, 1.0, 2.0], {"ann": [1.3]})


def test_missing_triton_is_told_where_the_loss_is_called(kernels, monkeypatch):
    given = torch.tensor([0.3, -1.0, 0.2]), [0.0, 1.0, 2.0], [1.2]
    loss = ImpreciseLabelLoss()
    want = loss(*given)
    kernels(True)
    monkeypatch.setattr(_path, "HAS_TRITON", False)
    _path.warn_once.cache_clear()
    with pytest.warns(UserWarning, match="on the CPU, though.*Triton is not installed") as told:
        assert loss(*given) == want
    assert told[0].filename == __file__


def test_a_rate_that_is_loaded_counts(kernels, monkeypatch):
    kernels(True)
    without = ImpreciseLabelLoss(background_rate=0.0)
    loss = ImpreciseLabelLoss()
    assert loss._has_kernels(torch.zeros(3), [], None, None)
    loss.load_state_dict(without.state_dict())
    _path.warn_once.cache_clear()
    with pytest.warns(UserWarning, match="background"):
        assert not loss._has_kernels(torch.zeros(3), [], None, None)


def test_second_derivatives_are_refused(kernels):
    kernels(True)
    logits = torch.tensor([0.3, -1.0, 0.2], requires_grad=True)
    value = ImpreciseLabelLoss()(logits, [0.0, 1.0, 2.0], [1.2])
    (gradient,) = torch.autograd.grad(value, logits, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        gradient.sum().backward()


def test_compiled_code_holds_the_loss_in_one_graph(kernels):
    kernels(True)
    loss = ImpreciseLabelLoss()
    logits, times, events, lengths, counts = Sequences().padded(torch.float32)
    data = torch.from_numpy(times), torch.from_numpy(events)
    sizes = torch.tensor(lengths), torch.tensor(counts)
    want = loss(logits, *data, *sizes)
    want.backward()
    expected, logits.grad = logits.grad, None
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    got = compiled(logits, *data, *sizes)
    got.backward()
    assert torch.equal(got, want)
    assert torch.equal(logits.grad, expected)
    # The whole objective of the docs.
    own = loss.unconstrained["spread"]
    (want,) = torch.autograd.grad(loss(logits, *data, *sizes) + loss.penalty() / 8.0, own)
    objective = torch.compile(
        lambda: loss(logits, *data, *sizes) + loss.penalty() / 8.0,
        fullgraph=True,
        backend="aot_eager",
    )
    (got,) = torch.autograd.grad(objective(), own)
    assert torch.equal(got, want)


def test_windows_find_room_as_they_grow(kernels):
    kernels(True)
    loss = double(*PAIRS[0])
    sequences = Sequences()
    loss(*sequences.padded())
    first = loss._room.size
    with torch.no_grad():
        loss.unconstrained["spread"] += 1.0
    with pytest.warns(UserWarning, match="took the [0-9]+ in the middle"):
        cut = loss(*sequences.padded()), loss(*sequences.padded())
    assert loss._room.size > first
    kernels(False)
    want = loss(*sequences.padded()).item()
    assert cut[1].item() == pytest.approx(want, abs=1e-9)  # as in the first test
    assert cut[0].item() == pytest.approx(want, rel=0.05)


def test_a_graph_has_no_value_for_windows_that_outgrow_it(kernels, monkeypatch):
    kernels(True)
    for alignment in ALIGNMENTS:
        loss = double(*PAIRS[0], alignment=alignment, reduction="none")
        # The third sequence has one instance.
        given = Sequences().padded()
        with monkeypatch.context() as patch:
            loss(*given)
            patch.setattr(ops, "_is_captured", lambda _: True)
            assert torch.isfinite(loss(*given)).all()
            with torch.no_grad():
                loss.unconstrained["spread"] += 1.0
            values, d_logits, _ = gradients(loss, given)
            assert values.isnan().tolist() == [True, False, False, False]
            assert d_logits.reshape(4, 40).isnan().any(dim=1).tolist() == values.isnan().tolist()
        # Elsewhere they are cut to the room, which grows.
        with pytest.warns(UserWarning, match="took the [0-9]+ in the middle"):
            assert torch.isfinite(torch.stack([loss(*given), loss(*given)])).all()


def test_room_that_is_not_needed_is_given_back(kernels, monkeypatch):
    kernels(True)
    monkeypatch.setattr(room, "CALM", 3)
    loss = double(*PAIRS[0], alignment="ordered", reduction="none")
    given = Sequences().padded()
    want = loss(*given)
    own = loss._room.size
    loss._room.fit(100)
    sizes = []
    for _ in range(5):
        assert torch.equal(loss(*given), want)
        sizes.append(loss._room.size)
    # The news of a call come with the next one, so that the first of them were there already.
    assert sizes == [128, 128, own, own, own]
    # Room of less than twice what is needed stays.
    loss._room.size = 2 * own - 8
    for _ in range(5):
        loss(*given)
    assert loss._room.size == 2 * own - 8


def test_windows_have_a_limit(kernels, monkeypatch):
    kernels(True)
    monkeypatch.setattr(room, "MOST", 8)
    with pytest.raises(ValueError, match="a stamp could belong to [0-9]+ instances"):
        double(*PAIRS[0])(*Sequences().padded())


def test_messages_that_do_not_settle_are_told(kernels, monkeypatch):
    kernels(True)
    monkeypatch.setattr(ops, "ROUNDS", 1)
    loss = double(*PAIRS[0], reduction="none")
    values, d_logits, _ = gradients(loss, Sequences().padded())
    with pytest.warns(UserWarning, match="still moved after 1 rounds"):
        loss(*Sequences().padded())
    # No stamps need no rounds.
    assert values.isnan().tolist() == [True, False, True, True]
    assert d_logits.reshape(4, 40)[1].isfinite().all()


BAD = {
    "times that decrease": ("times", 7, -1.0),
    "a time that is NaN": ("times", 7, np.nan),
    "a first time that is NaN": ("times", 0, np.nan),
    "a last time that is infinite": ("times", 9, np.inf),
    "a stamp that is NaN": ("events", 2, np.nan),
    "a stamp that is -NaN": ("events", 2, -np.nan),
    "a stamp that is infinite": ("events", 2, np.inf),
    "a logit that is NaN": ("logits", 7, np.nan),
}


# The interpreter takes the largest of numbers that are all NaN.
@pytest.mark.filterwarnings("ignore:All-NaN slice encountered:RuntimeWarning")
@ORDERS
@pytest.mark.parametrize("form", ["padded", "listed"])
@pytest.mark.parametrize("case", BAD)
def test_bad_numbers_make_their_sequence_nan(kernels, alignment, form, case):
    kernels(True)
    loss = double(*PAIRS[1], alignment=alignment, reduction="none")
    # More room for stamps than any sequence has.
    sequences = Sequences(0, (10, 5, 1, 4), (3, 2, 2, 1))
    sequences.events = np.pad(sequences.events, ((0, 0), (0, 3)))
    want = gradients(loss, getattr(sequences, form)())
    what, place, number = BAD[case]
    getattr(sequences, what)[0, place] = number
    values, d_logits, d_params = gradients(loss, getattr(sequences, form)())
    assert values.isnan().tolist() == [True, False, False, False]
    assert torch.equal(values[1:], want[0][1:])
    assert d_logits[:10].isnan().all()
    assert torch.equal(d_logits[10:], want[1][10:])
    assert d_params.isnan().all()


def test_copies_have_room_of_their_own(kernels):
    kernels(True)
    loss = double(*PAIRS[0], alignment="ordered")
    value = loss(*Sequences().padded())
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert other._room.number != loss._room.number
        assert other(*Sequences().padded()) == value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": np.zeros((4, 39))}, "times have shape"),
        (
            {"times": [np.arange(n) for n in (40, 25, 1, 11)]},
            r"sequence 3 has times of shape \(11,\) for 12 logits",
        ),
        (
            {"times": [np.arange(n) for n in (40, 25, 1, 40)], "lengths": None},
            r"sequence 1 has times of shape \(25,\) for 40 logits",
        ),
        ({"times": [np.arange(40)] * 3, "lengths": None}, "times of 3 sequences for 4 of logits"),
        ({"events": np.zeros((3, 9))}, "events have shape"),
        ({"counts": None}, "padded events need event_lengths"),
        ({"lengths": [40, 25, 1]}, "lengths must be 4 whole numbers"),
        ({"lengths": torch.ones(3, dtype=torch.int64)}, "lengths must be 4 whole numbers"),
        ({"logits": torch.zeros(4, 40, dtype=torch.int64)}, "expected a floating-point type"),
        ({"times": torch.zeros(4, 40, requires_grad=True)}, "require a gradient"),
        ({"times": torch.full((4, 40), 1.7e9)}, "subtract the start of the recording"),
    ],
)
def test_mistakes(kernels, change, message):
    kernels(True)
    names = ["logits", "times", "events", "lengths", "counts"]
    given = {**dict(zip(names, Sequences().padded())), **change}
    with pytest.raises(ValueError, match=message):
        ImpreciseLabelLoss()(*given.values())


def test_kernels_compile_for_gpus():
    # The interpreter takes what the compiler refuses. It needs no GPU, but a process of its own.
    script = Path(__file__).with_name("compile_kernels.py")
    found = run([executable, script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-2000:]
