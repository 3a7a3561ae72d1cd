"""Belief propagation between stamps and instances, until nothing moves.

All stamps speak at once, then all instances: about twice the rounds of visits one by one, but a
round is two passes over all cells, whatever the number of stamps. Between rounds a cell keeps what
the *other* stamps claim of its instance, and during one the stamp's own claim: one number, of the
precision of the log-odds. Leaving one claim out of a sum keeps the largest apart, so that no digits
are lost. Of one stamp at most messages settle always. Those of Poisson counts may swing between two
ends, and sooner where all speak at once: late rounds take the mean with the last message, which a
second number keeps.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

from .parts import density_of, log1p, sigmoids

# A divisor below this could overflow the claim: nothing else explains the stamp.
TINY = tl.constexpr(1e-290)
# What a cell can keep, in single precision.
MOST = tl.constexpr(1e37)
# Rounds before messages of Poisson counts are damped, which may swing from one end to the other.
ROUNDS_BEFORE_DAMPING = tl.constexpr(100)
# How far D may still move after all rounds, relatively: more is no result, as in the core.
CREEPING = tl.constexpr(1e-3)


@triton.jit
def first_claimed(low, high, POISSON: tl.constexpr):
    """Begins as if every instance were claimed already: what one that must give a stamp offers
    would otherwise begin without bound."""
    if POISSON:
        return log1p(high) - log1p(low)
    else:
        return tl.full((), 1.0, tl.float64)


@triton.jit
def offer_of(weight, others, low, high, POISSON: tl.constexpr):
    """What instances offer a stamp, given the claims of the other stamps; `low` and `high` are λ of
    both labels."""
    if POISSON:
        negative, positive = sigmoids(weight + others)
        return negative * low + positive * high
    else:
        return weight / (1.0 + weight * others)


@triton.jit
def claims_of(density, terms, background):
    """Claims of stamps (S, K) and their D (S,). The largest term of D is kept apart, so that
    leaving one out loses no digits."""
    k = tl.arange(0, density.shape[1])
    is_top = k[None, :] == tl.argmax(terms, axis=1)[:, None]
    others = background + tl.sum(tl.where(is_top, 0.0, terms), axis=1)
    largest = tl.max(terms, axis=1)
    rest = others[:, None] + tl.where(is_top, 0.0, largest[:, None] - terms)
    return density / tl.maximum(rest, TINY), others + largest


@triton.jit
def window(times, stamps, firsts, ends, stamp, m, UNIT: tl.constexpr, K: tl.constexpr):
    """Instances (S, K) that stamps could belong to, whether they are any, and the delays."""
    is_there = stamp < m
    first = tl.load(firsts + stamp, mask=is_there, other=0)
    end = tl.load(ends + stamp, mask=is_there, other=0)
    i = first[:, None] + tl.arange(0, K)[None, :]
    is_own = i < end[:, None]
    t = tl.load(times + i, mask=is_own, other=0.0)
    z = tl.load(stamps + stamp, mask=is_there, other=0.0)
    return i, is_own, (z[:, None] - t) / UNIT


@triton.jit
def following(firsts, stamp, i, mask, m):
    """Whether a stamp's window has begun at instance i, and where it began."""
    is_there = mask & (stamp < m)
    first = tl.load(firsts + stamp, mask=is_there, other=0)
    return is_there & (first <= i), first


