"""The table for people without pandas, beside pandas."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drawn import make_session

from unjitter import EventDetector, OnFeatures, Table, _tables, baselines
from unjitter.stamps import Stamps

COLUMNS = {
    "session": ["walk", "run", "sit"],
    "event": [0, 10, 200],
    "stamp": [443.355512345, 1.0, -3.25],
    "p": [0.5, np.nan, 1.0],
    "is": [True, False, True],
}


@pytest.fixture(scope="module")
def fitted():
    return EventDetector().fit([make_session(seed) for seed in range(3)])


def test_it_prints_as_pandas_does():
    # But for text, which pandas sets one space closer.
    numbers = {name: COLUMNS[name] for name in ("event", "stamp", "p")}
    table, frame = Table(numbers), pd.DataFrame(numbers)
    assert repr(table) == repr(frame)
    assert repr(table.round(2)) == repr(frame.round(2))
    assert repr(table.head(1)) == repr(frame.head(1))
    assert repr(table[["p", "event"]]) == repr(frame[["p", "event"]])
    assert repr(table[table["stamp"] > 0.0]) == repr(frame[frame["stamp"] > 0.0])
    assert repr(table[1:]) == repr(frame[1:])
    assert repr(Table(COLUMNS)).split() == repr(pd.DataFrame(COLUMNS)).split()


def test_answers_are_the_same_without_pandas(fitted, monkeypatch):
    session = make_session(4)
    want, chances = fitted.align(session), fitted.align_instances(session)
    monkeypatch.setattr(_tables, "preferred", lambda: _tables.NUMPY)
    table = fitted.align(session)
    assert isinstance(table, Table)
    assert table.columns == list(want.columns)
    assert table.shape == want.shape
    pd.testing.assert_frame_equal(pd.DataFrame(dict(table)), want)
    assert pl.DataFrame(dict(table)).columns == list(want.columns)
    assert repr(table.round(2)).split() == want.round(2).to_string().split()
    found = fitted.align_instances(session)
    missed = found[found["p_positive"] > 0.5].round(3).head(3)
    shown = chances[chances["p_positive"] > 0.5].round(3).head(3).to_string()
    assert len(missed) > 0 and repr(missed).split() == shown.split()
    stamps = Stamps(session.events)
    np.testing.assert_array_equal(
        stamps.moved(table["time"]).times, stamps.moved(want["time"]).times
    )
    assert isinstance(fitted.align(session, backend="polars"), pl.DataFrame)


def test_dates_are_in_utc_and_short():
    dates = pd.to_datetime(["2024-05-31T14:03:27.5+02:00", "2024-05-31T14:03:28.0+02:00"])
    plain = make_session(1)
    session = plain.replace(times=dates[0] + pd.to_timedelta(plain.times, unit="s"), events=dates)
    table = EventDetector().fit([plain]).align(session, backend="numpy")
    assert table["stamp"].dtype == "datetime64[ns]"
    assert repr(table[["stamp"]]).splitlines()[1:] == [
        "0  2024-05-31 12:03:27.5",
        "1  2024-05-31 12:03:28.0",
    ]


def test_long_tables_are_cut_and_none_is_empty():
    lines = repr(Table({"a": np.arange(1000)})).splitlines()
    assert lines[:2] == ["       a", "0      0"]
    assert lines[6].split() == ["...", "..."]
    assert lines[-3:] == ["999  999", "", "[1000 rows x 1 columns]"]
    assert repr(Table({"a": [], "b": []})).split() == ["a", "b"]
    assert len(Table({})) == 0


def test_notebooks_show_it():
    page = ElementTree.fromstring(Table({"<b>": ["a & b"], "time": [1.5]})._repr_html_())
    assert ["".join(cell.itertext()) for cell in page.iter("td")] == ["0", "a & b", "1.5"]
    assert ["".join(cell.itertext()) for cell in page.iter("th")] == ["", "<b>", "time"]


def test_mistakes_are_named():
    with pytest.raises(KeyError, match="'tme'; the columns are time"):
        Table({"time": [1.0]})["tme"]
    with pytest.raises(ValueError, match=r"columns have lengths \[1, 2\]"):
        Table({"a": [1], "b": [1, 2]})


def test_features_are_transformed_without_pandas(monkeypatch):
    from sklearn.preprocessing import StandardScaler

    sessions = [make_session(seed).replace(feature_names=["a", "b", "c"]) for seed in range(2)]
    want = OnFeatures(StandardScaler()).fit_transform(sessions)
    for module in ("_tables", "_transform"):
        monkeypatch.setattr(f"unjitter.{module}.preferred", lambda: _tables.NUMPY)
    got = OnFeatures(StandardScaler()).fit_transform(sessions)
    assert got[0].feature_names == ("a", "b", "c")
    # The mean of a frame's column is added up in another order.
    np.testing.assert_allclose(got[1].X, want[1].X, rtol=1e-10)


def test_comparisons_are_tables_too():
    found = baselines.compare(
        [make_session(seed) for seed in range(4)], {"naive": baselines.Naive()}, folds=2
    )
    table = found.to_frame(backend="numpy")
    assert list(table["learner"]) == ["naive"]
    assert table["f1"].dtype == float
