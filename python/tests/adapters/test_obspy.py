"""Streams and catalogs of ObsPy, and the QuakeML that it writes."""

from __future__ import annotations

import numpy as np
import obspy
import pytest
from conftest import RATE, WINDOWS, closer, detector
from obspy.core.event import Arrival, Catalog, Event, Origin, Pick, WaveformStreamID

import unjitter.obspy
from unjitter.stamps import Stamps

START = obspy.UTCDateTime("2024-05-31T14:03:27.500000Z")
FUR = WaveformStreamID("BW", "FUR", None, "EHZ")


def trace_of(samples, start=START, channel="EHZ"):
    head = {"network": "BW", "station": "FUR", "channel": channel, "starttime": start}
    return obspy.Trace(np.asarray(samples, dtype=float), {**head, "sampling_rate": RATE})


def catalog_of(seconds, phase="P"):
    """An event for each pick, with an arrival that refers to it."""
    events = []
    for second in seconds:
        pick = Pick(time=START + float(second), waveform_id=FUR, phase_hint=phase)
        origin = Origin(arrivals=[Arrival(pick_id=pick.resource_id, phase=phase)])
        events.append(Event(picks=[pick], origins=[origin]))
    return Catalog(events)


def test_picks_come_back_from_quakeml_with_their_uncertainty(recorded, tmp_path):
    trace = trace_of(recorded.samples)
    catalog = catalog_of(recorded.pressed[::-1])
    stamps = unjitter.obspy.stamps(trace, catalog, phase="P")
    # ObsPy's dates are whole nanoseconds.
    np.testing.assert_allclose(stamps.times, recorded.pressed, rtol=0.0, atol=1e-9)
    session = unjitter.obspy.session(trace, stamps, **WINDOWS)
    aligned = detector().fit([session]).align(session, level=0.8)
    assert closer(aligned, recorded.true)
    better = unjitter.obspy.repicked(catalog, trace, aligned, phase="P", level=0.8)
    better.write(str(tmp_path / "better.xml"), format="QUAKEML")
    back = obspy.read_events(str(tmp_path / "better.xml"))
    picks = [event.picks[0] for event in back][::-1]
    # QuakeML has microseconds.
    seconds = [pick.time - START for pick in picks]
    np.testing.assert_allclose(seconds, aligned["time"], rtol=0.0, atol=1e-6)
    errors = [pick.time_errors for pick in picks]
    low = [second - own.lower_uncertainty for second, own in zip(seconds, errors)]
    high = [second + own.upper_uncertainty for second, own in zip(seconds, errors)]
    np.testing.assert_allclose(low, aligned["low"], rtol=0.0, atol=2e-6)
    np.testing.assert_allclose(high, aligned["high"], rtol=0.0, atol=2e-6)
    assert {own.confidence_level for own in errors} == {80.0}
    for event in back:
        assert event.origins[0].arrivals[0].pick_id == event.picks[0].resource_id
    # The ones given are as they were.
    assert unjitter.obspy.stamps(trace, catalog) == stamps


def test_only_picks_on_these_traces_are_stamps(recorded):
    trace = trace_of(recorded.samples)
    other = WaveformStreamID("BW", "ROTZ", None, "EHZ")
    east = WaveformStreamID("BW", "FUR", "", "EHE")
    picks = [
        Pick(time=START + 30.0, waveform_id=other, phase_hint="P"),
        Pick(time=START + 20.0, waveform_id=east, phase_hint="P"),
        Pick(time=START + 9.0, waveform_id=WaveformStreamID("BW", "FUR"), phase_hint="S"),
        Pick(time=START + 8.0, phase_hint="P"),
        Pick(time=START - 1.0, waveform_id=FUR, phase_hint="P"),
        Pick(time=START + 5000.0, waveform_id=FUR, phase_hint="P"),
        Pick(time=START + 7.0, waveform_id=FUR),
    ]
    stamps = unjitter.obspy.stamps(trace, picks)
    assert stamps.times.tolist() == [7.0, 8.0, 9.0]
    assert stamps.labels == ["", "P", "S"]
    assert stamps.origin.isoformat() == "2024-05-31T14:03:27.500000+00:00"
    assert unjitter.obspy.stamps(trace, picks, phase=["P"]).times.tolist() == [8.0]
    event = Event(picks=picks)
    stream = obspy.Stream([trace, trace_of(recorded.samples, channel="EHE")])
    assert unjitter.obspy.stamps(stream, event, phase="P").times.tolist() == [8.0, 20.0]
    assert len(unjitter.obspy.stamps(trace, [])) == 0


