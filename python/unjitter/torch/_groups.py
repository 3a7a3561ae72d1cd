"""What differs between groups of stamps, and whose stamps those of a batch are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import Sessions, sessions_of
from .._check import number, one_of
from .._groups import FACTORS, variations
from .._session import Session
from ._stamps import Stamps


def groups_of(sessions: Sessions) -> dict[str, list[str]]:
    """The groups of sessions, for the `groups` of a loss.

    Parameters
    ----------
    sessions : Session or list of Session
        All that the network will learn from.

    Returns
    -------
    dict of str to list of str
        The names of annotators, sessions, subjects, devices and clocks, where there are any. A
        session without a clock has one of its own, with the name of the session.

    Examples
    --------
    >>> from unjitter import Session
    >>> from unjitter.torch import groups_of
    >>> people = {"bob": [0.3], "ann": []}
    >>> groups_of([Session([[0.1]], times=[0.0], events=people, name="walk")])
    {'annotator': ['ann', 'bob'], 'session': ['walk'], 'clock': ['walk']}
    """
    found: dict[str, set[str]] = {by: set() for by in FACTORS}
    for session in sessions_of(sessions):
        for by, name in session_groups(session).items():
            found[by] |= {name} if isinstance(name, str) else set(name)
    return {by: sorted(names) for by, names in found.items() if names}


def session_groups(session: Session) -> dict[str, Any]:
    """The groups of one session, where they are known: of its annotators a list."""
    clock = session.name if session.clock is None else session.clock
    own = {
        "annotator": session._people() or None,
        "session": session.name,
        "subject": session.subject,
        "device": session.device,
        "clock": clock,
    }
    return {by: name for by, name in own.items() if name is not None}


def effects(
    varies: Mapping[str, str] | None,
    clock: str | None,
    groups: Mapping[str, Iterable[str]] | None,
    scatter: Mapping[str, float] | None,
) -> list[dict[str, Any]]:
    """What differs, between which groups and how wide, for the core."""
    listed = _names("groups", groups, {"annotator": ["ann", "bob"]})
    wide = _names("scatter", scatter, {"delay": 0.5})
    names = {one_of("groups", by, FACTORS): _sorted(own) for by, own in listed.items()}
    found = variations(varies, clock)
    for own in found:
        if not names.get(own["by"]):
            raise ValueError(
                f"{own['what']} differs by {own['by']}, and groups name none: "
                f"groups={{{own['by']!r}: [...]}}, or groups_of(sessions)"
            )
    spare = set(wide) - {own["what"] for own in found}
    if spare:
        raise ValueError(f"scatter is of {sorted(spare)[0]!r}, which does not vary")
    scales = {what: number(f"scatter[{what!r}]", scale) for what, scale in wide.items()}
    return [{**own, "names": names[own["by"]], "scatter": scales.get(own["what"])} for own in found]


def deviations(effects: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The groups whose deviations a parameter holds, by its name."""
    return {f"{own['what']}_by_{own['by']}": own["names"] for own in effects}


def by_sequence(
    groups: Any, stamps: Stamps, known: Mapping[str, Sequence[str]]
) -> list[list[dict[str, str]]] | None:
    """For each sequence the groups of each annotator, as far as they matter; None if there is one
    annotator and nothing varies. Known are the names of all groups, by factor."""
    if groups is None and not known and stamps.annotators is None:
        return None
    if groups is None:
        named = all(people is not None for people in stamps.people)
        missing = [by for by in known if by != "annotator" or not named]
        if missing:
            raise ValueError(
                f"something differs by {missing[0]}, and nobody says whose stamps these are: give "
                f"groups, for each sequence like {{{missing[0]!r}: {known[missing[0]][0]!r}}}, or "
                "{} if that is not known"
            )
        groups = [{}] * len(stamps.lengths)
    each = list(groups) if isinstance(groups, (list, tuple)) else [groups]
    if len(each) != len(stamps.lengths):
        raise ValueError(f"groups of {len(each)} sequences for {len(stamps.lengths)} of logits")
    numbers = stamps.numbers()
    found = [_of_one(k, own, stamps, numbers[k]) for k, own in enumerate(each)]
    for k, own in enumerate(found):
        for by, name in ((by, name) for person in own for by, name in person.items()):
            if by in known and name not in known[by]:
                raise ValueError(
                    f"groups of sequence {k}: {by} {name!r} is not among those of the loss, "
                    f"{_some(known[by])}; leave it out to take the value of all together"
                )
    if not known and all(len(own) == 1 for own in found):
        return None
    return [[{by: person[by] for by in known if by in person} for person in own] for own in found]


def several(groups: Any) -> bool:
    """Whether a sequence has several annotators, by what its groups say."""
    each = groups if isinstance(groups, (list, tuple)) else [groups]
    lists = [own.get("annotator") for own in each if isinstance(own, Mapping)]
    return any(isinstance(own, (list, tuple)) and len(own) > 1 for own in lists)


def _of_one(k: int, own: Any, stamps: Stamps, numbers: NDArray[np.int64]) -> list[dict[str, str]]:
    """The groups of each annotator of a sequence."""
    what, people = f"groups of sequence {k}", stamps.people[k]
    given = dict(_names(what, own, {"session": "walk"}))
    named = given.pop("annotator", None)
    if named is not None:
        if people is not None:
            raise ValueError(f"{what} name annotators, and its events are by annotator already")
        people = [named] if isinstance(named, str) else [str(name) for name in named]
        if not people:
            raise ValueError(f"{what} name no annotator, expected who annotated, or {{}}")
        most = int(numbers.max(initial=0))
        if numbers.size and most >= len(people):
            raise ValueError(
                f"annotators of sequence {k} have {most}, and its groups name {len(people)}"
            )
        if len(people) > 1 and stamps.annotators is None:
            raise ValueError(
                f"{what} name {len(people)} annotators, and nobody says who gave which of its "
                "events: give annotators, or events as a mapping: {'ann': [1.4], 'bob': []}"
            )
    shared = {
        one_of(what, by, FACTORS): str(name) for by, name in given.items() if name is not None
    }
    if people is None:
        return [shared] * (int(numbers.max(initial=0)) + 1)
    return [{**shared, "annotator": name} for name in people]


def _names(what: str, given: Any, example: Mapping[str, Any]) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} are {given!r}, expected a mapping like {dict(example)!r}")
    return given


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:5], *(["…"] if len(names) > 5 else [])])


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted({names} if isinstance(names, str) else {str(name) for name in names})
