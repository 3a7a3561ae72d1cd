"""Evidence and gradients of all sessions in numba: the peer of the protocol.

Columns, not rows: with the silent instances divided out, column k of the forward table is a
running sum of r_i · p(z_k | t_i) · (column k − 1 before i), where r_i is the odds of a press at
instance i. A stamp's column is summed within the window that its delays reach (1e-16 of the peak)
and is constant after it. Every column is divided by its last entry, whose logarithm goes to the
evidence. In sessions of 264 instances this is ten times faster than a dense table in log
space.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Standard deviations at which a bell is 1e-16 of its peak.
REACH = 8.6


@njit(cache=True)
def _before(forward, start, first, end, i):
    """A column before instance i: nothing before its window, its last entry (one) after it."""
    if i <= first:
        return 0.0
    return 1.0 if i >= end else forward[start + i - 1 - first]


@njit(cache=True)
def gradient(log_odds, annotator, times, stamps, instances, stamps_of):
    """Log evidence over all sessions, and its derivatives in log-odds and annotator."""
    delay, spread = annotator[2], np.exp(annotator[3])
    silence = 1.0 / (1.0 + np.exp(annotator[:2]))
    rate = 1.0 / (1.0 + np.exp(-annotator[:2]))
    d_log_odds, d_annotator = np.empty_like(log_odds), np.zeros(4)
    odds, pressed = np.empty_like(log_odds), np.zeros_like(log_odds)
    positive = np.empty_like(log_odds)
    total = 0.0
    for i in range(len(log_odds)):
        e = np.exp(-abs(log_odds[i]))
        p = 1.0 / (1.0 + e) if log_odds[i] >= 0.0 else e / (1.0 + e)
        q = e / (1.0 + e) if log_odds[i] >= 0.0 else 1.0 / (1.0 + e)
        quiet = q * silence[0] + p * silence[1]
        total += np.log(quiet)
        odds[i] = (q * rate[0] + p * rate[1]) / quiet
        positive[i] = p
    row = stamp = 0
    for count, presses in zip(instances, stamps_of):
        rows, of = slice(row, row + count), slice(stamp, stamp + presses)
        found, d_delay, d_spread = _session(
            times[rows], stamps[of], odds[rows], delay, spread, pressed[rows]
        )
        total += found
        d_annotator[2] += d_delay
        d_annotator[3] += d_spread
        row += count
        stamp += presses
    for i in range(len(log_odds)):
        p, loud, quiet = positive[i], pressed[i], 1.0 - pressed[i]
        after_press = p * rate[1] / ((1 - p) * rate[0] + p * rate[1])
        after_silence = p * silence[1] / ((1 - p) * silence[0] + p * silence[1])
        d_log_odds[i] = loud * after_press + quiet * after_silence - p
        d_annotator[0] += loud * (1 - after_press) * silence[0]
        d_annotator[0] -= quiet * (1 - after_silence) * rate[0]
        d_annotator[1] += loud * after_press * silence[1]
        d_annotator[1] -= quiet * after_silence * rate[1]
    return total, d_log_odds, d_annotator


@njit(cache=True)
def _session(t, z, odds, delay, spread, pressed):
    """What the stamps of one session add to the log evidence, and its derivatives in delay and log
    spread; adds to `pressed` the probability of a stamp at each instance."""
    presses = len(z)
    firsts, ends = np.empty(presses, np.int64), np.empty(presses, np.int64)
    for k in range(presses):
        firsts[k] = np.searchsorted(t, z[k] - delay - REACH * spread)
        ends[k] = np.searchsorted(t, z[k] - delay + REACH * spread)
        if firsts[k] == ends[k]:
            return -np.inf, 0.0, 0.0
    starts = np.zeros(presses + 1, np.int64)
    starts[1:] = np.cumsum(ends - firsts)
    weights, forward = np.empty(starts[-1]), np.empty(starts[-1])
    logs = -presses * (np.log(spread) + 0.5 * np.log(2 * np.pi))
    for k in range(presses):
        sum_ = 0.0
        for i in range(firsts[k], ends[k]):
            at = starts[k] + i - firsts[k]
            scaled = (z[k] - delay - t[i]) / spread
            weights[at] = odds[i] * np.exp(-0.5 * scaled * scaled)
            before = 1.0
            if k > 0:
                before = _before(forward, starts[k - 1], firsts[k - 1], ends[k - 1], i)
            sum_ += weights[at] * before
            forward[at] = sum_
        if sum_ == 0.0:
            return -np.inf, 0.0, 0.0
        logs += np.log(sum_)
        forward[starts[k] : starts[k + 1]] /= sum_
    d_delay = d_spread = 0.0
    # What the stamps after k weigh, if k is at instance i or before: a running sum from the end.
    after = np.ones(len(t) + 1)
    below = np.empty(len(t) + 1)
    for k in range(presses - 1, -1, -1):
        total = 0.0
        for i in range(firsts[k], ends[k]):
            at = starts[k] + i - firsts[k]
            before = 1.0
            if k > 0:
                before = _before(forward, starts[k - 1], firsts[k - 1], ends[k - 1], i)
            total += weights[at] * before * after[i + 1]
        for i in range(firsts[k], ends[k]):
            at = starts[k] + i - firsts[k]
            before = 1.0
            if k > 0:
                before = _before(forward, starts[k - 1], firsts[k - 1], ends[k - 1], i)
            share = weights[at] * before * after[i + 1] / total
            pressed[i] += share
            scaled = (z[k] - delay - t[i]) / spread
            d_delay += share * scaled / spread
            d_spread += share * (scaled * scaled - 1.0)
        if k > 0:
            low, high = firsts[k - 1], ends[k - 1]
            sum_ = 0.0
            for i in range(ends[k] - 1, low - 1, -1):
                if i >= firsts[k]:
                    sum_ += weights[starts[k] + i - firsts[k]] * after[i + 1]
                if i <= high:
                    below[i] = sum_
            for i in range(ends[k], high + 1):
                below[i] = 0.0
            scale = below[low : high + 1].max()
            if scale == 0.0:
                return -np.inf, 0.0, 0.0
            for i in range(low, high + 1):
                after[i] = below[i] / scale
    return logs, d_delay, d_spread
