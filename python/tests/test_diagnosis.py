"""Goodness of fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from unjitter import Diagnosis, EventDetector, Session, Table
from unjitter._calendar import Calendar

LATE = {3: 5.0}


def drawn(k, *, late=0.0, start=None):
    """A session of 300 instances; presses are about one unit late, and `late` more."""
    rng = np.random.default_rng(k)
    labels = rng.random(300) < 0.05
    X = rng.normal(size=(300, 2)) + 3.0 * labels[:, None]
    times = np.arange(300.0)
    pressed = labels & (rng.random(300) < 0.9)
    events = np.sort(times[pressed] + rng.normal(1.0 + late, 0.7, pressed.sum()))
    if start is not None:
        times, events = (start + pd.to_timedelta(own, unit="s") for own in (times, events))
    return Session(X, times, events, name=f"day-{k}", subject=f"s{k % 2}")


@pytest.fixture(scope="module")
def sessions():
    return [drawn(k, late=LATE.get(k, 0.0)) for k in range(10)]


@pytest.fixture(scope="module")
def detector(sessions):
    return EventDetector(check=False).fit(sessions)


def test_a_shifted_session_is_named(detector, sessions):
    found = detector.diagnose(sessions)
    assert isinstance(found, Diagnosis)
    worst = found.sessions.iloc[0]
    assert (worst["session"], worst["remedy"]) == ("day-3", "shift")
    assert worst["by"] == pytest.approx(-5.0, abs=0.6)
    assert any("session day-3 does not fit" in remark for remark in found.remarks)
    assert found.stamps == sum(len(session.events) for session in sessions) == len(found.gaps)
    assert len(found.sessions) == 10 and list(found.subjects["sessions"]) == [5, 5]
    assert set(found.priors["strength"]) == {0.5, 2.0}
    assert found.families is None and found.over_day is None
    assert found.modes[0].delay == detector.delay_


def test_its_repr_says_what_stands_out(detector, sessions):
    text = repr(detector.diagnose(sessions, priors=False))
    assert text.startswith("Diagnosis of ") and "\n- stamps come" in text
    assert "day-3" in text


def test_honest_data_are_inside_the_bands():
    honest = [drawn(k) for k in range(20, 28)]
    found = EventDetector().fit(honest).diagnose(honest, priors=False)
    assert not found.residuals.is_outside and not found.delays.is_outside
    assert abs(found.over_session.slope) < 4.0 * found.over_session.standard_error
    assert found.priors is None
    assert not any("does not fit" in remark for remark in found.remarks)


def test_tables_are_of_the_library_that_is_asked_for(detector, sessions):
    found = detector.diagnose(sessions, priors=False, backend="numpy")
    assert isinstance(found.sessions, Table)
    assert found.sessions["session"][0] == "day-3"
    assert np.isnan(found.points["hour"]).all()
    assert found.quantiles.columns == ["learned", "found", "low", "high"]


def test_noise_models_are_compared(detector, sessions):
    found = detector.diagnose(sessions, priors=False, families=True)
    assert {"laplace", "student_t"} <= set(found.families["noise"])
    assert np.isfinite(found.families["standard_error"]).all()


def test_hours_of_the_day_are_known_from_dates():
    start = pd.Timestamp("2024-07-01T06:00", tz="Europe/Berlin")
    dated = [drawn(k, start=start + pd.Timedelta(hours=25 * k)) for k in range(10)]
    found = EventDetector().fit(dated).diagnose(dated, priors=False)
    assert found.points["hour"].min() == pytest.approx(6.0, abs=0.2)
    assert found.points["hour"].max() == pytest.approx(15.1, abs=0.2)
    assert found.over_day is not None


@pytest.mark.parametrize(
    ("zone", "hour"),
    [(None, 22.5), ("UTC", 22.5), ("+02:00", 0.5), ("-05:30", 17.0), ("Europe/Berlin", 0.5)],
)
def test_a_clock_knows_its_hour(zone, hour):
    assert Calendar(np.datetime64("2024-07-01T22:30:00", "ns"), zone).hour() == pytest.approx(hour)


def test_mistakes_are_named(detector, sessions):
    with pytest.raises(ValueError, match="none of the 10 sessions has a stamp"):
        detector.diagnose([session.replace(events=[]) for session in sessions])
