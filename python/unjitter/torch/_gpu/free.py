"""Sums over alignments without order: section 19 of docs/model.md.

After belief propagation (`messages.py`) a last visit to all stamps adds up the evidence and the
responsibilities.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

from .messages import claims_of, nothing_claimed, offer_of, settle, taken
from .parts import (
    SIZES,
    begin,
    bound,
    components,
    density_of,
    duration_of,
    log1p,
    log_background_of,
    place,
    pull_back,
    pull_back_noise,
    sigmoids,
    softplus,
)


@triton.jit
def emit(emitted, weights, n, numbers, CHUNK: tl.constexpr, POISSON: tl.constexpr):
    """What the instances add to the log evidence. Replaces their claims by what `pull_back` takes:
    the sum of claims r·Σμ, or log Π (1 + λμ) and Σ λμ/(1 + λμ) of both labels."""
    total = tl.zeros((CHUNK,), tl.float64)
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        i = start + k
        mask = i < n
        weight = tl.load(weights + i, mask=mask, other=0.0)
        if POISSON:
            log0 = tl.load(emitted + i, mask=mask, other=0.0)
            log1 = tl.load(emitted + n + i, mask=mask, other=0.0)
            given0 = tl.load(emitted + 2 * n + i, mask=mask, other=0.0)
            given1 = tl.load(emitted + 3 * n + i, mask=mask, other=0.0)
            silent0, silent1 = sigmoids(weight)
            highest = tl.maximum(
                tl.where(silent0 > 0.0, log0, 0.0), tl.where(silent1 > 0.0, log1, 0.0)
            )
            joint0 = tl.where(silent0 > 0.0, silent0 * tl.exp(log0 - highest), 0.0)
            joint1 = tl.where(silent1 > 0.0, silent1 * tl.exp(log1 - highest), 0.0)
            both = joint0 + joint1
            total += tl.where(mask, tl.log(both) + highest, 0.0)
            quiet = tl.exp(-highest)
            tl.store(emitted + i, (joint0 - silent0 * quiet) / both, mask=mask)
            tl.store(emitted + n + i, (joint1 - silent1 * quiet) / both, mask=mask)
            tl.store(emitted + 2 * n + i, joint0 / both * given0, mask=mask)
            tl.store(emitted + 3 * n + i, joint1 / both * given1, mask=mask)
        else:
            stamped = weight * tl.load(emitted + i, mask=mask, other=0.0)
            total += tl.where(mask, log1p(stamped), 0.0)
            tl.store(emitted + i, stamped / (1.0 + stamped), mask=mask)
    return tl.sum(total, axis=0)


# No kernel of its own for a number that happens to be 1, or a multiple of 16.
@triton.jit(do_not_specialize=SIZES)
def free_kernel(
    log_odds, numbers, times, stamps, lengths, event_lengths, offsets, event_offsets,
    values, d_log_odds, d_params, status, cells, totals, carried, firsts, ends, weights, running,
    emitted,
    instances, time_stride, most_stamps, steps_of_search, room, rounds,
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
    weights, running = weights + at, running + at
    emitted = emitted + (4 * at if POISSON else at)
    cells = cells + stamp_at * room
    totals, firsts, ends = totals + stamp_at, firsts + stamp_at, ends + stamp_at
    d_params = d_params + b * (2 + 3 * C)
    value = begin(log_odds, weights, emitted, n, numbers, POISSON, CHUNK)
    widest = place(
        times, stamps, firsts, ends, n, m, steps_of_search, UNIT, room, numbers, C, CP, POISSON,
        CHUNK,
    )  # fmt: skip
    tl.debug_barrier()
    log_weight, delay, inverse, log_peak = components(numbers, C, CP)
    background = tl.exp(log_background_of(numbers, C))
    low, high = softplus(tl.load(numbers)), softplus(tl.load(numbers + 1))
    k = tl.arange(0, K)
    round, moved = settle(
        times, stamps, firsts, ends, weights, cells, totals, carried + b.to(tl.int64) * 2 * S * K,
        m, room, rounds, low, high, delay, inverse, log_peak, background, UNIT, TOLERANCE, K, S,
        POISSON,
    )  # fmt: skip
    nowhere = tl.full((), 0.0, tl.float64)
    shares = tl.zeros((CP, K), tl.float64)
    steps = tl.zeros((CP, K), tl.float64)
    squares = tl.zeros((CP, K), tl.float64)
    for stamp in range(0, m):
        first, end = tl.load(firsts + stamp), tl.load(ends + stamp)
        edge = tl.load(ends + stamp - 1, mask=stamp > 0, other=0)
        i = first + k
        is_own = i < end
        beyond = tl.load(cells + tl.cast(stamp, tl.int64) * room + k, mask=is_own, other=0.0)
        t = tl.load(times + i, mask=is_own, other=0.0)
        every, q = density_of((tl.load(stamps + stamp) - t) / UNIT, delay, inverse, log_peak)
        density = tl.where(is_own, tl.sum(every, axis=0), 0.0)
        weight = tl.load(weights + i, mask=is_own, other=0.0)
        near = tl.load(running + i, mask=is_own & (i < edge), other=nothing_claimed(POISSON))
        offer = offer_of(weight, near, beyond.to(tl.float64), low, high, POISSON)
        terms = density * offer
        all_claims, all_totals = claims_of(density[None, :], terms[None, :], background)
        claim, total = tl.sum(all_claims, axis=0), tl.sum(all_totals, axis=0)
        after = taken(near, claim, low, high, POISSON)
        agreed = tl.sum(tl.where(is_own, log1p(claim * offer), 0.0), axis=0)
        value += tl.log(total) - agreed
        nowhere += background / total
        own = every * tl.where(density > 0.0, terms / total / density, 0.0)[None, :]
        shares += own
        steps += own * q
        squares += own * (q * q - 1.0)
        tl.debug_barrier()
        tl.store(running + i, after, mask=is_own)
        if POISSON:
            add(emitted + i, log1p(low * claim), is_own)
            add(emitted + n + i, log1p(high * claim), is_own)
            add(emitted + 2 * n + i, low * claim / (1.0 + low * claim), is_own)
            add(emitted + 3 * n + i, high * claim / (1.0 + high * claim), is_own)
        tl.debug_barrier()
    value += emit(emitted, weights, n, numbers, CHUNK, POISSON)
    tl.debug_barrier()
    pull_back(log_odds, d_log_odds, emitted, n, numbers, d_params, POISSON, CHUNK)
    pull_back_noise(d_params, log_weight, inverse, shares, steps, squares, C, CP)
    empty = background * duration_of(times, stamps, n, m, UNIT)
    tl.store(d_params + 1 + 3 * C, nowhere - empty)
    tl.store(values + b, value - empty - m.to(tl.float64) * LOG_UNIT)
    tl.atomic_max(status, widest)
    tl.atomic_max(status + 1, round)
    tl.atomic_max(status + 2, tl.where(moved > TOLERANCE, round, 0))


@triton.jit
def add(place, number, mask):
    tl.store(place, tl.load(place, mask=mask, other=0.0) + number, mask=mask)
