"""What notebooks show: well-formed, escaped, and true to the objects."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn

from unjitter import Bernoulli, EventDetector, Session, posterior

# Stamps that do not scatter at all.
pytestmark = pytest.mark.filterwarnings("ignore:the learned spread:unjitter.UnjitterWarning")
NASTY = "<script>alert(1)</script> & 'co' \"x\""


def recording(**changes):
    times = np.arange(60.0)
    event = np.arange(60) % 6 == 2
    X = np.column_stack([3.0 * event, np.sin(times)])
    given = {"X": X, "times": times, "events": times[event] + 0.4, **changes}
    return Session(**given)


def cells(html):
    """The table as a dict; parsing fails if anything is left open or unescaped."""
    tree = ElementTree.fromstring(html)
    return {row[0].text: row[1].text for row in tree.iter("tr")}


def strip(html):
    """Number of strokes and triangles in each path of the picture."""
    paths = ElementTree.fromstring(html).iter("{http://www.w3.org/2000/svg}path")
    return [path.get("d").count("M") for path in paths]


def test_session_table():
    labels = (np.arange(60) % 6 == 2).astype(object)
    labels[:10] = None
    shown = cells(recording(labels=labels, subject="p07")._repr_html_())
    assert shown == {
        "instances": "60",
        "features": "2",
        "duration": "59",
        "stamps": "10",
        "labels": "8 positive of 50",
        "subject": "p07",
    }


def test_session_table_names_people_and_things():
    shown = cells(
        recording(
            events={NASTY: [1.0], "bob": []}, device="phone", clock="left", subject="p07"
        )._repr_html_()
    )
    assert shown["annotators"] == f"{NASTY}, bob"
    assert (shown["device"], shown["clock"]) == ("phone", "left")
    many = recording(events={f"person {k}": [] for k in range(9)})._repr_html_()
    assert cells(many)["annotators"].endswith("person 5, …")


def test_strip_shows_instances_labels_and_stamps():
    labels = (np.arange(60) % 6 == 2).astype(int)
    assert strip(recording(labels=labels)._repr_html_()) == [60, 10, 10]
    assert strip(recording()._repr_html_()) == [60, 10]
    assert strip(recording(events=[])._repr_html_()) == [60]


def test_strip_places_times_to_scale():
    session = Session(np.zeros((3, 1)), times=[0.0, 1.0, 4.0], events=[])
    (path,) = ElementTree.fromstring(session._repr_html_()).iter("{http://www.w3.org/2000/svg}path")
    at = [float(stroke.split()[0]) for stroke in path.get("d").split("M")[1:]]
    assert at == [6.0, 163.0, 634.0]  # 6 + 628 · t / 4


def test_long_sessions_stay_small():
    times = np.arange(100_000.0)
    session = Session(np.zeros((100_000, 1)), times, events=times[::7])
    assert len(session._repr_html_()) < 30_000


@pytest.mark.parametrize("count", [0, 1])
def test_tiny_sessions(count):
    session = Session(np.zeros((count, 1)), np.zeros(count), events=[])
    assert cells(session._repr_html_())["instances"] == str(count)


def test_names_are_escaped():
    session = recording(name=NASTY, subject=NASTY, feature_names=[NASTY, "b"])
    html = session._repr_html_()
    assert "<script" not in html
    assert cells(html)["subject"] == NASTY
    assert cells(html)["features"] == f"2: {NASTY}, b"
    assert ElementTree.fromstring(html).find("strong").text == f"Session {NASTY}"


def test_dates_are_told():
    dates = np.datetime64("2024-05-31T23:59:00", "ns") + np.arange(60) * np.timedelta64(2, "s")
    shown = cells(recording(times=dates, events=dates[[3]])._repr_html_())
    assert shown["duration"] == "0:01:58, from 2024-05-31 23:59:00 to 2024-06-01 00:00:58"


def test_posterior_table():
    found = posterior([0.0, 1.0, 2.0, 3.0], [2.4], [-3.0, 2.0, -3.0, -3.0])
    shown = cells(found._repr_html_())
    assert (shown["instances"], shown["stamps"]) == ("4", "1")
    assert float(shown["log evidence"]) == pytest.approx(found.log_evidence, rel=1e-5)
    assert float(shown["expected positive instances"]) == round(found.positive.sum(), 1)


def learned(html):
    """The table of what was learned, which stands below scikit-learn's diagram."""
    assert html.count("The annotator") == 1
    return cells(html[html.index('<div style="margin:4px 0"><strong>The annotator') :])


def test_detector_shows_diagram_and_annotator():
    detector = EventDetector(counts=Bernoulli(hit_rate=0.99999), restarts=0).fit([recording()])
    bundle = detector._repr_mimebundle_()
    for html in (detector._repr_html_(), bundle["text/html"]):
        assert "sk-" in html  # scikit-learn's own classes
        shown = learned(html)
        assert shown["stamps"] == f"{detector.delay_:.3g} late on average"
        # Nobody should take it for the error of the average.
        assert shown["single stamps scatter by"] == f"{detector.spread_:.3g} (standard deviation)"
        assert detector.miss_rate_ < 1e-4
        assert shown["misses"] == "less than 0.01 % of the events"
    assert bundle["text/plain"] == repr(detector)


def test_early_stamps_are_early():
    session = recording()
    detector = EventDetector(restarts=0).fit([session.replace(events=session.events - 0.8)])
    assert learned(detector._repr_html_())["stamps"] == f"{-detector.delay_:.3g} early on average"


def test_unfitted_detector_shows_the_diagram_alone():
    assert "The annotator" not in EventDetector()._repr_html_()
    assert "The annotator" not in EventDetector()._repr_mimebundle_()["text/html"]


def test_text_display_is_respected():
    detector = EventDetector(restarts=0).fit([recording()])
    with sklearn.config_context(display="text"):
        assert not hasattr(detector, "_repr_html_")
        assert list(detector._repr_mimebundle_()) == ["text/plain"]


def test_runs_and_classes_replace_what_other_instances_give():
    chain = EventDetector(labels="chain", restarts=0).fit([recording()])
    shown = learned(chain._repr_html_())
    assert shown["events are runs, that last"] == f"{chain.run_length_:.3g} on average"
    assert shown["stamps for nothing at"] == f"{chain.background_rate_:.3g} per unit of time"
    assert "and from nowhere" not in shown
    session = recording()
    classes = ["a" if k % 2 else NASTY for k in range(len(session.events))]
    several = EventDetector(restarts=0).fit([session.replace(classes=classes)])
    html = several._repr_html_()
    shown = learned(html)
    assert NASTY not in html
    assert shown["events of a are recorded as"].count(" %") == 2
    assert shown["stamps for nothing at"].endswith(" per unit of time")
    assert cells(session.replace(classes=classes)._repr_html_())["classes"].startswith(NASTY)


def test_a_line_leads_to_the_end_of_a_stamp():
    ends = np.full(10, np.nan)
    ends[[2, 5]] = recording().events[[2, 5]] + 1.5
    html = recording().replace(ends=ends)._repr_html_()
    assert cells(html)["of which tell an end"] == "2"
    assert html.count(" 31H") == 2
    assert " 31H" not in recording()._repr_html_()
