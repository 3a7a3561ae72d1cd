"""Stamps: order, selection, moves, and that nothing changes behind one's back."""

from __future__ import annotations

import pickle
from datetime import datetime

import numpy as np
import pytest

from unjitter.stamps import Stamps


def test_stamps_are_put_in_order_with_what_belongs_to_them() -> None:
    stamps = Stamps([3, 1, 2], labels=["c", "a", "b"], durations=[0.3, 0.1, 0.2])
    assert stamps.times.tolist() == [1, 2, 3]
    assert stamps.labels == ["a", "b", "c"]
    assert stamps.durations.tolist() == [0.1, 0.2, 0.3]
    assert stamps.times.dtype == stamps.durations.dtype == np.float64


def test_stamps_at_the_same_time_keep_their_order() -> None:
    labels = [str(i) for i in range(100)]
    assert Stamps(np.ones(100), labels).labels == labels
    assert Stamps(np.arange(100), labels).moved(np.ones(100)).labels == labels
    assert Stamps([1, 2], ["a", "b"]).moved([2, 1]).moved([5, 5]).labels == ["a", "b"]


def test_moved_keeps_labels_with_their_stamps() -> None:
    stamps = Stamps([1, 2, 3], ["a", "b", "c"], [0.1, 0.2, 0.3]).moved([9, 8, 7])
    assert stamps.times.tolist() == [7, 8, 9]
    assert stamps.labels == ["c", "b", "a"]
    assert stamps.durations.tolist() == [0.3, 0.2, 0.1]
    again = stamps.moved([1, 2, 3])
    assert again.labels == ["c", "b", "a"]


def test_ends_move_on_their_own_and_stay_with_their_stamps() -> None:
    stamps = Stamps([1, 2, 3], ["a", "b", "c"], [0.1, 0.2, 0.3])
    moved = stamps.moved([9, 8, 7], ends=[10, np.nan, 7.3])
    assert moved.times.tolist() == [7, 8, 9]
    assert moved.durations.tolist() == [0.3, 0.2, 1.0]
    assert moved.only("a").moved([20]).durations.tolist() == [1.0]
    assert moved.without([False, False, True]).durations.tolist() == [0.3, 0.2]
    assert stamps.durations.tolist() == [0.1, 0.2, 0.3]
    start = datetime(2024, 5, 31)
    dated = Stamps([1, 2], durations=[1, 1], origin=start)
    ends = np.array(["2024-05-31T00:00:04", "NaT"], dtype="datetime64[ns]")
    assert dated.moved([3, 2], ends=ends).durations.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([1], r"ends: found shape \(1,\), expected \(2,\), one for each stamp"),
        ([2, 1.5], "ends: found 1.5 at index 1, expected none before its time 2.0"),
        ([np.inf, 3], "ends: found inf at index 0"),
    ],
)
def test_wrong_ends(ends: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Stamps([1, 2]).moved([1, 2], ends=ends)


def test_moves_of_random_selections_act_on_those_alone() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        count = int(random.integers(0, 12))
        times, labels = random.normal(size=count), random.choice(["x", "y"], count).tolist()
        want = dict(enumerate(times))
        stamps = Stamps(times, labels, durations=np.arange(count))  # the duration is the identity
        chosen = stamps.only("x")
        identities = chosen.durations.astype(int)
        goals = random.normal(size=len(chosen))
        mask = random.random(len(chosen)) < 0.3
        moved = chosen.moved(goals)
        back = dict(zip(moved.durations.astype(int).tolist(), moved.times.tolist(), strict=True))
        assert back == dict(zip(identities.tolist(), goals.tolist(), strict=True))
        assert np.all(np.diff(moved.times) >= 0)
        dropped = chosen.without(mask)
        assert dropped.durations.tolist() == identities[~mask].tolist()
        assert [want[int(i)] for i in dropped.durations] == dropped.times.tolist()


def test_only_takes_one_label_or_several() -> None:
    stamps = Stamps([1, 2, 3], ["a", "b", "ab"])
    assert stamps.only("ab").times.tolist() == [3]
    assert stamps.only(["a", "b"]).times.tolist() == [1, 2]
    assert len(stamps.only("c")) == 0
    assert len(stamps.only([])) == 0


def test_nothing_can_be_changed_in_place() -> None:
    given = np.array([1.0, 2.0])
    stamps = Stamps(given, ["a", "b"])
    given[0] = 100
    assert stamps.times.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        stamps.times[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        stamps.durations[0] = 5
    stamps.labels.append("c")
    assert stamps.labels == ["a", "b"]
    with pytest.raises(AttributeError):
        stamps.times = given  # type: ignore[misc]
    stamps.moved([5, 6])
    stamps.without([True, False])
    assert stamps.times.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"times": [1, np.nan]}, ValueError, "times: found nan at index 1, expected a finite"),
        ({"times": [np.inf]}, ValueError, "times: found inf at index 0"),
        ({"times": [[1]]}, ValueError, "times: found 2 dimensions, expected 1"),
        ({"times": [1], "labels": ["a", "b"]}, ValueError, "labels: found 2, expected 1"),
        ({"times": [1], "labels": "a"}, TypeError, "labels: expected a sequence of str"),
        ({"times": [1], "labels": [1]}, TypeError, "labels: expected a sequence of str"),
        ({"times": [1], "durations": [1, 2]}, ValueError, "durations: found 2, expected 1"),
        (
            {"times": [1], "durations": [-1]},
            ValueError,
            "durations: found -1.0, expected none below",
        ),
        ({"times": [1], "durations": [np.nan]}, ValueError, "durations: found nan"),
        ({"times": [1], "origin": 5}, TypeError, "origin: found 5, expected a datetime"),
    ],
)
def test_wrong_arguments(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Stamps(**arguments)


def test_wrong_moves_and_masks() -> None:
    stamps = Stamps([1, 2])
    with pytest.raises(ValueError, match="times: found 1, expected 2, one for each stamp"):
        stamps.moved([1])
    with pytest.raises(ValueError, match="times: found nan at index 1"):
        stamps.moved([1, np.nan])
    with pytest.raises(TypeError, match="mask: found int64, expected bool"):
        stamps.without([0, 1])
    with pytest.raises(ValueError, match=r"mask: found shape \(1,\), expected \(2,\)"):
        stamps.without([True])


def test_no_stamps_at_all() -> None:
    nothing = Stamps([])
    assert len(nothing) == len(nothing.moved([])) == len(nothing.without([])) == 0
    assert repr(nothing) == "Stamps(0 stamps)"


def test_equal_if_the_stamps_are() -> None:
    one = Stamps([1, 2], ["a", "b"])
    assert one == Stamps([2, 1], ["b", "a"])
    assert one != Stamps([1, 2], ["a", "c"])
    assert one != Stamps([1, 3], ["a", "b"])
    assert one != Stamps([1, 2], ["a", "b"], durations=[0, 1])
    assert one != Stamps([1, 2], ["a", "b"], origin=datetime(2024, 1, 1))
    assert one != "stamps"
    assert one == pickle.loads(pickle.dumps(one))
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_repr_says_what_there_is() -> None:
    stamps = Stamps([1, 2.5, 3], ["a", "b", "a"], origin=datetime(2024, 5, 31))
    assert repr(stamps) == (
        "Stamps(3 stamps from 1 s to 3 s, 'a' 2, 'b' 1, origin 2024-05-31T00:00:00)"
    )
    assert repr(Stamps([1])) == "Stamps(1 stamp from 1 s to 1 s)"
    assert repr(Stamps(range(6), list("abcdef"))).endswith("'d' 1, 2 more labels)")