def test_a_phase_that_nobody_picked_is_refused(recorded):
    trace = trace_of(recorded.samples)
    elsewhere = Pick(time=START + 5000.0, waveform_id=FUR, phase_hint="Sn")
    catalog = catalog_of([8.0, 20.0])
    catalog.append(Event(picks=[elsewhere]))
    with pytest.raises(ValueError, match="no pick is of phase 'p'; the phases are 'P', 'Sn'"):
        unjitter.obspy.stamps(trace, catalog, phase="p")
    with pytest.raises(ValueError, match="no pick is of phase 'S'; the phases are 'P', 'Sn'"):
        unjitter.obspy.repicked(catalog, trace, unjitter.Table({}), phase=["P", "S"])
    with pytest.raises(ValueError, match="no pick is of phase 'P'; the phases are none"):
        unjitter.obspy.stamps(trace, [Pick(time=START + 7.0)], phase="P")
    # A stream on which nobody picked it is a recording without stamps.
    assert len(unjitter.obspy.stamps(trace, catalog, phase="Sn")) == 0


def test_phases_of_arrivals_are_those_of_their_picks(recorded):
    trace = trace_of(recorded.samples)
    picks = [Pick(time=START + second, waveform_id=FUR) for second in (5.0, 8.0, 11.0, 14.0)]
    picks[3].phase_hint = "Pn"

    def origin(*phases):
        told = zip(picks, phases)
        return Origin(arrivals=[Arrival(pick_id=pick.resource_id, phase=own) for pick, own in told])

    first, better = origin("P", "P", "P", "P"), origin("P", "S")
    event = Event(picks=picks, origins=[first, better])
    assert unjitter.obspy.stamps(trace, event).labels == ["P", "P", "P", "Pn"]
    event.preferred_origin_id = better.resource_id
    assert unjitter.obspy.stamps(trace, event).labels == ["P", "S", "P", "Pn"]
    assert unjitter.obspy.stamps(trace, Catalog([event]), "P").times.tolist() == [5.0, 11.0]
    moved = {"stamp": [8.0], "time": [7.5], "low": [7.25], "high": [9.0], "p_spurious": [0.1]}
    table = unjitter.Table({name: np.array(own) for name, own in moved.items()})
    better = unjitter.obspy.repicked(Catalog([event]), trace, table, "S")
    assert [pick.time - START for pick in better[0].picks] == [5.0, 7.5, 11.0, 14.0]


def test_phases_are_classes_on_request(recorded):
    trace = trace_of(recorded.samples)
    stamps = Stamps([9.0, 8.0], ["S", "P"])
    assert unjitter.obspy.session(trace, stamps, **WINDOWS).classes is None
    session = unjitter.obspy.session(trace, stamps, classes=stamps.labels, **WINDOWS)
    assert list(session.classes) == ["P", "S"]


