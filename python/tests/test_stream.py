"""Detection while instances arrive, beside that of whole recordings."""

import numpy as np
import pytest

from unjitter import EventDetector, Session


def walk(seed, name):
    """Runs of about five of 120 instances, with stamps near their beginnings."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.5, 1.5, size=120))
    labels = np.zeros(120, dtype=int)
    onsets = (
        np.arange(8, 110, 17) + random.integers(-3, 4, size=6 + 1)[: len(np.arange(8, 110, 17))]
    )
    for onset in onsets:
        labels[onset : onset + random.integers(3, 8)] = 1
    X = np.column_stack([2.0 * labels + random.normal(size=120), random.normal(size=120)])
    events = np.sort(times[onsets] + 1.0 + random.normal(size=len(onsets)))
    return Session(X, times, events, name=name)


@pytest.fixture(scope="module")
def recordings():
    return [walk(seed, f"walk {seed}") for seed in range(7)]


@pytest.fixture(scope="module", params=["independent", "chain"])
def detector(request, recordings):
    # Runs taken for single events leave probabilities low.
    return EventDetector(labels=request.param, threshold=0.2).fit(recordings[1:])


def followed(stream, recording, step=1):
    """All that leaves."""
    left = [
        stream.push(recording.times[k : k + step], recording.X[k : k + step])
        for k in range(0, len(recording.times), step)
    ]
    return [*left, stream.finish()]


@pytest.mark.parametrize("step", [1, 7, 120])
def test_what_leaves_is_what_the_whole_recording_says(detector, recordings, step):
    one = recordings[0]
    left = followed(detector.stream(), one, step)
    times, p = (
        np.concatenate([getattr(own, of) for own in left]) for of in ("times", "probability")
    )
    np.testing.assert_array_equal(times, one.times)
    # The tolerance of a stream, and rounding.
    np.testing.assert_allclose(p, detector.predict_proba(one)[:, 1], rtol=0, atol=2e-9)
    events = [event for own in left for event in own.events]
    table = detector.detect_events(one, backend="numpy")
    assert [event.start for event in events] == list(table["start"])
    assert [event.end for event in events] == list(table["end"])
    assert len(events) > 3


def test_nobody_waits_longer_than_was_asked(detector, recordings):
    one = recordings[0]
    stream, newest, waited = detector.stream(within=2.0), 0.0, []
    for time, x in zip(one.times, one.X):
        left = stream.push(time, x)
        # It leaves at the first instance that is so much later.
        assert all(newest - own < 2.0 for own in left.times)
        waited += list(left.unsettled)
        newest = time
    assert max(waited) > 1e-9 if detector.labels == "chain" else max(waited) == 0.0


@pytest.mark.parametrize("separation", [0.75, 4.0, 30.0])
def test_events_are_as_far_apart_as_in_the_whole_recording(recordings, separation):
    one = recordings[0]
    # All instances are candidates, and hardly any gap between two of them is as long.
    detector = EventDetector(threshold=0.0).fit(recordings[1:])
    stream, found, late = detector.stream(min_separation=separation), [], []
    for time, x in zip(one.times, one.X):
        left = stream.push(time, x)
        found += left.events
        late += [time - event.start for event in left.events]
    found += stream.finish().events
    assert [event.start for event in found] == list(detector.detect(one, min_separation=separation))
    # The longest is as long as the recording, nearly.
    assert separation > 10.0 or (len(late) > 10 and np.median(late) < 3.0 * separation)


def test_events_leave_in_time_and_apart(recordings):
    one = recordings[0]
    detector = EventDetector(threshold=0.0).fit(recordings[1:])
    stream, newest, found = detector.stream(min_separation=6.0, within=2.0), 0.0, []
    for time, x in zip(one.times, one.X):
        left = stream.push(time, x)
        assert all(newest - event.start < 2.0 for event in left.events)
        found += left.events
        newest = time
    assert len(found) > 5
    assert min(np.diff([event.start for event in found])) >= 6.0


def test_a_recording_may_follow_another(detector, recordings):
    stream, first = detector.stream(), recordings[0]
    whole = followed(stream, first)
    again = followed(stream, first)
    assert [own.events for own in whole] == [own.events for own in again]


def test_mistakes_are_named_and_change_nothing(detector, recordings):
    one = recordings[0]
    stream = detector.stream()
    stream.push(one.times[:5], one.X[:5])
    with pytest.raises(ValueError, match="time 0 is 0, expected a finite number, not before"):
        stream.push(0.0, one.X[5])
    with pytest.raises(ValueError, match="1 features, but EventDetector is expecting 2"):
        stream.push(one.times[5], one.X[5, :1])
    with pytest.raises(ValueError, match="times"):
        stream.push(one.times[5:8], one.X[5:7])
    left = [stream.push(one.times[5:], one.X[5:]), stream.finish()]
    found = [event.start for own in left for event in own.events]
    want = [start for start in detector.detect(one) if start > one.times[5]]
    assert found == want
    with pytest.raises(ValueError, match="tolerance is 2, expected a number from 0 to 1"):
        detector.stream(tolerance=2.0)
    with pytest.raises(ValueError, match="within is -1, expected a time of at least 0"):
        detector.stream(within=-1.0)
