"""Sessions from data frames of any library, and from files."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from drawn import make_session

from unjitter import EventDetector, Session, read_dataset, sessions_from_frames

LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=LIBRARIES)
def frame(request):
    return LIBRARIES[request.param]


INSTANCES = {
    "session": ["b", "b", "a", "b"],
    "time": [0.0, 1.0, 0.5, 2.0],
    "depth": [1.0, 2.0, 3.0, 4.0],
    "rate": [5, 6, 7, 8],
    "label": [0, 1, 1, 0],
    "subject": ["x", "x", "y", "x"],
}
EVENTS = {"session": ["b", "b"], "time": [2.2, 0.4]}


def test_tables_become_sessions_in_order_of_appearance(frame):
    b, a = sessions_from_frames(frame(INSTANCES), frame(EVENTS))
    assert (b.name, a.name) == ("b", "a")
    assert (b.subject, a.subject) == ("x", "y")
    assert b.feature_names == ("depth", "rate")
    np.testing.assert_array_equal(b.X, [[1.0, 5.0], [2.0, 6.0], [4.0, 8.0]])
    np.testing.assert_array_equal(b.times, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(b.events, [0.4, 2.2])
    np.testing.assert_array_equal(b.labels, [0, 1, 0])
    np.testing.assert_array_equal(a.events, [])


def test_stamps_say_who_gave_them(frame):
    events = {**EVENTS, "annotator": ["ann", "bob"], "note": ["p", "q"]}
    b, a = sessions_from_frames(frame(INSTANCES), frame(events))
    # The stamps of b are 2.2 by ann and 0.4 by bob.
    assert b.annotators.tolist() == ["bob", "ann"]
    assert a.annotators is None
    renamed = {"who" if name == "annotator" else name: own for name, own in events.items()}
    other, _ = sessions_from_frames(frame(INSTANCES), frame(renamed), annotator="who")
    assert other.annotators.tolist() == ["bob", "ann"]
    assert sessions_from_frames(frame(INSTANCES), frame(renamed))[0].annotators is None
    alone, _ = sessions_from_frames(frame(INSTANCES), frame(events), annotator=None)
    assert alone.annotators is None
    with pytest.raises(ValueError, match="events has no column 'rater'"):
        sessions_from_frames(frame(INSTANCES), frame(events), annotator="rater")
    with pytest.raises(ValueError, match="session b: 1 of 2 stamps have no annotator"):
        sessions_from_frames(frame(INSTANCES), frame({**EVENTS, "annotator": ["ann", None]}))


def test_a_table_of_sessions_tells_what_they_share(frame):
    instances = {name: own for name, own in INSTANCES.items() if name != "subject"}
    about = {
        "session": ["else", "a", "b", "b"],
        "subject": ["z", "y", "x", None],
        "device": ["d0", None, None, "d2"],
        "clock": ["c", "c", "c", "c"],
        "annotators": ["z", "ann", "ann; bob", "cyd"],
    }
    events = {**EVENTS, "annotator": ["ann", "bob"]}
    b, a = sessions_from_frames(frame(instances), frame(events), sessions=frame(about))
    assert (b.subject, b.device, b.clock) == ("x", "d2", "c")
    assert (a.subject, a.device, a.clock) == ("y", None, "c")
    assert (b.annotators.tolist(), b.also_annotated) == (["bob", "ann"], ("cyd",))
    # Who annotated a session and gave no stamp.
    assert (a.annotators.tolist(), a.also_annotated) == ([], ("ann",))
    # The only annotator gave all stamps.
    one = {"session": ["b", "a"], "annotators": ["ann", "ann"]}
    b, _ = sessions_from_frames(frame(instances), frame(EVENTS), sessions=frame(one))
    assert b.annotators.tolist() == ["ann", "ann"]
    b, a = sessions_from_frames(
        frame(instances), frame(events), sessions=frame(about), annotator=None
    )
    assert b.annotators is None and b.also_annotated == a.also_annotated == ()


def test_annotators_of_a_session_may_be_a_list():
    about = pl.DataFrame({"session": ["b"], "annotators": [["ann", "bob"]]})
    events = pl.DataFrame({**EVENTS, "annotator": ["ann", "ann"]})
    b, _ = sessions_from_frames(pl.DataFrame(INSTANCES), events, sessions=about)
    assert b.also_annotated == ("bob",)


@pytest.mark.parametrize(
    ("about", "options", "message"),
    [
        ({"session": ["b"], "subject": ["y"]}, {}, "session b has the subjects 'x' and 'y'"),
        ({"session": ["b", "b"], "clock": ["c", "d"]}, {}, "session b has the clocks 'c' and 'd'"),
        ({"name": ["b"]}, {}, "sessions has no column 'session'"),
        ({"session": ["b"], "devise": ["d"]}, {}, "none of the columns subject, device, clock"),
        ({"session": ["b"], "clock": ["d"]}, {"device": "phone"}, "sessions has no column 'phone'"),
        ({"session": ["c"], "clock": ["d"]}, {}, "sessions names none of the sessions"),
        ({"session": [1], "clock": ["d"]}, {}, "by text and sessions by integer"),
        ({"session": ["b"], "annotators": ["ann; bob"]}, {}, "who of ann, bob gave its stamps"),
        (
            {"session": ["b"], "annotators": ["ann"], "given": ["ben", "ann"]},
            {},
            "session b: 'ben' gave a stamp, and is not among those who annotated it: ann",
        ),
    ],
)
def test_contradictions_between_tables_are_named(frame, about, options, message):
    events = dict(EVENTS)
    if "given" in about:
        events["annotator"] = about["given"]
        about = {name: own for name, own in about.items() if name != "given"}
    with pytest.raises(ValueError, match=message):
        sessions_from_frames(frame(INSTANCES), frame(events), sessions=frame(about), **options)


def test_the_column_of_the_subject_is_one_of_either_table(frame):
    instances = {name: own for name, own in INSTANCES.items() if name != "subject"}
    about = {"session": ["a", "b"], "person": ["y", "x"]}
    b, a = sessions_from_frames(
        frame(instances), frame(EVENTS), sessions=frame(about), subject="person"
    )
    assert (a.subject, b.subject) == ("y", "x")
    with pytest.raises(ValueError, match="instances has no column 'people'"):
        sessions_from_frames(
            frame(instances), frame(EVENTS), sessions=frame(about), subject="people"
        )


def test_columns_may_have_other_names_and_features_be_chosen(frame):
    renamed = {
        "who": INSTANCES["session"],
        "t": INSTANCES["time"],
        "depth": INSTANCES["depth"],
        "note": ["p", "q", "r", "s"],
    }
    events = {"who": ["a"], "pressed": [0.7]}
    b, a = sessions_from_frames(
        frame(renamed), frame(events), "who", "t", features=["depth"], event_time="pressed"
    )
    assert b.feature_names == ("depth",)
    assert b.labels is None
    np.testing.assert_array_equal(a.events, [0.7])


def test_one_session_needs_no_name(frame):
    table = {"time": [0.0, 1.0], "depth": [1.0, 2.0]}
    (only,) = sessions_from_frames(frame(table), frame({"time": [0.5]}), session=None)
    assert only.name is None
    assert len(only) == 2


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_dates_with_and_without_zone_come_back_as_they_were(frame, zone, unit):
    own = make_session(1)
    start = pd.Timestamp("2024-10-27T00:59:00", tz="UTC" if zone else None)

    def dates(seconds):
        times = start + pd.to_timedelta(np.round(seconds, 3), unit="s")
        return (times.tz_convert(zone) if zone else times).as_unit(unit)

    instances = pd.DataFrame(own.X, columns=["a", "b", "c"]).assign(
        session="s", time=dates(own.times)
    )
    events = pd.DataFrame({"session": "s", "time": dates(own.events)})
    if frame is not pd.DataFrame:
        instances, events = pa.table(instances), pa.table(events)
    if frame is pl.DataFrame:
        instances, events = pl.from_arrow(instances), pl.from_arrow(events)
    (session,) = sessions_from_frames(instances, events)
    shift = session.times - own.times
    # Rounded to the millisecond above, and shifted to the first instance.
    np.testing.assert_allclose(shift, shift[0], atol=1.01e-3)
    aligned = EventDetector().fit(session).align(session)
    assert type(aligned) is type(instances)
    back = pd.Series(aligned["stamp"].to_numpy() if zone is None else list(aligned["stamp"]))
    if frame is pa.table:
        back = aligned.to_pandas()["stamp"]
    want = dates(np.sort(own.events))
    assert (pd.DatetimeIndex(back).tz is None) == (zone is None)
    np.testing.assert_array_equal(
        pd.DatetimeIndex(back).tz_convert(None).as_unit("ns") if zone else back.astype("M8[ns]"),
        (want.tz_convert(None) if zone else want).as_unit("ns"),
    )


def test_observed_intervals(frame):
    observed = {"session": ["b"], "start": [0.0], "end": [5.0]}
    b, a = sessions_from_frames(frame(INSTANCES), frame(EVENTS), observed=frame(observed))
    np.testing.assert_array_equal(b.observed, [[0.0, 5.0]])
    assert a.observed.shape == (0, 2)


@pytest.mark.parametrize(
    ("instances", "events", "message"),
    [
        ({"session": ["a"], "x": [1.0]}, EVENTS, "instances has no column 'time'"),
        (INSTANCES, {"time": [1.0]}, "events has no column 'session'"),
        (INSTANCES, {"session": ["z"], "time": [1.0]}, "session 'z', which instances does not"),
        (INSTANCES, {"session": ["a"], "time": [None]}, "missing values"),
        (INSTANCES | {"rate": list("abcd")}, EVENTS, "column 'rate'.*expected numbers"),
        (INSTANCES, {"session": ["a"], "time": ["noon"]}, 'of events: "noon" at position 0, exp'),
    ],
)
def test_mistakes_are_named(frame, instances, events, message):
    with pytest.raises(ValueError, match=message):
        sessions_from_frames(frame(instances), frame(events))


@pytest.mark.parametrize(
    ("instances", "events", "message"),
    [
        (
            {"session": ["1", "1", "2", "1"]},
            {"session": [1]},
            "instances names sessions by text and events by integer, as in '1' and 1",
        ),
        ({"session": [1, 1, 2, 1]}, {"session": ["1"]}, "by integer and events by text"),
        ({"session": ["b", None, "a", "b"]}, {"session": ["b"]}, "of instances has 1 missing"),
        ({}, {"session": [None]}, "column 'session' of events has 1 missing values"),
        (
            {"subject": ["x", "x", "y", "z"]},
            {"session": ["b"]},
            "session b has the subjects 'x' and 'z'",
        ),
    ],
)
def test_names_that_match_nothing_are_refused(frame, instances, events, message):
    with pytest.raises(ValueError, match=message):
        sessions_from_frames(frame(INSTANCES | instances), frame({"time": [1.0]} | events))
    if "session" in message and "events" in message:
        observed = {"start": [0.0], "end": [1.0]} | events
        with pytest.raises(ValueError, match=message.replace("events", "observed")):
            sessions_from_frames(
                frame(INSTANCES | instances),
                frame({"session": [], "time": []}),
                observed=frame(observed),
            )


@pytest.mark.parametrize(
    ("subjects", "want"),
    [([None, None, "y", None], None), ([None, "x", "y", "x"], "x"), ([1, 1, 2, 1], "1")],
)
def test_subjects_may_be_missing(frame, subjects, want):
    b, _ = sessions_from_frames(frame(INSTANCES | {"subject": subjects}), frame(EVENTS))
    assert b.subject == want


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_a_missing_subject_of_pandas_is_none(missing):
    instances = pd.DataFrame(INSTANCES | {"subject": pd.Series([missing] * 4, dtype=object)})
    b, a = sessions_from_frames(instances, pd.DataFrame(EVENTS))
    assert b.subject is None
    assert a.subject is None


def test_categories_are_names():
    for instances, events in (
        (
            pd.DataFrame(INSTANCES).astype({"session": "category"}),
            pd.DataFrame(EVENTS).astype({"session": "category"}),
        ),
        (
            pl.DataFrame(INSTANCES).with_columns(pl.col("session").cast(pl.Categorical)),
            pl.DataFrame(EVENTS),
        ),
    ):
        b, a = sessions_from_frames(instances, events)
        assert (b.name, a.name) == ("b", "a")
        np.testing.assert_array_equal(b.times, [0.0, 1.0, 2.0])
        np.testing.assert_array_equal(b.events, [0.4, 2.2])


def test_integers_are_names(frame):
    instances, events = INSTANCES | {"session": [2, 2, 1, 2]}, EVENTS | {"session": [1, 2]}
    second, first = sessions_from_frames(frame(instances), frame(events))
    assert (second.name, first.name) == ("2", "1")
    np.testing.assert_array_equal(first.events, [2.2])


def test_a_table_is_not_searched_for_each_session(frame, monkeypatch):
    def search(*_):
        raise AssertionError("takes time by sessions times rows")

    monkeypatch.setattr("narwhals.DataFrame.filter", search)
    count = 1000
    names = [str(k) for k in np.random.default_rng(0).permutation(count)]
    instances = {"session": names, "time": np.arange(count) * 1.0, "depth": np.ones(count)}
    events = {"session": names[::-1], "time": np.arange(count) * 1.0}
    sessions = sessions_from_frames(frame(instances), frame(events))
    assert [session.name for session in sessions] == names
    assert [session.events[0] for session in sessions] == list(range(count))[::-1]


@pytest.mark.filterwarnings("ignore:Setting an Index with object dtype")
def test_dates_of_python_and_of_fixed_zones_are_dates():
    dates = pd.date_range("2024-05-31", periods=4, freq="1s", tz="Etc/GMT-2")
    for column in (dates, dates.astype(object)):
        b, _ = sessions_from_frames(
            pd.DataFrame(INSTANCES).assign(time=column),
            pd.DataFrame({"session": ["b"], "time": dates[1:2]}),
        )
        assert b.calendar.time_zone == "Etc/GMT-2"
        np.testing.assert_array_equal(b.times, [0.0, 1.0, 3.0])
        np.testing.assert_array_equal(b.events, [1.0])


def test_a_column_that_is_named_must_be_there(frame):
    for wrong in ({"label": "Label"}, {"subject": "participant"}):
        with pytest.raises(ValueError, match="instances has no column"):
            sessions_from_frames(frame(INSTANCES), frame(EVENTS), **wrong)


def test_a_frame_of_no_known_kind_is_refused():
    with pytest.raises(TypeError):
        sessions_from_frames([1, 2], [3])


def write(folder, files):
    for name, text in files.items():
        opened = gzip.open if name.endswith(".gz") else open
        with opened(folder / name, "wt") as file:
            file.write(text)
    return folder


def test_a_folder_is_read_like_on_the_command_line(tmp_path):
    write(
        tmp_path,
        {
            "instances.csv.gz": "session,time,depth,label\nb,0,1.5,0\nb,1,2.5,1\na,0.5,3.5,\n",
            "events.tsv": "session\ttime\nb\t1.2\n",
            "sessions.csv": "session,subject\nb,x\na,y\n",
            "observed.csv": "session,start,end\nb,0,2\na,0,3\n",
        },
    )
    b, a = read_dataset(tmp_path)
    assert (b.name, a.name) == ("b", "a")
    assert (b.subject, a.subject) == ("x", "y")
    assert b.feature_names == ("depth",)
    np.testing.assert_array_equal(b.X, [[1.5], [2.5]])
    np.testing.assert_array_equal(b.events, [1.2])
    np.testing.assert_array_equal(b.labels, [0, 1])
    np.testing.assert_array_equal(b.observed, [[0.0, 2.0]])


def test_dates_in_files(tmp_path):
    for start, zone, utc in (
        ("2024-05-31T14:00:00.25", None, "2024-05-31T14:00:00.25"),
        ("2024-05-31T14:00:00.25Z", "UTC", "2024-05-31T14:00:00.25"),
        ("2024-05-31T14:00:00.25+02:00", "+02:00", "2024-05-31T12:00:00.25"),
        ("2024-05-31T14:00:00.25-05:30", "-05:30", "2024-05-31T19:30:00.25"),
        ("1890-05-31T14:00:00.25+00:19:32", "UTC", "1890-05-31T13:40:28.25"),
    ):
        write(
            tmp_path,
            {
                "instances.csv": f"time,depth\n{start},1\n{start.replace(':00.25', ':09.25')},2\n",
                "events.csv": f"time\n{start.replace(':00.25', ':03.25')}\n",
            },
        )
        (session,) = read_dataset(tmp_path)
        np.testing.assert_array_equal(session.times, [0.0, 9.0])
        np.testing.assert_array_equal(session.events, [3.0])
        assert session.calendar.time_zone == zone
        assert session.calendar.origin == np.datetime64(utc, "ns")


def test_epoch_seconds_in_files_stay_as_written(tmp_path):
    write(
        tmp_path,
        {
            "instances.csv": "time,depth\n1717164207.5,1\n1717164208.75,2\n",
            "events.csv": "time\n1717164208.25\n",
        },
    )
    (session,) = read_dataset(tmp_path)
    np.testing.assert_array_equal(session.times, [1717164207.5, 1717164208.75])
    np.testing.assert_array_equal(session.events, [1717164208.25])


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_large_numbers_of_any_unit_become_seconds(tmp_path, unit, scale):
    def text(seconds):
        return str(int(seconds * 4) * int(scale) // 4) if scale > 1 else str(seconds)

    first, second, stamp = 1717164207.5, 1717164208.75, 1717164208.25
    write(
        tmp_path,
        {
            "instances.csv": f"time,depth\n{text(first)},1\n{text(second)},2\n",
            "events.csv": f"time\n{text(stamp)}\n",
            "observed.csv": f"start,end\n{text(first)},{text(second)}\n",
        },
    )
    (session,) = read_dataset(tmp_path, times_in=unit)
    np.testing.assert_array_equal(session.times, [first, second])
    np.testing.assert_array_equal(session.events, [stamp])
    np.testing.assert_array_equal(session.observed, [[first, second]])


def test_single_files_and_other_columns(tmp_path):
    write(tmp_path, {"x.csv": "who;when;a;b\np;0;1;2\np;2000;3;4\n", "y.csv": "who;when\np;500\n"})
    (session,) = read_dataset(
        instances=tmp_path / "x.csv",
        events=tmp_path / "y.csv",
        session="who",
        time="when",
        ignore=["b"],
        times_in="ms",
    )
    assert session.feature_names == ("a",)
    np.testing.assert_array_equal(session.times, [0.0, 2.0])
    np.testing.assert_array_equal(session.events, [0.5])


def test_files_with_mistakes_say_where(tmp_path):
    write(tmp_path, {"instances.csv": "time,depth\n0,1\n1,deep\n", "events.csv": "time\n"})
    with pytest.raises(ValueError, match=r"instances\.csv.*line 3.*depth.*deep"):
        read_dataset(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_dataset(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="instances"):
        read_dataset(write(tmp_path / "..", {}))
    with pytest.raises(ValueError, match="needs a folder"):
        read_dataset()
    with pytest.raises(ValueError, match="times_in is 'h', expected one of s, ms, us, ns"):
        read_dataset(tmp_path, times_in="h")


def test_some_events_of_a_table_that_has_more(tmp_path):
    write(
        tmp_path,
        {
            "instances.csv": "session,time,depth\na,0,1\na,9,2\n",
            "events.csv": "rec,at,class\na,1,cough\na,2,sneeze\na,3,snore\nx,y,z\n",
        },
    )
    names = {"event_session": "rec", "event_time": "at"}
    for only, expected in (
        ({"class": "cough"}, [1.0]),
        ({"class": ["cough", "snore"]}, [1.0, 3.0]),
        ({"class": ("cough", "snore"), "at": "3"}, [3.0]),
    ):
        (session,) = read_dataset(tmp_path, only=only, **names)
        np.testing.assert_array_equal(session.events, expected)
    with pytest.raises(ValueError, match="no event has `caugh` in column `class`; it has `cough`"):
        read_dataset(tmp_path, only={"class": "caugh"}, **names)
    with pytest.raises(ValueError, match=r"no column `time`.*\(it may be named with event_time="):
        read_dataset(tmp_path)


def test_tables_without_a_header_say_how_they_are_read(tmp_path):
    write(tmp_path, {"instances.csv": "0,1\n1,2\n", "events.csv": "1\n"})
    with pytest.raises(ValueError, match="if there is no header, say header=False"):
        read_dataset(tmp_path)
    with pytest.raises(ValueError, match='name it by its number, as in time="2"'):
        read_dataset(tmp_path, header=False)
    (session,) = read_dataset(tmp_path, header=False, time="1")
    np.testing.assert_array_equal(session.events, [1.0])


def test_times_of_day_in_files_count_from_midnight(tmp_path):
    write(
        tmp_path,
        {
            "instances.csv": "time,depth\n23:59:58,1\n24:00:01.5,2\n",
            "events.csv": "time\n24:00:00\n",
        },
    )
    (session,) = read_dataset(tmp_path)
    assert session.calendar is None
    np.testing.assert_array_equal(session.times, [86398.0, 86401.5])
    np.testing.assert_array_equal(session.events, [86400.0])


def test_the_end_of_summer_time_is_told():
    moments = ["2024-10-27T02:59:54", "2024-10-27T02:59:57", "2024-10-27T02:00:00"]
    instances = pd.DataFrame({"time": pd.to_datetime(moments), "depth": [1.0, 2.0, 3.0]})
    events = pd.DataFrame({"time": pd.to_datetime([])})
    told = r"time 2 is 3597 s before the one before it: the clock was put back, as where summer"
    with pytest.raises(ValueError, match=told):
        sessions_from_frames(instances, events, session=None)
    with pytest.raises(ValueError, match=told):
        Session(instances[["depth"]], instances["time"], [])
    zoned = instances.assign(
        time=instances["time"].dt.tz_localize("Europe/Berlin", ambiguous=[True, True, False])
    )
    assert Session(zoned[["depth"]], zoned["time"], []).times.tolist() == [0.0, 3.0, 6.0]


@pytest.mark.parametrize("zero", [0.0, 1.7e9])
def test_files_say_who_gave_each_stamp_and_what_sessions_share(tmp_path, zero):
    """As frames do, also where times are so large that they are counted from the first."""
    times = {name: [zero + t for t in own] for name, own in (("i", [0, 1, 2]), ("e", [1.5, 0.5]))}
    files = {
        "instances.csv": "session,time,x\n" + "".join(f"b,{t},1\n" for t in times["i"]),
        "events.csv": "session,time,annotator\n"
        + "".join(f"b,{t},{who}\n" for t, who in zip(times["e"], ("ann", "bob"))),
        "sessions.csv": "session,subject,device,clock,annotators\nb,p1,d1,c1,ann; bob; cyd\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (session,) = read_dataset(tmp_path)
    tables = {name: pd.read_csv(tmp_path / name) for name in files}
    (same,) = sessions_from_frames(
        tables["instances.csv"], tables["events.csv"], sessions=tables["sessions.csv"]
    )
    assert session.annotators.tolist() == same.annotators.tolist() == ["bob", "ann"]
    assert session.also_annotated == same.also_annotated == ("cyd",)
    for own in (session, same):
        assert (own.subject, own.device, own.clock) == ("p1", "d1", "c1")
    np.testing.assert_array_equal(session.events, same.events)
    (alone,) = read_dataset(tmp_path, annotator=None)
    assert alone.annotators is None and alone.also_annotated == ()
    (tmp_path / "other.csv").write_text("session,phone\nb,d2\n")
    (other,) = read_dataset(tmp_path, sessions=tmp_path / "other.csv", device="phone")
    assert (other.device, other.clock, other.also_annotated) == ("d2", None, ())
    with pytest.raises(ValueError, match="no column `rater`"):
        read_dataset(tmp_path, annotator="rater")
