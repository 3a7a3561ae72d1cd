"""Sums over alignments that keep the order of the stamps: sections 4 and 6 of docs/model.md.

A(l, ·) holds the ways to explain the first l stamps by instances up to i, B(l, ·) those to explain
the stamps after l by instances from i on. Both are kept inside the stamp's window; before a window
A is one number, behind it B is, and on the other side both are flat. Each column is divided by its
total. A cell keeps A until the way back replaces it by B; Poisson counts keep the two H as
logarithms in single precision instead, and two columns of A or B.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

from .parts import (
    SIZES,
    begin,
    bound,
    components,
    density_of,
    duration_of,
    fault_if,
    fault_of,
    log_background_of,
    place,
    pull_back,
    pull_back_noise,
    sigmoids,
    softplus,
)


@triton.jit
def column(cells, stamp, room, POISSON: tl.constexpr):
    """Where the column of a stamp is kept: Poisson counts keep that of the last two alone."""
    return cells + (tl.cast(stamp % 2, tl.int64) if POISSON else tl.cast(stamp, tl.int64)) * room


@triton.jit
def before(cells, heads, firsts, ends, stamp, i, mask, room, POISSON: tl.constexpr):
    """A of the stamps before one, up to instance i, no further than one before the last window."""
    first = tl.load(firsts + stamp - 1, mask=stamp > 0, other=0)
    end = tl.load(ends + stamp - 1, mask=stamp > 0, other=1)
    head = tl.load(heads + stamp - 1, mask=stamp > 0, other=1.0)
    at = tl.minimum(i, end - 1) - first
    kept = (
        column(cells, stamp + 1, room, POISSON)
        if POISSON
        else column(cells, stamp - 1, room, POISSON)
    )
    found = tl.load(kept + at, mask=mask & (at >= 0) & (stamp > 0), other=1.0)
    return tl.where(at >= 0, found, head)


@triton.jit
def beyond(cells, heads, firsts, ends, stamp, m, i, mask, room, POISSON: tl.constexpr):
    """B of the stamps after one, from instance i on, no further than one behind the next window."""
    has_next = stamp + 1 < m
    first = tl.load(firsts + stamp + 1, mask=has_next, other=0)
    end = tl.load(ends + stamp + 1, mask=has_next, other=1 << 30)
    head = tl.load(heads + stamp + 1, mask=has_next, other=1.0)
    at = tl.maximum(i, first) - first
    kept = column(cells, stamp + 1, room, POISSON)
    found = tl.load(kept + at, mask=mask & (i < end) & has_next, other=1.0)
    return tl.where(i < end, found, head)


@triton.jit
def add(place, number, mask):
    tl.store(place, tl.load(place, mask=mask, other=0.0) + number, mask=mask)


# No kernel of its own for a number that happens to be 1, or a multiple of 16.
@triton.jit(do_not_specialize=SIZES)
def ordered_kernel(
    log_odds, numbers, times, stamps, lengths, event_lengths, offsets, event_offsets,
    values, d_log_odds, d_params, status, cells, logs, totals, heads, firsts, ends, weights,
    running, emitted,
    instances, time_stride, most_stamps, steps_of_search, room, limit,
    UNIT: tl.constexpr, LOG_UNIT: tl.constexpr, C: tl.constexpr, CP: tl.constexpr,
    K: tl.constexpr, POISSON: tl.constexpr, LISTED: tl.constexpr, RAGGED: tl.constexpr,
    EVENTS_LISTED: tl.constexpr, EVENTS_RAGGED: tl.constexpr, CHUNK: tl.constexpr,
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
    weights, running = weights + at, running + 2 * at
    emitted = emitted + (4 * at if POISSON else at)
    cells = cells + (b.to(tl.int64) * 2 if POISSON else stamp_at) * room
    logs = logs + 2 * stamp_at * room
    totals, heads, firsts, ends = (
        totals + stamp_at, heads + stamp_at, firsts + stamp_at, ends + stamp_at,
    )  # fmt: skip
    d_params = d_params + b * (2 + 3 * C)
    value = begin(log_odds, weights, n, numbers, POISSON, CHUNK)
    widest = place(
        times, stamps, firsts, ends, n, m, steps_of_search, UNIT, room, numbers, C, CP, POISSON,
        CHUNK,
    )  # fmt: skip
    tl.debug_barrier()
    log_weight, delay, inverse, log_peak = components(numbers, C, CP)
    background = tl.exp(log_background_of(numbers, C))
    low, high = softplus(tl.load(numbers)), softplus(tl.load(numbers + 1))
    k = tl.arange(0, K)
    for stamp in range(0, m):
        first, end = tl.load(firsts + stamp), tl.load(ends + stamp)
        i = first + k
        is_own = i < end
        t = tl.load(times + i, mask=is_own, other=0.0)
        every, _ = density_of((tl.load(stamps + stamp) - t) / UNIT, delay, inverse, log_peak)
        density = tl.where(is_own, tl.sum(every, axis=0), 0.0)
        weight = tl.load(weights + i, mask=is_own, other=0.0)
        earlier = before(cells, heads, firsts, ends, stamp, i - 1, is_own, room, POISSON)
        through = before(cells, heads, firsts, ends, stamp, i, is_own, room, POISSON)
        if POISSON:
            silent0, silent1 = sigmoids(weight)
            edge = tl.load(ends + stamp - 1, mask=stamp > 0, other=0)
            open0 = tl.load(running + i, mask=is_own & (i < edge), other=0.0)
            open1 = tl.load(running + n + i, mask=is_own & (i < edge), other=0.0)
            h0 = low * density * (silent0 * earlier + open0)
            h1 = high * density * (silent1 * earlier + open1)
            given = h0 + h1
        else:
            given = weight * density * earlier
        ways = background * through + tl.cumsum(given, axis=0)
        whole = tl.sum(given, axis=0) + background * before(
            cells, heads, firsts, ends, stamp, end - 1, end > 0, room, POISSON
        )
        head = background * before(
            cells, heads, firsts, ends, stamp, first - 1, end > 0, room, POISSON
        )
        tl.debug_barrier()
        value += tl.log(whole)
        tl.store(totals + stamp, whole)
        tl.store(heads + stamp, head / whole)
        tl.store(column(cells, stamp, room, POISSON) + k, ways / whole, mask=is_own)
        if POISSON:
            kept = logs + 2 * tl.cast(stamp, tl.int64) * room + k
            tl.store(kept, tl.log2(h0 / whole), mask=is_own)
            tl.store(kept + room, tl.log2(h1 / whole), mask=is_own)
            tl.store(running + i, (h0 + background * open0) / whole, mask=is_own)
            tl.store(running + n + i, (h1 + background * open1) / whole, mask=is_own)
        tl.debug_barrier()
    nowhere = tl.full((), 0.0, tl.float64)
    shares = tl.zeros((CP, K), tl.float64)
    steps = tl.zeros((CP, K), tl.float64)
    squares = tl.zeros((CP, K), tl.float64)
    # The product of a/b over later stamps, of the totals of A and of B.
    ratio = tl.full((), 1.0, tl.float64)
    for step in range(0, m):
        stamp = m - 1 - step
        first, end = tl.load(firsts + stamp), tl.load(ends + stamp)
        i = first + k
        is_own = i < end
        t = tl.load(times + i, mask=is_own, other=0.0)
        every, q = density_of((tl.load(stamps + stamp) - t) / UNIT, delay, inverse, log_peak)
        density = tl.where(is_own, tl.sum(every, axis=0), 0.0)
        weight = tl.load(weights + i, mask=is_own, other=0.0)
        whole = tl.load(totals + stamp)
        later = beyond(cells, heads, firsts, ends, stamp, m, i + 1, is_own, room, POISSON)
        through = beyond(cells, heads, firsts, ends, stamp, m, i, is_own, room, POISSON)
        behind = background * beyond(
            cells, heads, firsts, ends, stamp, m, end, end > 0, room, POISSON
        )
        if POISSON:
            silent0, silent1 = sigmoids(weight)
            edge = tl.load(firsts + stamp + 1, mask=stamp + 1 < m, other=n)
            open0 = tl.load(running + i, mask=is_own & (i >= edge), other=0.0)
            open1 = tl.load(running + n + i, mask=is_own & (i >= edge), other=0.0)
            k0, k1 = later + low * open0, later + high * open1
            taken = density * (low * silent0 * k0 + high * silent1 * k1)
            kept = logs + 2 * tl.cast(stamp, tl.int64) * room + k
            h0 = tl.load(kept, mask=is_own, other=float("-inf")).to(tl.float64)
            h1 = tl.load(kept + room, mask=is_own, other=float("-inf")).to(tl.float64)
            h0, h1 = tl.exp2(h0) / ratio, tl.exp2(h1) / ratio
            s0, s1 = tl.where(is_own, h0 * k0, 0.0), tl.where(is_own, h1 * k1, 0.0)
            share = s0 + s1
        else:
            taken = weight * density * later
            earlier = before(cells, heads, firsts, ends, stamp, i - 1, is_own, room, POISSON)
            share = earlier * taken / (whole * ratio)
        ways = background * through + tl.cumsum(taken, axis=0, reverse=True)
        back = tl.sum(taken, axis=0) + background * beyond(
            cells, heads, firsts, ends, stamp, m, first, end > 0, room, POISSON
        )
        nowhere += 1.0 - tl.sum(share, axis=0)
        own = every * tl.where(density > 0.0, share / density, 0.0)[None, :]
        shares += own
        steps += own * q
        squares += own * (q * q - 1.0)
        ratio *= whole / back
        tl.debug_barrier()
        tl.store(heads + stamp, behind / back)
        tl.store(column(cells, stamp, room, POISSON) + k, ways / back, mask=is_own)
        if POISSON:
            add(emitted + i, h0 * later, is_own)
            add(emitted + n + i, h1 * later, is_own)
            add(emitted + 2 * n + i, s0, is_own)
            add(emitted + 3 * n + i, s1, is_own)
            tl.store(running + i, (density * k0 + background * open0) / back, mask=is_own)
            tl.store(running + n + i, (density * k1 + background * open1) / back, mask=is_own)
        else:
            add(emitted + i, share, is_own)
        tl.debug_barrier()
    fault = fault_of(times, n, CHUNK) + fault_of(stamps, m, CHUNK)
    fault += fault_if((widest > limit) | (value != value))
    pull_back(log_odds, d_log_odds, emitted, n, numbers, d_params, fault, POISSON, CHUNK)
    pull_back_noise(d_params, log_weight, inverse, shares, steps, squares, fault, C, CP)
    empty = background * duration_of(times, stamps, n, m, UNIT)
    tl.store(d_params + 1 + 3 * C, nowhere - empty + fault)
    tl.store(values + b, value - empty - m.to(tl.float64) * LOG_UNIT + fault)
    tl.atomic_max(status, widest)
