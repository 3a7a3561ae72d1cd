"""Figures: what is drawn is what `align` says, on the Axes that were given."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from people import USUAL, off
from people import draw as drawn

from unjitter import EventDetector, Gaussian, Session, baselines, plot, sync

matplotlib.use("Agg")
from matplotlib import dates as mdates
from matplotlib import pyplot as plt

START = np.datetime64("2024-05-31T14:03:27.5", "ns")


def recording(seed, count=100, start=0.0, labelled=True, name=None):
    """Events stand out; one press in ten is missing, some are for nothing."""
    random = np.random.default_rng(seed)
    times = start + np.cumsum(random.uniform(2.0, 5.0, count))
    event = random.random(count) < 1 / 12
    X = random.normal(size=(count, 2)) + np.outer(event, [3.0, -2.0])
    pressed = random.random(count) < np.where(event, 0.85, 0.03)
    events = times[pressed] + 1.5 + 2.0 * random.normal(size=pressed.sum())
    labels = event.astype(int) if labelled else None
    return Session(X, times, events, labels=labels, name=name or f"day {seed}")


def dated(session):
    def dates(seconds):
        return START + np.round(1e9 * seconds).astype("timedelta64[ns]")

    return Session(session.X, dates(session.times), dates(session.events), name="dated")


@pytest.fixture(scope="module")
def detector():
    return EventDetector(restarts=0).fit([recording(seed, 300) for seed in range(5)])


@pytest.fixture
def ax():
    _, ax = plt.subplots()
    yield ax
    plt.close("all")


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


def group(ax, gid):
    """The collection of that name, or None."""
    return next((one for one in ax.collections if one.get_gid() == gid), None)


def bars(ax):
    """Middle and height of every bar, by middle."""
    found = [bar for container in ax.containers for bar in container]
    return np.array(sorted((bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in found))


def check_against_align(detector, session, ax, rows=slice(None)):
    stamps = detector.align(session).iloc[rows]
    spurious = stamps["p_spurious"] > 0.5
    kept = stamps[~spurious]
    arcs = group(ax, "arcs").get_segments()
    assert [arc[0][0] for arc in arcs] == kept["stamp"].tolist()
    assert [arc[-1][0] for arc in arcs] == pytest.approx(kept["instance_time"].tolist(), rel=1e-15)
    intervals = [(line[0][0], line[1][0]) for line in group(ax, "intervals").get_segments()]
    assert intervals == list(zip(kept["low"], kept["high"], strict=True))
    assert group(ax, "stamps").get_offsets()[:, 0].tolist() == kept["stamp"].tolist()
    wrong = group(ax, "spurious")
    crosses = [] if wrong is None else wrong.get_offsets()[:, 0].tolist()
    assert crosses == stamps["stamp"][spurious].tolist()


def test_alignment_draws_what_align_says(detector, ax):
    session = recording(11)
    assert plot.alignment(detector, session, ax=ax) is ax
    check_against_align(detector, session, ax)
    assert group(ax, "spurious") is not None  # there is one to be flagged
    instances = detector.align_instances(session)
    np.testing.assert_allclose(bars(ax), instances[["time", "p_positive"]], rtol=1e-12, atol=1e-12)
    truth = group(ax, "truth").get_offsets()[:, 0]
    assert truth.tolist() == session.times[session.labels == 1].tolist()
    assert len(group(ax, "instances").get_segments()) == len(session)


def test_missed_events_have_bars_of_their_own(detector, ax):
    session = recording(11)
    plot.alignment(detector, session, ax=ax)
    instances = detector.align_instances(session)
    missed = instances["time"][instances["p_missed"] > 0.5]
    purple = next(one for one in ax.containers if one.get_label() == "probably missed")
    middles = [bar.get_x() + bar.get_width() / 2 for bar in purple]
    assert len(missed) > 0 and middles == pytest.approx(missed.tolist(), rel=1e-12)


def test_start_and_stop_choose_the_stretch(detector, ax):
    session = recording(11)
    start, stop = session.times[20], session.times[60]
    plot.alignment(detector, session, start=start, stop=stop, ax=ax)
    assert len(bars(ax)) == 41
    stamps = detector.align(session)
    inside = stamps["stamp"].between(start, stop) | (
        stamps["instance_time"].between(start, stop) & (stamps["p_spurious"] <= 0.5)
    )
    check_against_align(detector, session, ax, rows=inside.to_numpy())
    low, high = ax.get_xlim()
    assert low < start and stop < high and high - low < 1.1 * (stop - start)


def test_long_sessions_show_their_fullest_stretch(detector, ax):
    session = recording(12, 2000)
    # Two stamps at the beginning, five crowded far from it.
    crowd = session.times[[1500, 1510, 1520, 1530, 1540]]
    session = session.replace(events=[session.times[3], session.times[4], *crowd])
    plot.alignment(detector, session, ax=ax)
    shown = bars(ax)[:, 0]
    assert len(shown) == 160
    assert shown[0] < crowd[0] and crowd[-1] < shown[-1]


def test_one_end_alone_gives_a_stretch_of_common_length(detector):
    session = recording(12, 2000)
    after = bars(plot.alignment(detector, session, start=session.times[700]))[:, 0]
    assert after == pytest.approx(session.times[700:860])
    before = bars(plot.alignment(detector, session, stop=session.times[700]))[:, 0]
    assert before == pytest.approx(session.times[541:701])


def test_reversed_stretch_is_refused(detector):
    with pytest.raises(ValueError, match="not before stop"):
        plot.alignment(detector, recording(11), start=10.0, stop=5.0)
    assert plt.get_fignums() == []


def test_dates_are_on_the_axis(detector, ax):
    session = dated(recording(11))
    plot.alignment(detector, session, ax=ax)
    stamps = detector.align(session)
    kept = stamps["p_spurious"] <= 0.5
    drawn = group(ax, "stamps").get_offsets()[:, 0]
    # Days since 1970 as doubles: steps of a third of a microsecond.
    np.testing.assert_allclose(drawn, mdates.date2num(stamps["stamp"][kept]), rtol=0, atol=1e-11)
    assert isinstance(ax.xaxis.get_major_formatter(), mdates.ConciseDateFormatter)
    assert ax.get_xlabel() == "time"


@pytest.mark.parametrize(
    "start", ["2024-05-31T14:05", datetime(2024, 5, 31, 14, 5), np.datetime64("2024-05-31T14:05")]
)
def test_stretch_of_dates(detector, start):
    session = dated(recording(11))
    ax = plot.alignment(detector, session, start=start)
    first = mdates.num2date(bars(ax)[0, 0]).replace(tzinfo=None)
    assert timedelta() <= first - datetime(2024, 5, 31, 14, 5) < timedelta(seconds=5)


def test_dates_of_a_zone_are_shown_in_it(detector):
    pandas = pytest.importorskip("pandas")
    plain = dated(recording(11))

    def local(seconds):
        dates = pandas.DatetimeIndex(plain.dates(seconds))
        return dates.tz_localize("UTC").tz_convert("Europe/Berlin")

    session = Session(plain.X, local(plain.times), local(plain.events))
    aware = datetime(2024, 5, 31, 14, 5, tzinfo=timezone.utc)
    first = []
    for start in ("2024-05-31T16:05", aware):
        ax = plot.alignment(detector, session, start=start)
        assert ax.get_xlabel() == "time (Europe/Berlin)"
        assert str(ax.xaxis.get_major_locator().tz) == "Europe/Berlin"
        first.append(mdates.num2date(bars(ax)[0, 0]))
    assert first[0] == first[1] and timedelta() <= first[0] - aware < timedelta(seconds=5)


def test_numbers_are_no_dates_and_dates_no_numbers(detector):
    with pytest.raises(ValueError, match="stop is 3.0, expected a date"):
        plot.alignment(detector, dated(recording(11)), stop=3.0)
    with pytest.raises(ValueError, match="start is 'noon', expected a number"):
        plot.alignment(detector, recording(11), start="noon")


def test_seconds_since_1970_keep_their_places(detector, ax):
    session = recording(11, start=1.7171e9)
    plot.alignment(detector, session, ax=ax)
    check_against_align(detector, session, ax)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert len(set(labels)) == len(labels) and max(map(len, labels)) < 8


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")  # the spread is large indeed
def test_overlapping_intervals_lie_apart(ax):
    # Presses in pairs, scattered so widely that they could belong to each other's instances.
    times = np.arange(60.0)
    event = np.isin(np.arange(60) % 20, [8, 11])
    X = np.random.default_rng(4).normal(size=(60, 1)) + 2.0 * event[:, None]
    session = Session(X, times, times[event] + 0.5)
    wide = EventDetector(noise=Gaussian(delay=0.0, spread=4.0), restarts=0).fit([session])
    plot.alignment(wide, session, ax=ax)
    lines = group(ax, "intervals").get_segments()
    tops = [arc[-1][1] for arc in group(ax, "arcs").get_segments()]
    assert tops == pytest.approx([line[0][1] for line in lines])
    overlapping = 0
    for first, second in zip(lines[:-1], lines[1:], strict=True):
        if second[0][0] <= first[1][0]:
            overlapping += 1
            assert first[0][1] != second[0][1]
    assert overlapping > 0


def test_sessions_without_stamps_or_labels(detector, ax):
    session = recording(11, labelled=False).replace(events=[])
    plot.alignment(detector, session, ax=ax)
    assert len(bars(ax)) == len(session)
    assert [group(ax, gid) for gid in ("arcs", "stamps", "spurious", "truth")] == [None] * 4


def test_session_of_one_instance(detector):
    session = Session([[3.0, -2.0]], [5.0], [])
    assert plot.alignment(detector, session).containers


def test_unobserved_time_is_grey(detector, ax):
    session = recording(11)
    spans = session.times[[0, 30, 60, 80]].reshape(2, 2)
    inside = [any(a <= t <= b for a, b in spans) for t in session.events]
    session = session.replace(events=session.events[inside], observed=spans)
    plot.alignment(detector, session, ax=ax)
    grey = [patch for patch in ax.patches if patch.get_alpha() == 0.18]
    back = ax.transData.inverted()
    ends = [back.transform(patch.get_window_extent())[:, 0] for patch in grey]
    want = [tuple(session.times[[30, 60]]), tuple(session.times[[80, 99]])]
    np.testing.assert_allclose(ends, want, rtol=1e-9)  # to pixels and back


def test_names_are_no_formulas(detector, ax):
    plot.alignment(detector, recording(11, name=r"cost $5 and $\bad{"), ax=ax)
    ax.figure.canvas.draw()  # would raise while it typesets
    assert ax.get_title(loc="left") == r"cost $5 and $\bad{"


def test_delays_show_the_learned_density(detector, ax):
    assert plot.delays(detector, ax=ax) is ax
    (line,) = [line for line in ax.lines if line.get_label() == "learned"]
    x, y = line.get_data()
    assert np.array_equal(y, detector.delay_density(x))
    area = np.sum((y[1:] + y[:-1]) / 2 * np.diff(x))
    assert area == pytest.approx(1.0, abs=1e-3)  # four standard deviations to either side
    assert not ax.containers


def test_delays_histogram_is_of_aligned_stamps(detector, ax):
    sessions = [recording(seed, 300) for seed in range(5)]
    plot.delays(detector, sessions, ax=ax)
    (histogram,) = ax.containers
    stamps = detector.align(sessions)
    delays, weights = stamps["stamp"] - stamps["instance_time"], 1.0 - stamps["p_spurious"]
    edges = [bar.get_x() for bar in histogram]
    edges.append(edges[-1] + histogram[-1].get_width())
    want, _ = np.histogram(delays, edges, weights=weights)
    got = np.array([bar.get_height() * bar.get_width() for bar in histogram])
    # A delay on an edge may round to either side; none lies that close.
    np.testing.assert_allclose(got, want / weights.sum(), atol=1e-12)


def test_delays_of_one_session_without_stamps(detector, ax):
    plot.delays(detector, recording(11).replace(events=[]), ax=ax)
    assert not ax.containers


def test_learners_show_means_folds_and_intervals(ax):
    scores = np.array([[0.8, 0.9, np.nan], [0.2, 0.3, 0.4]])
    intervals = [(0.7, 0.95), (0.1, 0.5)]
    comparison = SimpleNamespace(learners=["one", "two"], scores=scores, intervals=intervals)
    assert plot.learners(comparison, ax=ax) is ax
    folds = [one.get_offsets()[:, 0].tolist() for one in ax.collections]
    assert folds == [[0.8, 0.9], [0.2, 0.3, 0.4]]
    lines = [line.get_xdata() for line in ax.lines]
    assert [tuple(line) for line in lines if len(line) == 2] == intervals
    assert [line[0] for line in lines if len(line) == 1] == pytest.approx([0.85, 0.3])
    assert [text.get_text() for text in ax.texts] == ["0.850 [0.70, 0.95]", "0.300 [0.10, 0.50]"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two"]
    assert ax.yaxis_inverted()  # the first on top


def test_learners_of_a_dict_have_no_intervals(ax):
    plot.learners({"one": [0.5, 0.7], "none": [np.nan]}, ax=ax)
    assert [len(line.get_xdata()) for line in ax.lines] == [1]
    assert [text.get_text() for text in ax.texts] == ["0.600", "no score"]


def test_learners_need_a_row_each():
    with pytest.raises(ValueError, match="1 rows of scores for 2 learners"):
        plot.learners(SimpleNamespace(learners=["one", "two"], scores=[[0.5]]))


def test_precision_recall_marks_the_threshold_in_use(detector, ax):
    from unjitter import metrics

    sessions = [recording(seed, 300) for seed in (20, 21)]
    assert plot.precision_recall({"mine $x": detector}, sessions, ax=ax) is ax
    (line,) = [line for line in ax.lines if line.get_label() == "mine $x"]
    recall, precision = line.get_data()
    (used,) = line.get_markevery()
    want = metrics.precision_recall_f1(sessions, detector.predict_proba(sessions))
    assert (precision[used], recall[used]) == pytest.approx((want.precision, want.recall))
    ax.figure.canvas.draw()


def test_precision_recall_ends_as_it_began(ax):
    # The most probable instance is negative: precision at recall 0 is 0, not 1.
    session = Session(np.zeros((3, 1)), np.arange(3.0), [], labels=[0, 1, 0])
    proba = np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    plot.precision_recall(SimpleNamespace(predict_proba=lambda _: proba), session, ax=ax)
    recall, precision = ax.lines[-1].get_data()
    assert recall.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert precision.tolist() == pytest.approx([1 / 3, 1 / 2, 0.0, 0.0])


def test_several_detectors_are_told_apart(detector, ax):
    plot.precision_recall([detector, detector], recording(20, 300), ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["EventDetector 1", "EventDetector 2"]
    colours = {line.get_color() for line in ax.lines if line.get_label() in names}
    assert len(colours) == 2


def test_calibration_counts_labelled_instances_alone(detector, ax):
    from unjitter import metrics

    session = recording(20, 300)
    labels = session.labels.astype(float)
    labels[::2] = np.nan
    half = session.replace(labels=labels)
    assert plot.calibration(detector, [half], bins=5, ax=ax) is ax
    known = half.labels >= 0
    probabilities = detector.predict_proba(half)[known, 1]
    want = metrics.reliability_curve(half.labels[known], probabilities, n_bins=5)
    drawn = ax.collections[0].get_offsets()
    np.testing.assert_allclose(drawn[:, 0], want.mean_predicted)
    np.testing.assert_allclose(drawn[:, 1], want.observed_share)


def test_curves_need_labels(detector):
    for draw in (plot.precision_recall, plot.calibration):
        with pytest.raises(ValueError, match="has labels"):
            draw(detector, recording(11, labelled=False))
    assert plt.get_fignums() == []


@pytest.fixture(scope="module")
def grouped():
    sessions, _ = off(10, 6.0, 0.0, seed=1)
    varies = {"offset": "session", "spread": "session"}
    return EventDetector(varies=varies, clock_range=20.0).fit(sessions[:8]), sessions


def test_groups_are_drawn_as_the_table_has_them(grouped, ax):
    known, _ = grouped
    assert plot.groups(known, ax=ax) is ax
    table = known.groups_[known.groups_["what"] == "offset"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(table["group"])
    np.testing.assert_array_equal(group(ax, "values").get_offsets()[:, 0], table["value"])
    ends = [(line[0][0], line[1][0]) for line in group(ax, "intervals").get_segments()]
    assert ends == list(zip(table["low"], table["high"]))
    low, high = ax.get_ylim()
    assert low > high  # the first on top
    [line] = ax.get_lines()
    assert list(line.get_xdata()) == [0.0, 0.0]
    assert ax.get_xlabel() == "how far the clock is ahead, with 95 % intervals"


def test_another_number_of_groups_can_be_drawn(grouped, ax):
    known, _ = grouped
    plot.groups(known, "spread", level=0.5, ax=ax)
    table = known.groups(level=0.5)
    table = table[table["what"] == "spread"]
    ends = [(line[0][0], line[1][0]) for line in group(ax, "intervals").get_segments()]
    assert ends == list(zip(table["low"], table["high"]))
    assert ax.get_lines()[0].get_xdata()[0] == known.spread_
    assert ax.get_xlabel() == "spread, with 50 % intervals"


def test_groups_that_are_not_there_are_not_drawn(grouped, detector):
    with pytest.raises(ValueError, match="what is 'delay', expected 'offset' or 'spread'"):
        plot.groups(grouped[0], "delay")
    with pytest.raises(ValueError, match="nothing differs between groups"):
        plot.groups(detector)
    with pytest.raises(ValueError, match="Naive knows no groups"):
        plot.groups(baselines.Naive())


def test_plots_adapt_to_groups_not_seen(grouped, ax):
    known, sessions = grouped
    new = sessions[8].replace(events=sessions[8].events)  # in order, as they are drawn
    told = known.adapted(new)
    plot.alignment(known, new, start=new.times[0], stop=new.times[-1], ax=ax)
    check_against_align(told, new, ax)


def test_delays_are_without_what_groups_differ_by(grouped, ax):
    known, sessions = grouped
    plot.delays(known, sessions, ax=ax)
    [label] = [one.get_label() for one in ax.containers]
    middles, heights = bars(ax).T
    mean = np.average(middles, weights=heights)
    spread = np.sqrt(np.average((middles - mean) ** 2, weights=heights))
    # Offsets scatter by six; without them, delays are those that were learned.
    assert mean == pytest.approx(known.delay_, abs=0.3)
    assert spread == pytest.approx(known.spread_, rel=0.25)
    assert label.startswith("stamps")


@pytest.fixture(scope="module")
def synced(grouped):
    _, sessions = grouped
    right = EventDetector(restarts=0).fit([drawn(seed, USUAL) for seed in range(100, 112)])
    few = sessions[0].replace(events=sessions[0].events[:1], name="few")
    silent = sessions[0].replace(events=[], name="$silent$")
    fast = drawn(9, USUAL.but(drift=0.04), name="fast")
    return sync([*sessions[:3], few, silent, fast], right, by="session", range=60.0)


def test_clocks_show_their_profiles(synced):
    axes = plot.clocks(synced)
    assert [ax.get_title(loc="left") for ax in axes] == [clock.name for clock in synced]
    for ax, clock in zip(axes, synced):
        verdict = next(text.get_text() for text in ax.texts if text.get_gid() == "verdict")
        if clock.verdict == "no_stamps":
            assert verdict == "no stamps" and not ax.get_lines()
            continue
        [line] = ax.get_lines()
        np.testing.assert_array_equal(line.get_xdata(), clock.profile[0])
        shown = clock.profile[1] > -12.0
        np.testing.assert_array_equal(line.get_ydata()[shown], clock.profile[1][shown])
        places = group(ax, "places").get_offsets()[:, 0]
        assert list(places) == [clock.offset, *(place.offset for place in clock.others)]
        band = next(patch for patch in ax.patches if patch.get_gid() == "interval")
        assert band.get_x() == pytest.approx(clock.low, rel=1e-12)
        if clock.verdict == "found":
            assert float(verdict.split(",")[0].replace("−", "-")) == float(f"{clock.offset:.3g}")
            assert ("%" in verdict) == (clock.drift != 0.0)
        else:
            assert verdict == clock.verdict
    axes[0].figure.canvas.draw()


def test_clocks_can_be_chosen(synced, ax):
    assert [own.get_title(loc="left") for own in plot.clocks(synced, ["s001", "few"])] == [
        "s001",
        "few",
    ]
    assert plot.clocks(synced, "fast", ax=ax) is ax
    assert ax.get_xlabel() == "offset"
    with pytest.raises(ValueError, match="6 clocks were given, expected one to draw on ax"):
        plot.clocks(synced, ax=ax)
    with pytest.raises(ValueError, match="names has 'watch', which is none of 6 clocks"):
        plot.clocks(synced, ["watch"])


def test_of_many_clocks_the_doubtful_are_drawn(synced):
    from dataclasses import replace

    many = [replace(synced["s000"], name=f"c{k:02}") for k in range(40)]
    axes = plot.clocks(replace(synced, clocks=[*many, synced["few"]]))
    names = [ax.get_title(loc="left") for ax in axes]
    assert len(names) == 24 and names[-1] == "few"


def test_only_asked_figures_are_made(detector):
    ax = plot.alignment(detector, recording(11))
    assert plt.get_fignums() == [ax.figure.number]
    plt.close(ax.figure)
    figure = matplotlib.figure.Figure()  # one that pyplot knows nothing of
    plot.alignment(detector, recording(11), ax=figure.subplots())
    plot.delays(detector, ax=figure.subplots())
    plot.learners({"one": [0.5]}, ax=figure.subplots())
    assert plt.get_fignums() == []


def test_matplotlib_is_loaded_only_to_draw():
    code = "import sys, unjitter; assert unjitter.plot and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_is_named(detector, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls = [
        lambda: plot.alignment(detector, recording(11)),
        lambda: plot.alignment(detector, dated(recording(11))),
        lambda: plot.delays(detector),
        lambda: plot.learners({"one": [0.5]}),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=r"pip install 'unjitter\[plot\]'"):
            call()


def test_what_cannot_be_drawn_is_named():
    sessions = [recording(seed) for seed in range(3)]
    detector = EventDetector().fit(sessions)
    with pytest.raises(ValueError, match="3 sessions were given, expected one"):
        plot.alignment(detector, sessions)
    naive = baselines.Naive().fit(sessions)
    with pytest.raises(ValueError, match="Naive does not align stamps"):
        plot.alignment(naive, sessions[0])
    with pytest.raises(ValueError, match="Naive does not align stamps"):
        plot.delays(naive)
