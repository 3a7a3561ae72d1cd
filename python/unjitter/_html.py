"""Notebook views of a session, a posterior and a fitted detector.

Plain tables and one picture, without scripts or style sheets. Text and lines take the notebook's
text colour, so that light and dark ones look right; names from users are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._detector import EventDetector
    from ._modes import Mode
    from ._posterior import Posterior
    from ._session import Session
    from ._table import Table

# Vertical strokes that a strip of 640 units can show; of more, as many are picked.
STROKES = 640
BLUE, ORANGE = "#0072B2", "#E69F00"


def session_html(session: Session) -> str:
    """A session: its contents, and a strip of its instances and stamps."""
    rows = [
        ("instances", f"{len(session):,}"),
        ("features", _features(session)),
        ("duration", _duration(session)),
        ("stamps", f"{len(session.events):,}"),
    ]
    if session.ends is not None:
        rows.append(("of which tell an end", f"{int(np.isfinite(session.ends).sum()):,}"))
    if session.classes is not None:
        names, counts = np.unique(session.classes.astype(str), return_counts=True)
        rows.append(("classes", _some([f"{own} {k:,}" for own, k in zip(names, counts)])))
    if session.labels is not None:
        known = int((session.labels >= 0).sum())
        rows.append(("labels", f"{int((session.labels == 1).sum()):,} positive of {known:,}"))
    people = session._people()
    if people:
        rows.append(("annotators", _some(people)))
    own = (("subject", session.subject), ("device", session.device), ("clock", session.clock))
    rows += [(what, name) for what, name in own if name is not None]
    title = "Session" if session.name is None else f"Session {session.name}"
    return _box(title, rows, _strip(session))


def posterior_html(posterior: Posterior) -> str:
    """A posterior: sizes, evidence, and its certainty."""
    instances, stamps = posterior._shape
    rows = [
        ("instances", f"{instances:,}"),
        ("stamps", f"{stamps:,}"),
        ("expected positive instances", f"{posterior.positive.sum():.1f}"),
        ("log evidence", f"{posterior.log_evidence:.6g}"),
        ("log weight of the best alignment", f"{posterior.best_log_weight:.6g}"),
    ]
    return _box("Posterior over alignments", rows)


def learned_html(detector: EventDetector) -> str:
    """The annotator that a fitted detector has learned."""
    rows = [
        ("stamps", f"{_late(detector.delay_)} on average"),
        ("single stamps scatter by", f"{detector.spread_:.3g} (standard deviation)"),
        ("misses", f"{_share(detector.miss_rate_)} of the events"),
        *_for_nothing(detector),
        *_ends(detector),
        *_runs(detector),
        *_confusion(detector),
        ("log evidence", f"{detector.log_evidence_:.6g}"),
    ]
    if detector.threshold_ != 0.5:
        rows.append(("an event from a probability of", f"{detector.threshold_:.3g}"))
    if not detector.converged_:
        rows.append(("learning", f"stopped early, after {detector.n_iter_} iterations"))
    rows += _differences(detector.groups(backend="numpy"))
    rows += [("or else", _explanation(mode)) for mode in detector.modes_[1:]]
    return _box("The annotator", rows)


def _for_nothing(detector: EventDetector) -> list[tuple[str, str]]:
    """Stamps that no event gave. Other instances give none where labels form runs or events have
    several classes."""
    from_nowhere = f"{detector.background_rate_:.3g} per unit of time"
    if detector._labels == "chain" or detector._names():
        return [("stamps for nothing at", from_nowhere)]
    share = f"{_share(detector.false_rate_)} of the other instances"
    return [("stamps for nothing at", share), ("and from nowhere", from_nowhere)]


def _ends(detector: EventDetector) -> list[tuple[str, str]]:
    """How ends are told, if stamps tell them."""
    if detector.ends_ is None:
        return []
    own = detector.ends_
    return [
        ("ends are stamped", f"{_late(own['delay'])} on average"),
        ("and scatter by", f"{own['spread']:.3g} (standard deviation)"),
        ("misses of ends", f"{_share(own['miss_rate'])} of the events"),
        ("ends for nothing at", f"{own['background_rate']:.3g} per unit of time"),
    ]


def _runs(detector: EventDetector) -> list[tuple[str, str]]:
    """How labels form runs, if they do."""
    if detector._labels == "independent":
        return []
    return [
        ("events are runs, that last", f"{detector.run_length_:.3g} on average"),
        ("and are apart by", f"{1.0 / detector.onset_rate_:.3g} on average"),
    ]


def _confusion(detector: EventDetector) -> list[tuple[str, str]]:
    """What events of each class are recorded as, if there are several."""
    names = detector._names()
    if detector.confusion_ is None:
        return []
    told = []
    for name, shares in zip(names, detector.confusion_):
        recorded = [f"{other} {_share(share)}" for other, share in zip(names, shares)]
        told.append((f"events of {name} are recorded as", _some(recorded)))
    return told


def _differences(groups: Table) -> list[tuple[str, str]]:
    """What differs between groups: how far apart the lowest and the highest are."""
    rows = []
    for what, by in dict.fromkeys(zip(groups["what"], groups["by"])):
        own = groups[(groups["what"] == what) & (groups["by"] == by)]
        low, high = (int(find(own["value"])) for find in (np.argmin, np.argmax))
        ends = [f"{own['value'][k]:.3g} ({own['group'][k]})" for k in (low, high)]
        title = f"{what.replace('_', ' ')} of each {by}"
        rows.append((title, ends[0] if len(own) == 1 else f"{ends[0]} to {ends[1]}"))
    return rows


def _explanation(mode: Mode) -> str:
    """Another mode, in words."""
    words = (
        f"{_late(mode.delay)}, scattered by {mode.spread:.3g}; log evidence {mode.log_evidence:.6g}"
    )
    if mode.held_out is None:
        return words
    mean, error = mode.held_out
    return f"{words}, held out {mean:+.3g} ± {error:.2g} per session"


def _late(delay: float) -> str:
    """A delay for people."""
    return f"{abs(delay):.3g} {'early' if delay < 0.0 else 'late'}"


def _share(p: float) -> str:
    """A probability for people: further digits are noise of the optimiser."""
    return "less than 0.01 %" if p < 1e-4 else f"{100.0 * p:.3g} %"


def _box(title: str, rows: Iterable[tuple[str, str]], picture: str = "") -> str:
    cell = "padding:1px 12px 1px 0;text-align:left;background:none;border:none"
    lines = "".join(
        f'<tr style="background:none"><td style="{cell};opacity:0.7">{escape(name)}</td>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        f'<div style="margin:4px 0"><strong>{escape(title)}</strong>{picture}'
        f'<table style="border:none;border-collapse:collapse;margin:2px 0">{lines}</table></div>'
    )


def _features(session: Session) -> str:
    count = session.X.shape[1]
    if session.feature_names is None:
        return f"{count:,}"
    return f"{count:,}: {_some(session.feature_names)}"


def _some(names: Sequence[str]) -> str:
    """The first of some names."""
    return ", ".join([*names[:6], *(["…"] if len(names) > 6 else [])])


def _duration(session: Session) -> str:
    if len(session) == 0:
        return "nothing"
    length = float(session.times[-1] - session.times[0])
    if session.calendar is None:
        return f"{length:.6g}"
    first, last = np.datetime_as_string(session.dates(session.times[[0, -1]]), "s").tolist()
    zone = "" if session.calendar.time_zone is None else " (UTC)"
    return f"{_clock_time(length)}, from {_words(first)} to {_words(last)}{zone}"


def _words(date: str) -> str:
    return date.replace("T", " ")


def _clock_time(seconds: float) -> str:
    """Like 1:02:03."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _strip(session: Session) -> str:
    """A timeline: instances as strokes, those labelled positive in blue, stamps as triangles, from
    which a line leads to their ends."""
    ends = np.full(len(session.events), np.nan) if session.ends is None else session.ends
    moments = np.concatenate([session.times, session.events, ends[np.isfinite(ends)]])
    if len(moments) == 0:
        return ""
    low, high = float(moments.min()), float(moments.max())
    width = (high - low) or 1.0

    def places(times: NDArray[np.float64]) -> NDArray[Any]:
        return np.round(6.0 + 628.0 * (_thinned(times) - low) / width, 1)

    def lines() -> str:
        both = zip(places(session.events).tolist(), places(ends).tolist())
        path = "".join(f"M{x:g} 31H{end:g}" for x, end in both if np.isfinite(end))
        return f'<path d="{path}" fill="none" stroke="{ORANGE}"/>' if path else ""

    strokes = [_strokes(places(session.times), 8, 20, 'stroke="currentColor" opacity="0.45"')]
    if session.labels is not None:
        true = session.times[session.labels == 1]
        strokes.append(_strokes(places(true), 2, 20, f'stroke="{BLUE}" stroke-width="2"'))
    tips = "".join(f"M{x:g} 23l4 8h-8z" for x in places(session.events).tolist())
    stamps = f'<path d="{tips}" fill="{ORANGE}"/>' if tips else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 34" role="img" '
        'aria-label="instances and stamps over time" '
        'style="display:block;width:100%;max-width:640px;color:inherit">'
        f"{''.join(strokes)}{stamps}{lines()}</svg>"
    )


def _strokes(places: Sequence[float] | NDArray[Any], top: int, bottom: int, look: str) -> str:
    path = "".join(f"M{x:g} {top}V{bottom}" for x in np.asarray(places).tolist())
    return f'<path d="{path}" fill="none" {look}/>' if path else ""


def _thinned(times: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(times) <= STROKES:
        return times
    return np.asarray(times[np.linspace(0, len(times) - 1, STROKES).astype(int)])
