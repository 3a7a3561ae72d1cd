"""Sums over alignments without order: section 19 of docs/model.md.

After belief propagation (`messages.py`) a last pass over the stamps adds up the responsibilities,
and one over the instances the gradient in their log-odds.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

from .messages import CREEPING, MOST, claims_of, densities, following, offer_of, settle, window
from .parts import (
    SIZES,
    begin,
    bound,
    components,
    duration_of,
    fault_if,
    fault_of,
    log1p,
    log_background_of,
    place,
    pull_back_chunk,
    pull_back_noise,
    search,
    sigmoids,
    softplus,
)


@triton.jit
def find_earliest(ends, earliest, n, m, STEPS, CHUNK: tl.constexpr):
    """The first stamp whose window has not ended before each instance."""
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        i = start + k
        tl.store(earliest + i, search(ends, m, i, STEPS, True).to(tl.float32), mask=i < n)


@triton.jit
def own_sum(log0, log1, given0, given1, weight, POISSON: tl.constexpr):
    """Of instances, from their claims (log Π (1 + λμ) and Σ λμ/(1 + λμ) of both labels, or Σμ):
    what they add to the log evidence, and what `pull_back_chunk` takes."""
    if POISSON:
        silent0, silent1 = sigmoids(weight)
        highest = tl.maximum(tl.where(silent0 > 0.0, log0, 0.0), tl.where(silent1 > 0.0, log1, 0.0))
        joint0 = tl.where(silent0 > 0.0, silent0 * tl.exp(log0 - highest), 0.0)
        joint1 = tl.where(silent1 > 0.0, silent1 * tl.exp(log1 - highest), 0.0)
        both = joint0 + joint1
        quiet = tl.exp(-highest)
        e0, e1 = (joint0 - silent0 * quiet) / both, (joint1 - silent1 * quiet) / both
        return tl.log(both) + highest, e0, e1, joint0 / both * given0, joint1 / both * given1
    else:
        claimed = weight * log0
        e = claimed / (1.0 + claimed)
        return log1p(claimed), e, e, e, e


@triton.jit
def emit(
    log_odds, d_log_odds, weights, cells, firsts, n, m, room, low, high, numbers, d_params, fault,
    CHUNK: tl.constexpr, POISSON: tl.constexpr,
):  # fmt: skip
    """What the instances add to the log evidence; their gradient replaces the earliest stamps."""
    total = tl.zeros((CHUNK,), tl.float64)
    d_rate0, d_rate1 = tl.zeros((CHUNK,), tl.float64), tl.zeros((CHUNK,), tl.float64)
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        i = start + k
        mask = i < n
        log0, log1 = tl.zeros((CHUNK,), tl.float64), tl.zeros((CHUNK,), tl.float64)
        given0, given1 = tl.zeros((CHUNK,), tl.float64), tl.zeros((CHUNK,), tl.float64)
        stamp = tl.load(d_log_odds + i, mask=mask, other=0.0).to(tl.int32)
        is_open, first = following(firsts, stamp, i, mask, m)
        while tl.max(is_open.to(tl.int32), axis=0) > 0:
            at = cells + stamp.to(tl.int64) * room + (i - first)
            claim = tl.load(at, mask=is_open, other=0.0).to(tl.float64)
            if POISSON:
                log0 += log1p(low * claim)
                log1 += log1p(high * claim)
                given0 += low * claim / (1.0 + low * claim)
                given1 += high * claim / (1.0 + high * claim)
            else:
                log0 += claim
            stamp += 1
            is_open, first = following(firsts, stamp, i, mask, m)
        weight = tl.load(weights + i, mask=mask, other=0.0).to(tl.float64)
        added, e0, e1, s0, s1 = own_sum(log0, log1, given0, given1, weight, POISSON)
        total += tl.where(mask, added, 0.0)
        f = tl.load(log_odds + i, mask=mask, other=0.0).to(tl.float64) + fault
        d_f, own0, own1 = pull_back_chunk(f, e0, e1, s0, s1, numbers, POISSON)
        tl.store(d_log_odds + i, d_f, mask=mask)
        d_rate0 += tl.where(mask, own0, 0.0)
        d_rate1 += tl.where(mask, own1, 0.0)
    tl.store(d_params, tl.sum(d_rate0, axis=0))
    tl.store(d_params + 1, tl.sum(d_rate1, axis=0))
    return tl.sum(total, axis=0)


# No kernel of its own for a number that happens to be 1, or a multiple of 16.
@triton.jit(do_not_specialize=SIZES)
def free_kernel(
    log_odds, numbers, times, stamps, lengths, event_lengths, offsets, event_offsets,
    values, d_log_odds, d_params, status, cells, damped, totals, firsts, ends, weights,
    instances, time_stride, most_stamps, steps_of_search, room, limit, rounds,
    UNIT: tl.constexpr, LOG_UNIT: tl.constexpr, TOLERANCE: tl.constexpr, C: tl.constexpr,
    CP: tl.constexpr, K: tl.constexpr, S: tl.constexpr, POISSON: tl.constexpr,
    LISTED: tl.constexpr,
    RAGGED: tl.constexpr, EVENTS_LISTED: tl.constexpr, EVENTS_RAGGED: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0)
    at, n = bound(b, offsets, instances, lengths, instances, LISTED, RAGGED)
    stamp_at, m = bound(
        b, event_offsets, most_stamps, event_lengths, most_stamps, EVENTS_LISTED, EVENTS_RAGGED
    )
    time_at = at if LISTED else b.to(tl.int64) * time_stride
    log_odds, d_log_odds, times, stamps = (
        log_odds + at, d_log_odds + at, times + time_at, stamps + stamp_at,
    )  # fmt: skip
    weights, cells = weights + at, cells + stamp_at * room
    if POISSON:
        damped = damped + stamp_at * room
    totals, firsts, ends = totals + stamp_at, firsts + stamp_at, ends + stamp_at
    d_params = d_params + b * (2 + 3 * C)
    value = begin(log_odds, weights, n, numbers, POISSON, CHUNK)
    widest = place(
        times, stamps, firsts, ends, n, m, steps_of_search, UNIT, room, numbers, C, CP, POISSON,
        CHUNK,
    )  # fmt: skip
    tl.debug_barrier()
    # The gradient's place keeps the earliest stamps until they are no longer needed.
    find_earliest(ends, d_log_odds, n, m, steps_of_search, CHUNK)
    tl.debug_barrier()
    log_weight, delay, inverse, log_peak = components(numbers, C, CP)
    background = tl.exp(log_background_of(numbers, C))
    low, high = softplus(tl.load(numbers)), softplus(tl.load(numbers + 1))
    round, moved = settle(
        times, stamps, firsts, ends, d_log_odds, weights, cells, damped, totals, n, m, room, rounds,
        low, high, delay, inverse, log_peak, background, UNIT, TOLERANCE, K, S, CHUNK, POISSON,
    )  # fmt: skip
    fault = fault_of(times, n, CHUNK) + fault_of(stamps, m, CHUNK)
    fault += fault_if((widest > limit) | (moved > CREEPING) | (value != value))
    evidence, nowhere = tl.zeros((S,), tl.float64), tl.zeros((S,), tl.float64)
    shares = tl.zeros((CP, S * K), tl.float64)
    steps = tl.zeros((CP, S * K), tl.float64)
    squares = tl.zeros((CP, S * K), tl.float64)
    for start in range(0, m, S):
        stamp = start + tl.arange(0, S)
        is_there = stamp < m
        i, is_own, delays = window(times, stamps, firsts, ends, stamp, m, UNIT, K)
        every, q, density = densities(delays, is_own, delay, inverse, log_peak, S, K)
        weight = tl.load(weights + i, mask=is_own, other=0.0).to(tl.float64)
        kept = cells + stamp.to(tl.int64)[:, None] * room + tl.arange(0, K)[None, :]
        others = tl.load(kept, mask=is_own, other=0.0).to(tl.float64)
        offer = offer_of(weight, others, low, high, POISSON)
        terms = density * offer
        claim, total = claims_of(density, terms, background)
        tl.store(kept, tl.minimum(claim, MOST), mask=is_own)
        agreed = tl.sum(tl.where(is_own, log1p(claim * offer), 0.0), axis=1)
        evidence += tl.where(is_there, tl.log(total) - agreed, 0.0)
        nowhere += tl.where(is_there, background / total, 0.0)
        share = tl.where(density > 0.0, terms / total[:, None] / density, 0.0)
        own = every * tl.reshape(share, (S * K,))[None, :]
        shares += own
        steps += own * q
        squares += own * (q * q - 1.0)
    tl.debug_barrier()
    value += tl.sum(evidence, axis=0) + emit(
        log_odds, d_log_odds, weights, cells, firsts, n, m, room, low, high, numbers, d_params,
        fault, CHUNK, POISSON,
    )  # fmt: skip
    pull_back_noise(d_params, log_weight, inverse, shares, steps, squares, fault, C, CP)
    empty = background * duration_of(times, stamps, n, m, UNIT)
    tl.store(d_params + 1 + 3 * C, tl.sum(nowhere, axis=0) - empty + fault)
    tl.store(values + b, value - empty - m.to(tl.float64) * LOG_UNIT + fault)
    tl.atomic_max(status, widest)
    tl.atomic_max(status + 1, round)
    tl.atomic_max(status + 2, tl.where(moved > TOLERANCE, round, 0))
