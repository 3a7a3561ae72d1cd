"""Recordings of MNE-Python: annotations as stamps, windows or beats as instances, and aligned
stamps back as annotations.

    stamps = unjitter.mne.stamps(raw, only="blink")
    detector = EventDetector().fit([unjitter.mne.session(raw, stamps, length=0.5, step=0.1)])
    aligned = detector.align(unjitter.mne.session(raw, stamps, length=0.5, step=0.1))
    unjitter.mne.annotate(raw, stamps, aligned)

All seconds here count from the first sample that the Raw has now, as ``raw.times`` does. MNE counts
onsets of annotations from ``meas_date`` and samples of events from ``first_samp``, both before a
crop; that difference is handled on the way in and out. ``pip install 'unjitter[mne]'`` brings MNE.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._recording import Places, Recording, chosen, places_of
from ._session import Session
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

try:
    import mne
except ImportError as error:
    raise ImportError("unjitter.mne needs MNE-Python: pip install 'unjitter[mne]'") from error

__all__ = ["annotate", "annotations", "session", "stamps"]

# What MNE itself leaves out where it makes events of annotations.
NO_STAMPS = ("bad", "edge")
# What stands before the descriptions of stamps that were put right here.
ALIGNED = "aligned/"
# What only these have among their extras, whatever stands before their descriptions.
OURS = ("stamp", "p_spurious")


def stamps(
    raw: Any,
    only: str | Iterable[str] | None = None,
    *,
    events: ArrayLike | None = None,
    event_id: Mapping[str, int] | None = None,
    first_sample: int | None = None,
) -> Stamps:
    """The annotations of a Raw as stamps, with their descriptions and durations.

    Parameters
    ----------
    raw : mne.io.Raw
    only : str or iterable of str, optional
        The descriptions wanted; by default all but those that begin with "bad" or "edge", and the
        aligned ones that :func:`annotate` added.
    events : array-like of shape (n_events, 3), optional
        Instead of the annotations, events as ``mne.find_events`` gives them.
    event_id : mapping of str to int, optional
        Names of the codes of `events`; others are left out. By default a code is its own name.
    first_sample : int, optional
        The number that `events` give to the first sample of `raw`: ``raw.first_samp`` by default,
        as all of MNE does; 0 or 1 if another program counted from the first sample.

    Returns
    -------
    Stamps
        In seconds from the first sample, with its date as origin if ``meas_date`` is known.

    Examples
    --------
    >>> import mne, numpy as np
    >>> import unjitter.mne
    >>> raw = mne.io.RawArray(np.zeros((1, 1000)), mne.create_info(1, 100.0), verbose=False)
    >>> _ = raw.set_annotations(mne.Annotations([4.2, 7.5], [0.0, 0.3], ["cough", "sneeze"]))
    >>> unjitter.mne.stamps(raw.crop(tmin=2.0))
    Stamps(2 stamps from 2.2 s to 5.5 s, 'cough' 1, 'sneeze' 1)
    """
    origin = raw.info["meas_date"]
    if origin is not None:
        origin += timedelta(seconds=raw.first_time)
    if events is not None:
        return chosen(_of_events(raw, events, event_id, first_sample, origin), only)
    if event_id is not None or first_sample is not None:
        raise ValueError("event_id and first_sample are for events, and none are given")
    own = raw.annotations
    descriptions = [str(text) for text in own.description]
    seconds = np.asarray(own.onset, dtype=np.float64) - raw.first_time
    if only is None:
        kept = [
            not text.lower().startswith(NO_STAMPS) and not _is_ours(text, extras)
            for text, extras in zip(descriptions, own.extras)
        ]
    else:
        kept = [True] * len(descriptions)
    found = Stamps(
        seconds[kept],
        [text for text, keep in zip(descriptions, kept) if keep],
        np.asarray(own.duration, dtype=np.float64)[kept],
        origin,
    )
    return chosen(found, only)


def session(
    raw: Any,
    stamps: Stamps,
    *,
    picks: Any = "data",
    peaks: ArrayLike | None = None,
    first_sample: int | None = None,
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    **windows: Any,
) -> Session:
    """A session of sliding windows over channels; or of beats, where their samples are given.

    Samples within annotations that begin with "bad" count as missing.

    Parameters
    ----------
    raw : mne.io.Raw
    stamps : Stamps
        As :func:`stamps` gives them. Those that last are bouts, as in :class:`unjitter.Session`;
        ``Stamps(stamps.times, stamps.labels)`` uses the beginnings alone.
    picks : str, list or slice
        The channels, as in ``raw.pick``; by default those of data that are not marked as bad.
    peaks : array-like of shape (n_peaks,) or (n_peaks, 3), optional
        The samples of peaks, or events such as those of ``mne.preprocessing.find_ecg_events``.
    first_sample : int, optional
        The number that `peaks` give to the first sample; as in :func:`stamps`.
    name, subject, observed
        As in :class:`unjitter.Session`; `observed` in seconds from the first sample.
    classes : array-like of str of shape (n_stamps,), optional
        As in :class:`unjitter.Session`: ``stamps.labels`` where descriptions are classes of events.
    **windows
        Options of :func:`unjitter.signal.windows`, such as ``length`` and ``step``.

    Returns
    -------
    Session

    Examples
    --------
    >>> import mne, numpy as np
    >>> import unjitter.mne
    >>> info = mne.create_info(["Fp1"], 100.0, "eeg")
    >>> samples = np.random.default_rng(0).normal(size=(1, 1000))
    >>> raw = mne.io.RawArray(samples, info, verbose=False)
    >>> _ = raw.set_annotations(mne.Annotations([4.2, 7.5], 0.0, "blink"))
    >>> unjitter.mne.session(raw, unjitter.mne.stamps(raw), length=1.0, step=0.5)
    Session(19 instances x 13 features, 2 stamps)
    """
    picked = raw.copy().pick(picks, exclude="bads" if isinstance(picks, str) else ())
    samples = picked.get_data(reject_by_annotation="NaN")
    times = np.asarray(raw.times, dtype=np.float64)
    channels = dict(zip(picked.ch_names, samples))
    recording = Recording(channels, dict.fromkeys(channels, times))
    moments = None if peaks is None else _seconds(raw, "peaks", peaks, first_sample)
    own = {"name": name, "subject": subject, "observed": observed, "classes": classes}
    return recording.session(stamps, moments, windows, **own)


def annotations(
    raw: Any, stamps: Stamps, aligned: Any = None, *, prefix: str = ALIGNED
) -> mne.Annotations:
    """Stamps as annotations, which ``raw.set_annotations`` puts where they belong.

    Parameters
    ----------
    raw : mne.io.Raw
        What they are to be set on; it stays as it is.
    stamps : Stamps
        In seconds from the first sample.
    aligned : DataFrame, optional
        The table of :meth:`unjitter.EventDetector.align` for a session with these stamps. Each is
        then at its ``time``, and its ``extras`` have the ``stamp`` as it was given, ``low``,
        ``high`` and ``p_spurious``. Bouts last until their ``end``, and have ``end_stamp``,
        ``end_low``, ``end_high`` and ``end_p_spurious``, too; stamps of classes have their
        ``aligned_class`` and ``p_class``.
    prefix : str
        What stands before the descriptions of aligned stamps. MNE reads "aligned/blink" as a
        blink too.

    Returns
    -------
    mne.Annotations

    Examples
    --------
    >>> import mne, numpy as np
    >>> import unjitter.mne
    >>> raw = mne.io.RawArray(np.zeros((1, 1000)), mne.create_info(1, 100.0), verbose=False)
    >>> unjitter.mne.annotations(raw, unjitter.stamps.Stamps([1.5], ["cough"]))
    <Annotations | 1 segment: cough (1)>
    """
    places = None if aligned is None else places_of(aligned, stamps.times, stamps.durations)
    seconds = stamps.times if places is None else places.times
    dated = raw.info["meas_date"] is not None
    before = "" if places is None else prefix
    return mne.Annotations(
        # Without a date MNE takes onsets from the first sample, and adds what was cropped itself.
        seconds + raw.first_time if dated else seconds,
        stamps.durations if places is None else places.durations(stamps),
        [f"{before}{label or 'stamp'}" for label in stamps.labels],
        orig_time=raw.info["meas_date"],
        extras=None if places is None else _extras(stamps, places),
    )


def annotate(raw: Any, stamps: Stamps, aligned: Any = None, *, prefix: str = ALIGNED) -> Any:
    """Add stamps to the annotations of a Raw; `annotations` explains the parameters. Where the same
    stamps were aligned before, by the same prefix, they move.

    Returns
    -------
    mne.io.Raw
        The same object.

    Examples
    --------
    >>> import mne, numpy as np
    >>> import unjitter.mne
    >>> raw = mne.io.RawArray(np.zeros((1, 1000)), mne.create_info(1, 100.0), verbose=False)
    >>> unjitter.mne.annotate(raw, unjitter.stamps.Stamps([1.5], ["cough"])).annotations.onset
    array([1.5])
    """
    new = annotations(raw, stamps, aligned, prefix=prefix)
    before = raw.annotations.copy()
    if aligned is not None:
        again = {_of_stamp(one) for one in new}
        before.delete([k for k, one in enumerate(before) if _of_stamp(one) in again])
    if raw.info["meas_date"] is None:
        before.onset = before.onset - raw.first_time
    return raw.set_annotations(before + new)


def _of_events(
    raw: Any,
    events: ArrayLike,
    event_id: Mapping[str, int] | None,
    first_sample: int | None,
    origin: Any,
) -> Stamps:
    table = np.asarray(events)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"events have shape {table.shape}, expected (n_events, 3)")
    codes = [int(code) for code in table[:, 2]]
    names = (
        {code: str(code) for code in codes}
        if event_id is None
        else {code: name for name, code in event_id.items()}
    )
    kept = [code in names for code in codes]
    seconds = _seconds(raw, "events", table, first_sample)[kept]
    return Stamps(seconds, [names[code] for code in codes if code in names], None, origin)


def _seconds(raw: Any, what: str, samples: ArrayLike, first_sample: int | None) -> FloatArray:
    """Seconds from the first sample to samples by their numbers, or to those of events."""
    table = np.asarray(samples)
    if table.ndim == 2 and table.shape[1] == 3:
        table = table[:, 0]
    first = raw.first_samp if first_sample is None else first_sample
    return (finite(what, table) - first) / float(raw.info["sfreq"])


def _is_ours(description: str, extras: Mapping[str, Any] | None) -> bool:
    """Whether an annotation is a stamp that was put right here. Some formats keep no extras; text
    has those of one annotation for all, empty."""
    has_ours = all((extras or {}).get(name) not in (None, "") for name in OURS)
    return has_ours or description.startswith(ALIGNED)


def _of_stamp(annotation: Mapping[str, Any]) -> tuple[str, Any]:
    """The description of an annotation, and the stamp that it is about if it was put right here."""
    extras = annotation.get("extras") or {}
    return str(annotation["description"]), extras.get("stamp")


def _extras(stamps: Stamps, places: Places) -> list[dict[str, float | str]]:
    """What is known of each stamp: one without an end has nothing to say of it."""
    columns = places.told(stamps)
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return [{name: _plain(value) for name, value in row.items() if value == value} for row in rows]


def _plain(value: Any) -> float | str:
    return value if isinstance(value, str) else float(value)
