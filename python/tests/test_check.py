"""What ``fit`` and ``align`` refuse, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from unjitter import EventDetector, Session, UnjitterWarning, simulate


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    return simulate.respiration(seed=0, sessions=6)


def detector(**parameters: object) -> EventDetector:
    return EventDetector(restarts=0, max_iter=20, **parameters)


WRONG = [
    (lambda z: 1e3 * z, "multiplied by 0.001"),
    (lambda z: 1e6 * z, "multiplied by 1.00e-6"),
    (lambda z: z / 60, "multiplied by 60"),
    (lambda z: z + 3600, "shifted by -"),
    (lambda z: z - 3.15e8, "shifted by +"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_wrong_units_and_clocks_are_refused(sessions, change, words):
    wrong = [session.replace(events=change(session.events)) for session in sessions]
    with pytest.raises(ValueError, match="check=False") as refused:
        detector().fit(wrong)
    assert words in str(refused.value)
    # A number of no known unit is no number of hours.
    assert " h " not in str(refused.value)


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_align_refuses_and_goes_on_when_told(sessions):
    fitted = detector().fit(sessions)
    wrong = sessions[0].replace(events=sessions[0].events + 3600)
    with pytest.raises(ValueError, match="shifted by"):
        fitted.align(wrong)
    assert len(fitted.set_params(check=False).align(wrong)) == len(wrong.events)
    fitted.set_params(check=True)
    for few in ([], wrong.events[:1], wrong.events[:2]):
        assert len(fitted.align(wrong.replace(events=few))) == len(few)


def test_dates_are_in_hours(sessions):
    start = np.datetime64("2024-05-31T14:00:00", "ms")
    dated = [
        Session(
            session.X,
            start + (1e3 * session.times).astype("timedelta64[ms]"),
            start + (1e3 * (session.events - 7200)).astype("timedelta64[ms]"),
            name=session.name,
        )
        for session in sessions
    ]
    with pytest.raises(ValueError, match=r"shifted by \+2 h \(a time zone\?\)"):
        detector().fit(dated)


@pytest.mark.filterwarnings("ignore::unjitter.NotConvergedWarning")
def test_a_label_among_the_features(sessions):
    names = (*sessions[0].feature_names, "smoking")
    leaking = [
        session.replace(X=np.column_stack([session.X, session.labels]), feature_names=names)
        for session in sessions
    ]
    with pytest.warns(UnjitterWarning, match="`smoking` goes with the stamps one to one"):
        detector().fit(leaking)
    named = (*names[:-1], "Label")
    with pytest.raises(ValueError, match="`Label` goes with the stamps"):
        detector().fit([session.replace(feature_names=named) for session in leaking])


@pytest.mark.filterwarnings("ignore::unjitter.NotConvergedWarning")
def test_single_precision_is_looked_at_too(sessions):
    single = [session.replace(X=session.X.astype(np.float32)) for session in sessions]
    detector().fit(single)
    with pytest.raises(ValueError, match="multiplied by"):
        detector().fit([session.replace(events=1e3 * session.events) for session in single])
