"""Evidence and gradients of all sessions in numba: the peer of the protocol.

Columns, not rows: with the silent instances divided out, column k of the forward table is a
running sum of r_i · p(z_k | t_i) · (column k − 1 before i), where r_i is the odds of a press at
instance i. A stamp's column is summed within the window that its delays reach (1e-16 of the peak)
and is constant after it. Every column is divided by its last entry, whose logarithm goes to the
evidence. In sessions of 264 instances this is several times faster than a dense table in log
space.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Standard deviations at which a bell is 1e-16 of its peak.
REACH = 8.6


@njit(cache=True)
def _log_sigmoid(x):
    return min(x, 0.0) - np.log1p(np.exp(-abs(x)))


@njit(cache=True)
def _before(column, first, i):
    """The column before instance i: nothing before its window, its last entry after it."""
    at = i - 1 - first
    if at < 0:
        return 0.0
    return column[min(at, len(column) - 1)]


@njit(cache=True)
def gradient(log_odds, annotator, times, stamps, instances, stamps_of):
    """Log evidence over all sessions, and its derivatives in log-odds and annotator."""
    logit = annotator[:2]
    delay, spread = annotator[2], np.exp(annotator[3])
    d_log_odds = np.empty_like(log_odds)
    d_annotator = np.zeros(4)
    log_silent = np.array([_log_sigmoid(-logit[0]), _log_sigmoid(-logit[1])])
    log_press = np.array([_log_sigmoid(logit[0]), _log_sigmoid(logit[1])])
    rate = np.exp(log_press)
    total = 0.0
    row = stamp = 0
    for session in range(len(instances)):
        count, presses = instances[session], stamps_of[session]
        t, z = times[row : row + count], stamps[stamp : stamp + presses]
        odds = np.empty(count)
        positive_silent, positive_press = np.empty(count), np.empty(count)
        positive = np.empty(count)
        for i in range(count):
            f = log_odds[row + i]
            log_negative, log_positive = _log_sigmoid(-f), _log_sigmoid(f)
            silent = [np.exp(log_negative + log_silent[0]), np.exp(log_positive + log_silent[1])]
            press = [np.exp(log_negative + log_press[0]), np.exp(log_positive + log_press[1])]
            quiet, loud = silent[0] + silent[1], press[0] + press[1]
            total += np.log(quiet)
            odds[i] = loud / quiet
            positive[i] = np.exp(log_positive)
            positive_silent[i], positive_press[i] = silent[1] / quiet, press[1] / loud
        pressed = np.zeros(count)
        found, d_noise = _session(t, z, odds, delay, spread, pressed)
        total += found
        d_annotator[2:] += d_noise
        for i in range(count):
            loud, quiet = pressed[i], 1.0 - pressed[i]
            after = loud * positive_press[i] + quiet * positive_silent[i]
            d_log_odds[row + i] = after - positive[i]
            d_annotator[0] += loud * (1 - positive_press[i]) * (1 - rate[0])
            d_annotator[0] -= quiet * (1 - positive_silent[i]) * rate[0]
            d_annotator[1] += loud * positive_press[i] * (1 - rate[1])
            d_annotator[1] -= quiet * positive_silent[i] * rate[1]
        row += count
        stamp += presses
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
            return -np.inf, np.zeros(2)
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
                before = _before(forward[starts[k - 1] : starts[k]], firsts[k - 1], i)
            sum_ += weights[at] * before
            forward[at] = sum_
        if sum_ == 0.0:
            return -np.inf, np.zeros(2)
        logs += np.log(sum_)
        forward[starts[k] : starts[k + 1]] /= sum_
    d_noise = np.zeros(2)
    # What the stamps after k weigh, if k is at instance i or before: a running sum from the end.
    after = np.ones(len(t) + 1)
    below = np.empty(len(t) + 1)
    for k in range(presses - 1, -1, -1):
        total = 0.0
        for i in range(firsts[k], ends[k]):
            at = starts[k] + i - firsts[k]
            before = 1.0
            if k > 0:
                before = _before(forward[starts[k - 1] : starts[k]], firsts[k - 1], i)
            total += weights[at] * before * after[i + 1]
        for i in range(firsts[k], ends[k]):
            at = starts[k] + i - firsts[k]
            before = 1.0
            if k > 0:
                before = _before(forward[starts[k - 1] : starts[k]], firsts[k - 1], i)
            share = weights[at] * before * after[i + 1] / total
            pressed[i] += share
            scaled = (z[k] - delay - t[i]) / spread
            d_noise[0] += share * scaled / spread
            d_noise[1] += share * (scaled * scaled - 1.0)
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
                return -np.inf, np.zeros(2)
            for i in range(low, high + 1):
                after[i] = below[i] / scale
    return logs, d_noise
