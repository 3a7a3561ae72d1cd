"""Sessions as padded batches."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from unjitter import Session, simulate
from unjitter.torch import ImpreciseLabelLoss, collate, groups_of

EPOCH = 1.7e9


def made(instances, stamps, labels=None, seed=0, name=None):
    """A session that starts at a date, and not at a whole second."""
    random = np.random.default_rng(seed)
    times = EPOCH + 0.1 + np.cumsum(random.uniform(0.5, 1.5, instances))
    events = random.choice(times, stamps, replace=False) + 0.4 if stamps else []
    return Session(random.normal(size=(instances, 2)), times, events, labels, name=name)


def loss_of(loss, batch, network):
    logits = network(batch.features.double()).squeeze(-1)
    return loss(logits, batch.times, batch.events, batch.lengths, batch.event_lengths)


def test_a_batch_has_the_loss_of_its_sessions():
    sessions = [made(7, 2, seed=1), made(12, 0, seed=2), made(1, 1, seed=3), made(0, 0)]
    loss = ImpreciseLabelLoss(reduction="none", dtype=torch.float64)
    torch.manual_seed(0)
    network = torch.nn.Linear(2, 1).double()
    batch = collate(sessions)
    assert batch.features.shape == (4, 12, 2)
    assert batch.lengths.tolist() == [7, 12, 1, 0]
    assert batch.event_lengths.tolist() == [2, 0, 1, 0]
    values = loss_of(loss, batch, network)
    for value, session in zip(values, sessions):
        single = torch.tensor(session.X.astype(np.float32)).double()
        alone = loss(network(single).squeeze(-1), session.times, session.events)
        # A double at 1.7e9 has steps of 2.4e-7, which the batch has no more.
        assert value.item() == pytest.approx(alone.item(), abs=1e-5)


def test_types_keep_the_digits():
    session = made(40, 3)
    batch = collate([session])
    assert (batch.features.dtype, batch.times.dtype) == (torch.float32, torch.float64)
    assert (batch.events.dtype, batch.lengths.dtype) == (torch.float64, torch.int64)
    np.testing.assert_array_equal(batch.times[0], session.times - session.times[0])
    np.testing.assert_array_equal(batch.events[0], session.events - session.times[0])


def test_labels_are_kept_where_there_are_any():
    assert collate([made(3, 0), made(2, 0)]).labels is None
    batch = collate([made(3, 0, [0, 1, None]), made(2, 0)])
    assert batch.labels.tolist() == [[0, 1, -1], [-1, -1, -1]]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_every_session_once(workers):
    sessions = simulate.respiration(seed=0, sessions=5)
    loader = DataLoader(
        sessions, batch_size=2, shuffle=True, collate_fn=collate, num_workers=workers
    )
    batches = list(loader)
    assert [len(batch.lengths) for batch in batches] == [2, 2, 1]
    lengths = sorted(int(n) for batch in batches for n in batch.lengths)
    assert lengths == sorted(map(len, sessions))


def test_people_intervals_and_groups_are_passed_on():
    first, second = made(9, 0, seed=1, name="walk"), made(12, 2, seed=2)
    begin = first.times[0]
    people = {"bob": begin + np.array([1.2, 4.0]), "ann": [begin + 2.2], "cleo": []}
    widths = [0.5, 0.0, 0.3]
    first = first.replace(events=people, rounded=widths, subject="s1", device="phone")
    batch = collate([first, second])
    assert batch.events.shape == (2, 3, 2)
    assert batch.annotators.tolist() == [[1, 0, 1], [0, 0, 0]]
    assert batch.groups == [
        {
            "annotator": ["ann", "bob", "cleo"],
            "session": "walk",
            "subject": "s1",
            "device": "phone",
            "clock": "walk",
        },
        {},
    ]
    varies = {"delay": "annotator", "spread": "subject"}
    deviations = {"delay_by_annotator": [0.1, -0.2, 0.4], "spread_by_subject": 0.3}
    loss = ImpreciseLabelLoss(
        varies=varies,
        groups=groups_of([first, second]),
        start=deviations,
        reduction="none",
        dtype=torch.float64,
    )
    logits = torch.zeros(2, 12, dtype=torch.float64)
    given = (batch.times, batch.events, batch.lengths, batch.event_lengths)
    values = loss(logits, *given, annotators=batch.annotators, groups=batch.groups)
    edges = begin + np.array([[0.95, 1.45], [4.0, 4.0], [2.05, 2.35]])
    alone = {"bob": edges[:2], "ann": edges[2:], "cleo": []}
    want = loss(logits[0, :9], first.times, alone, groups={"subject": "s1"})
    # A double at 1.7e9 has steps of 2.4e-7, which the batch has no more.
    assert values[0].item() == pytest.approx(want.item(), abs=1e-5)
    want = loss(logits[1], second.times, second.events, groups={})
    assert values[1].item() == pytest.approx(want.item(), abs=1e-5)


def test_who_stamps_alone_needs_no_numbers():
    sessions = [made(5, 2, seed=k, name=f"n{k}").replace(annotators=["ann"] * 2) for k in (1, 2)]
    batch = collate(sessions)
    assert batch.annotators is None
    assert [own["annotator"] for own in batch.groups] == [["ann"], ["ann"]]


def test_a_loss_takes_a_batch_whole():
    people = made(9, 0, seed=1).replace(events={"ann": [EPOCH + 2.2], "bob": []}, rounded=[0.5])
    batch = collate([people, made(12, 2, seed=2)])
    loss = ImpreciseLabelLoss(reduction="none", dtype=torch.float64)
    logits = torch.zeros(2, 12, dtype=torch.float64)
    given = (batch.times, batch.events, batch.lengths, batch.event_lengths)
    want = loss(logits, *given, annotators=batch.annotators, groups=batch.groups)
    assert torch.equal(loss(logits, batch), want)
    # Whose stamps they are matters: bob, who gave none, counts.
    assert not torch.equal(loss(logits, *given), want)
    with pytest.raises(ValueError, match="SessionBatch has times, stamps and all else"):
        loss(logits, batch, batch.events)


@pytest.mark.parametrize(
    ("sessions", "message"),
    [
        ([], "no sessions"),
        ([np.zeros((3, 2))], "sample 0 is a ndarray, expected a Session"),
        ([made(3, 0), Session(np.zeros((2, 1)), [0, 1], [])], "session 1 has 1 features.*has 2"),
        ([made(3, 0).replace(observed=[(EPOCH, EPOCH + 1)])], "session 0 has spans.*observed"),
        ([Session(np.zeros((2, 1)), [0, 1], [0.5], ends=[0.9])], "session 0 has ends.*replace"),
        (
            [made(3, 2).replace(classes=["in", "out"])],
            r"session 0 has events of several classes.*replace\(classes=None, labels",
        ),
        ([made(3, 1, ["in", 0, None])], "session 0 has events of several classes"),
        ([made(2, 0, name="walk").replace(X=[[1, 2], [3, 1e39]])], "walk: feature 1 of instance 1"),
    ],
)
def test_what_does_not_go_into_a_batch_is_named(sessions, message):
    with pytest.raises(ValueError, match=message):
        collate(sessions)


def test_classes_can_be_made_one_kind():
    session = made(3, 2, ["in", 0, None]).replace(classes=["in", "out"])
    batch = collate([session.replace(classes=None, labels=session.labels)])
    assert batch.labels.tolist() == [[1, 0, -1]]
    assert batch.event_lengths.tolist() == [2]


def test_columns_must_mean_the_same():
    one, two = made(3, 0), made(3, 0)
    names = {"feature_names": ["a", "b"]}, {"feature_names": ["b", "a"]}
    with pytest.raises(ValueError, match="session 1 has the features b, a; the first has a, b"):
        collate([one.replace(**names[0]), two.replace(**names[1])])
