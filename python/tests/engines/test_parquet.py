"""Files that are larger than memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SESSIONS, detector, same_bits

from unjitter import EventDetector, parquet, sessions_from_frames
from unjitter.scale import _questions


def dataset(folder, **options):
    return parquet.dataset(folder / "instances", folder / "events.parquet", **options)


@pytest.mark.parametrize("rows", [1, 2000, 10**9])
def test_files_change_no_bit(folder, in_memory, rows):
    own = dataset(folder, rows=rows)
    assert (len(own) == 1) == (rows == 10**9)
    assert same_bits(detector().fit(own), in_memory)
    assert 3 <= own.passes <= 30
    # Again, with what is kept.
    assert same_bits(detector().fit(own), in_memory)


def test_sessions_that_are_not_kept_are_read_again(folder, in_memory):
    before = _questions.loads
    own = dataset(folder, rows=2000, memory=0)
    assert same_bits(detector().fit(own), in_memory)
    assert _questions.loads - before == own.passes * len(own)
    kept = dataset(folder, rows=2000)
    before = _questions.loads
    detector().fit(kept)
    assert _questions.loads - before == len(kept)
    # A third of the data.
    before, some = _questions.loads, dataset(folder, rows=2000, memory=SESSIONS * 150 * 20 // 3)
    assert same_bits(detector().fit(some), in_memory)
    assert len(some) < _questions.loads - before < some.passes * len(some)
    for each in (own, kept, some):
        each.close()
    assert not _questions._kept


def test_everything_is_as_in_memory(folder, sessions, in_memory, tmp_path):
    own = dataset(folder, rows=2000)
    assert in_memory.score(own) == pytest.approx(in_memory.score(sessions), abs=1e-12)
    aligned = in_memory.align(own)
    table = aligned.read().to_pandas().sort_values(["session", "stamp"], ignore_index=True)
    want = in_memory.align(sessions, backend="pandas").sort_values(
        ["session", "stamp"], ignore_index=True
    )
    for name in ("time", "low", "high", "p_spurious", "instance_time"):
        np.testing.assert_array_equal(table[name], want[name])
    aligned.write(tmp_path / "aligned")
    assert pq.read_table(tmp_path / "aligned").num_rows == len(want)
    with pytest.raises(FileExistsError):
        aligned.write(tmp_path / "aligned")
    predicted = in_memory.predict(own).read().to_pandas().sort_values(["session", "time"])
    want = np.concatenate([in_memory.predict_proba(one)[:, 1] for one in sessions])
    np.testing.assert_array_equal(predicted["probability"], want)
    np.testing.assert_array_equal(predicted["event"], want >= 0.5)


def test_folds_are_of_subjects_and_as_in_memory(folder, sessions):
    from unjitter import _core

    own = dataset(folder, rows=2000)
    scores = detector().cross_validate(own, folds=3)
    assert sum(score.sessions for score in scores) == SESSIONS
    for part, score in enumerate(scores):
        is_in = [_core.fold_of(session.subject, 3) == part for session in sessions]
        train = [own for own, out in zip(sessions, is_in) if not out]
        test = [own for own, out in zip(sessions, is_in) if out]
        assert score.f1 == pytest.approx(detector().fit(train).score(test), abs=1e-12)
        assert score.sessions == len(test)
    with pytest.raises(ValueError, match="folds is 1"):
        detector().cross_validate(own, folds=1)


def test_mistakes_are_named_with_their_file(folder, tables, tmp_path):
    instances, events = (pa.Table.from_pandas(table, preserve_index=False) for table in tables)

    def fit(instances=instances, events=events, **options):
        pq.write_table(instances, tmp_path / "instances.parquet")
        pq.write_table(events, tmp_path / "events.parquet")
        files = (tmp_path / f"{name}.parquet" for name in ("instances", "events"))
        return EventDetector().fit(parquet.dataset(*files, **options))

    a = instances.column("a").to_numpy().copy()
    a[1000] = np.inf
    wild = instances.set_column(instances.schema.get_field_index("a"), "a", pa.array(a))
    with pytest.raises(ValueError, match="parquet: session s06: 'a' of instance 100 is inf"):
        fit(wild)
    with pytest.raises(ValueError, match="instances.parquet: it has no column 'when'"):
        fit(time="when")
    with pytest.raises(ValueError, match="instances.parquet: it has no column 'd'; there are se"):
        fit(features=["d"])
    text = instances.append_column("note", pa.array(["x"] * len(instances)))
    with pytest.raises(ValueError, match="column 'note' holds string, expected numbers"):
        fit(text)
    strange = pa.table({"session": ["nobody"], "time": [1.0]})
    with pytest.raises(ValueError, match="events names session 'nobody', which instances does not"):
        fit(events=pa.concat_tables([events, strange.cast(events.schema)]))
    with pytest.raises(ValueError, match="no column 'session'"):
        fit(events=events.drop_columns("session"))
    mixed = np.array(tables[0]["subject"], dtype=object)
    mixed[0] = "another"
    at = instances.schema.get_field_index("subject")
    with pytest.raises(ValueError, match="session s00 has the subjects 'another' and 'p00'"):
        fit(instances.set_column(at, "subject", pa.array(mixed)))
    with pytest.raises(ValueError, match="varies between groups cannot be learned from sessions"):
        EventDetector(clock="session").fit(dataset(folder))
    with pytest.raises(ValueError, match="rows is 0"):
        dataset(folder, rows=0)


def test_dates_stay_dates(tables, tmp_path, in_memory):
    instances, events = (table.copy() for table in tables)
    for table in (instances, events):
        table["time"] = np.datetime64("2024-05-31T14:00:00", "ns") + (table["time"] * 1e9).astype(
            "timedelta64[ns]"
        )
    instances.to_parquet(tmp_path / "instances.parquet")
    events.to_parquet(tmp_path / "events.parquet")
    own = parquet.dataset(tmp_path / "instances.parquet", tmp_path / "events.parquet")
    found = detector().fit(own)
    assert found.delay_ == pytest.approx(in_memory.delay_, rel=1e-6)
    aligned = found.align(own).read().to_pandas()
    assert str(aligned["time"].dtype).startswith("datetime64")
    assert set(aligned["instance_time"]) <= set(instances["time"])


def test_the_command_line(folder, in_memory, tmp_path, capsys):
    from unjitter.__main__ import main

    files = [str(folder / "instances"), str(folder / "events.parquet")]
    model = str(tmp_path / "model.json")
    main(["fit", *files, "-o", model, "--sample", "200"])
    assert "learned from 40 sessions in" in capsys.readouterr().out
    in_memory.save(tmp_path / "want.json")
    assert (tmp_path / "want.json").read_text() == (tmp_path / "model.json").read_text()
    for verb, rows in (("align", 597), ("predict", 6000)):
        main([verb, *files, "-m", model, "-o", str(tmp_path / verb)])
        assert pq.read_table(tmp_path / verb).num_rows == rows
    main(["score", *files, "-m", model])
    assert f"F1 {in_memory.score(dataset(folder)):.3f}" in capsys.readouterr().out
    for words, said in (
        (["fit", *files, "-o", model], "model.json exists already; --force replaces it"),
        (["fit", str(folder / "nothing"), files[1]], "nothing"),
        (["fit", *files, "-o", str(tmp_path / "x"), "--time-column", "when"], "column 'when'"),
        (["fit", *files, "-o", str(tmp_path / "x"), "--engine", "spark"], "--staging names a fol"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert said in str(stop.value)


@pytest.fixture(scope="module")
def bouts():
    """Tables of events that last, whose ends are told too, but one."""
    random = np.random.default_rng(3)
    instances, events = [], []
    for k in range(6):
        times = 0.5 * np.arange(200)
        starts = np.arange(10, 190, 30) + random.integers(0, 8, 6)
        lasts = starts + random.integers(4, 10, 6)
        inside = (np.arange(200)[:, None] >= starts) & (np.arange(200)[:, None] <= lasts)
        label = inside.any(axis=1).astype(int)
        x = 2.5 * label + random.normal(size=200)
        own = {"session": f"s{k}", "time": times, "x": x, "label": label}
        instances.append(pd.DataFrame(own))
        begun = times[starts] + 0.4 + 0.3 * random.normal(size=6)
        ended = np.maximum(times[lasts] + 0.8 + 0.5 * random.normal(size=6), begun)
        events.append(pd.DataFrame({"session": f"s{k}", "start": begun, "end": ended}))
    events[0].loc[2, "end"] = np.nan
    return pd.concat(instances, ignore_index=True), pd.concat(events, ignore_index=True)


def write(folder, instances, events):
    """The tables in files, and the sessions in these."""
    for name, table in (("instances", instances), ("events", events)):
        table.to_parquet(folder / f"{name}.parquet", row_group_size=150)
    return folder / "instances.parquet", folder / "events.parquet"


@pytest.mark.parametrize("sample", [20_000, 20])
def test_bouts_are_learned_as_in_memory(bouts, tmp_path, sample):
    in_files = parquet.dataset(*write(tmp_path, *bouts), rows=300)
    in_memory = sessions_from_frames(*bouts)
    assert np.isnan(in_files.sessions(["s0"])[0].ends).sum() == 1
    found, want = (
        EventDetector(labels="chain", restarts=1, n_jobs=1, sample=sample).fit(X)
        for X in (in_files, in_memory)
    )
    assert found.ends_["delay"] == pytest.approx(0.8, abs=0.3)
    assert same_bits(found, want)
    # Measured on the sample, and told for all: ends count there.
    assert str(found.standard_errors_) == str(want.standard_errors_)
    aligned = found.align(in_files).read().to_pandas()
    table = want.align(in_memory, backend="pandas").sort_values(["session", "stamp"])
    for name in ("time", "end_stamp", "end", "end_low", "end_high", "end_p_spurious"):
        np.testing.assert_array_equal(aligned[name], table[name])
    p = found.predict(in_files).read()["probability"].to_numpy()
    np.testing.assert_array_equal(p, np.concatenate(want.predict_proba(in_memory))[:, 1])


def test_ends_may_be_durations_or_dates_or_be_left_out(bouts, tmp_path):
    instances, events = bouts
    lasting = events.rename(columns={"start": "onset"})
    lasting["duration"] = lasting.pop("end") - lasting["onset"]
    zero = np.datetime64("2024-05-31T14:00:00", "ns")

    def dates(seconds):
        return zero + pd.to_timedelta(np.round(1e9 * seconds), unit="ns")

    dated = instances.assign(time=dates(instances["time"]))
    moments = events.assign(start=dates(events["start"]), end=dates(events["end"]))
    onsets = lasting.assign(onset=dates(lasting["onset"]))
    durations = onsets.assign(duration=pd.to_timedelta(onsets["duration"], unit="s"))
    want = sessions_from_frames(instances, events)[0].ends
    for table, stamps in (
        (instances, lasting),
        (dated, moments),
        (dated, onsets),
        (dated, durations),
    ):
        [own] = parquet.dataset(*write(tmp_path, table, stamps)).sessions(["s0"])
        # Dates have nanoseconds.
        np.testing.assert_allclose(own.ends, want, atol=2e-9)
    plain = events.rename(columns={"start": "time"})
    files = write(tmp_path, instances, plain)
    assert parquet.dataset(*files, end=None).sessions(["s0"])[0].ends is None
    text = lasting.assign(duration="long")
    with pytest.raises(ValueError, match="column 'duration' holds .*string, expected lengths"):
        parquet.dataset(*write(tmp_path, instances, text)).sessions(["s0"])
    short = lasting.assign(duration=-1.0)
    with pytest.raises(ValueError, match="column 'duration' holds lengths of time below 0"):
        parquet.dataset(*write(tmp_path, instances, short)).sessions(["s0"])


def test_detectors_of_several_classes_predict_each(tables, sessions, folder):
    random = np.random.default_rng(0)
    named = []
    for own in sessions[:12]:
        kinds = np.array(["dry", "wet"], dtype=object)[random.integers(2, size=len(own.events))]
        named.append(own.replace(labels=None, classes=kinds))
    detector = EventDetector(restarts=0, n_jobs=1).fit(named)
    read = detector.predict(dataset(folder)).read()
    table = read.to_pandas()
    want = np.concatenate([detector.predict_proba(own) for own in sessions])
    np.testing.assert_array_equal(table[["p_dry", "p_wet"]].to_numpy(), want[:, 1:])
    # Of any class.
    np.testing.assert_array_equal(table["probability"], want[:, 1:].sum(axis=1))
    told = np.concatenate([detector.predict(own) for own in sessions])
    assert read["class"].to_pylist() == list(told)
    np.testing.assert_array_equal(table["event"], told != np.array(None))
    with pytest.raises(ValueError, match="stamps of a dataset have no classes.*dry, wet"):
        detector.align(dataset(folder))