@triton.jit
def leave_out(cells, damped, firsts, earliest, n, m, room, round, low, high, CHUNK: tl.constexpr,
              POISSON: tl.constexpr):  # fmt: skip
    """Replaces every claim by those of the other stamps on the same instance: their sum, or for
    Poisson counts the logarithm of Π (1 + λ₁μ)/(1 + λ₀μ), in late rounds its mean with the last."""
    is_damped = round >= ROUNDS_BEFORE_DAMPING
    is_kept = round + 1 >= ROUNDS_BEFORE_DAMPING
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        i = start + k
        mask = i < n
        begin = tl.load(earliest + i, mask=mask, other=0.0).to(tl.int32)
        top, rest = tl.zeros((CHUNK,), tl.float64), tl.zeros((CHUNK,), tl.float64)
        stamp = begin
        is_open, first = following(firsts, stamp, i, mask, m)
        while tl.max(is_open.to(tl.int32), axis=0) > 0:
            at = cells + stamp.to(tl.int64) * room + (i - first)
            claim = tl.load(at, mask=is_open, other=0.0).to(tl.float64)
            if POISSON:
                rest += tl.where(is_open, log1p(high * claim) - log1p(low * claim), 0.0)
            else:
                rest += tl.minimum(claim, top)
                top = tl.maximum(claim, top)
            stamp += 1
            is_open, first = following(firsts, stamp, i, mask, m)
        stamp = begin
        is_open, first = following(firsts, stamp, i, mask, m)
        while tl.max(is_open.to(tl.int32), axis=0) > 0:
            cell = stamp.to(tl.int64) * room + (i - first)
            claim = tl.load(cells + cell, mask=is_open, other=0.0).to(tl.float64)
            if POISSON:
                others = rest - (log1p(high * claim) - log1p(low * claim))
                last = tl.load(damped + cell, mask=is_open & is_damped, other=0.0).to(tl.float64)
                others = tl.where(is_damped, 0.5 * (others + last), others)
                tl.store(damped + cell, tl.minimum(others, MOST), mask=is_open & is_kept)
            else:
                others = rest + tl.where(claim < top, top - claim, 0.0)
            tl.store(cells + cell, tl.minimum(others, MOST), mask=is_open)
            stamp += 1
            is_open, first = following(firsts, stamp, i, mask, m)


@triton.jit
def settle(
    times, stamps, firsts, ends, earliest, weights, cells, damped, totals, n, m, room, rounds, low,
    high, delay, inverse, log_peak, background,
    UNIT: tl.constexpr, TOLERANCE: tl.constexpr, K: tl.constexpr, S: tl.constexpr,
    CHUNK: tl.constexpr, POISSON: tl.constexpr,
):  # fmt: skip
    """Propagates; returns the number of rounds, and how far D moved in the last one."""
    s, k = tl.arange(0, S), tl.arange(0, K)
    fresh = first_claimed(low, high, POISSON)
    round = 0
    moved = tl.full((), float("inf"), tl.float64)
    while (round < rounds) & (moved > TOLERANCE):
        change = tl.zeros((S,), tl.float64)
        for start in range(0, m, S):
            stamp = start + s
            i, is_own, delays = window(times, stamps, firsts, ends, stamp, m, UNIT, K)
            _, _, density = densities(delays, is_own, delay, inverse, log_peak, S, K)
            weight = tl.load(weights + i, mask=is_own, other=0.0).to(tl.float64)
            kept = cells + stamp.to(tl.int64)[:, None] * room + k[None, :]
            others = tl.load(kept, mask=is_own & (round > 0), other=0.0).to(tl.float64)
            others = tl.where(round > 0, others, fresh)
            terms = density * offer_of(weight, others, low, high, POISSON)
            claim, total = claims_of(density, terms, background)
            is_there = stamp < m
            before = tl.load(totals + stamp, mask=is_there & (round > 0), other=float("inf"))
            change = tl.maximum(change, tl.where(is_there, tl.abs(total - before) / total, 0.0))
            tl.store(kept, tl.minimum(claim, MOST), mask=is_own)
            # All warps must have read the last total: each has one of its own.
            tl.debug_barrier()
            tl.store(totals + stamp, total, mask=is_there)
        tl.debug_barrier()
        leave_out(
            cells, damped, firsts, earliest, n, m, room, round, low, high, CHUNK, POISSON
        )  # fmt: skip
        tl.debug_barrier()
        moved = tl.max(change, axis=0)
        round += 1
    return round, moved


@triton.jit
def densities(delays, is_own, delay, inverse, log_peak, S: tl.constexpr, K: tl.constexpr):
    """Of every component, and its distance from the mean in spreads, (CP, S·K); of all, (S, K)."""
    every, q = density_of(tl.reshape(delays, (S * K,)), delay, inverse, log_peak)
    return every, q, tl.where(is_own, tl.reshape(tl.sum(every, axis=0), (S, K)), 0.0)