def test_repicked_keeps_what_was_given(recorded):
    trace = trace_of(recorded.samples)
    table = unjitter.Table(
        {
            name: np.array([value])
            for name, value in zip(
                ("stamp", "time", "low", "high", "p_spurious"), (8.0, 7.5, 7.25, 9.0, 0.1)
            )
        }
    )
    picks = [
        Pick(time=START + 8.0, phase_hint="P", waveform_id=FUR),
        Pick(time=START + 9.0, phase_hint="S", waveform_id=FUR),
    ]
    moved, other = unjitter.obspy.repicked(picks, trace, table, "P")
    assert (moved.time, other.time) == (START + 7.5, START + 9.0)
    assert moved.time_errors.lower_uncertainty == 0.25
    assert moved.time_errors.upper_uncertainty == 1.5
    assert moved.time_errors.confidence_level == 95.0
    assert picks[0].time == START + 8.0
    event = unjitter.obspy.repicked(Event(picks=picks), trace, table, "P")
    assert isinstance(event, Event) and event.picks[0].time == START + 7.5
    with pytest.raises(ValueError, match="level is 95, expected a number between 0 and 1"):
        unjitter.obspy.repicked(picks, trace, table, "P", level=95)
    with pytest.raises(ValueError, match="aligned has 1 rows, expected 2"):
        unjitter.obspy.repicked(picks, trace, table)


def test_gaps_are_gaps_and_channels_may_differ(recorded):
    rate = int(RATE)
    first = trace_of(recorded.samples[: 100 * rate])
    second = trace_of(recorded.samples[200 * rate : 300 * rate], START + 200.0)
    slow = trace_of(recorded.samples[: 300 * rate : 5], START + 0.1, channel="LHZ")
    slow.stats.sampling_rate = RATE / 5
    stream = obspy.Stream([second, first, slow])
    session = unjitter.obspy.session(stream, Stamps([250.0]), length=1.0, step=1.0)
    assert not np.any((session.times > 101.0) & (session.times < 199.0))
    high = session.X[:, session.feature_names.index("BW.FUR..EHZ_mean")]
    nearby = int(np.argmin(np.abs(session.times - 250.5)))
    begin = round((session.times[nearby] - 0.5) * rate)
    by_hand = recorded.samples[begin : begin + rate].mean()
    # Where a window begins between two samples, one of fifty may be another.
    assert high[nearby] == pytest.approx(by_hand, abs=0.3)
    # As a digitiser counts: integers have no NaN for what a merge fills gaps with.
    for own in (first, second):
        own.data = np.round(1000.0 * own.data).astype(np.int32)
    merged = obspy.Stream([first.copy(), second.copy()]).merge()
    alone = unjitter.obspy.session(obspy.Stream([first, second]), Stamps([]), **WINDOWS)
    masked = unjitter.obspy.session(merged, Stamps([]), **WINDOWS)
    np.testing.assert_allclose(masked.X, alone.X, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(masked.times, alone.times)


def test_found_events_become_picks(recorded):
    trace = trace_of(recorded.samples)
    found = unjitter.obspy.picks(trace, [1.5, 30.25], phase="P")
    assert [pick.time - START for pick in found] == [1.5, 30.25]
    assert found[0].waveform_id.get_seed_string() == "BW.FUR..EHZ"
    assert found[0].evaluation_mode == "automatic"
    assert unjitter.obspy.stamps(trace, found).times.tolist() == [1.5, 30.25]


def test_mistakes_are_told(recorded):
    trace = trace_of(recorded.samples)
    with pytest.raises(ValueError, match="stamp 0 is at 4200 s, but the samples last from 0 s"):
        unjitter.obspy.session(trace, Stamps([4200.0]), length=1.0, step=1.0)
    with pytest.raises(ValueError, match="event 1 is at 1e\\+06 s"):
        unjitter.obspy.picks(trace, [1.0, 1e6])
    with pytest.raises(ValueError, match="times: found nan at index 0"):
        unjitter.obspy.picks(trace, [np.nan])
    with pytest.raises(ValueError, match="the stream has no samples"):
        unjitter.obspy.stamps(obspy.Stream(), [])
    with pytest.raises(ValueError, match="the stream has no samples"):
        unjitter.obspy.session(trace_of([]), Stamps([]), length=1.0, step=1.0)
    with pytest.raises(ValueError, match="pick .* has no time"):
        unjitter.obspy.stamps(trace, [Pick()])
    stream = obspy.Stream([trace, trace_of(recorded.samples, START + 5.0)])
    with pytest.raises(ValueError, match="traces of BW.FUR..EHZ overlap"):
        unjitter.obspy.session(stream, Stamps([]), length=1.0, step=1.0)
