"""Belief propagation between stamps and instances, until nothing moves.

Stamps are visited there and back. A cell keeps what the stamps on the far side claim of its
instance; the visit replaces it by what those on the near side claim, which is what the way back
needs. So one number per cell is enough, and no claim is ever subtracted from a sum.

A sequence of many stamps is cut into segments, which are visited at the same time, a stamp of each:
what a segment claims as a whole reaches its neighbours a round later.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

from .parts import sigmoids

# A divisor below this could overflow the claim: nothing else explains the stamp.
TINY = tl.constexpr(1e-290)
# What a cell can keep, in single precision.
MOST = tl.constexpr(1e37)


@triton.jit
def nothing_claimed(POISSON: tl.constexpr):
    return 1.0 if POISSON else 0.0


@triton.jit
def first_claimed(low, high, POISSON: tl.constexpr):
    """Begins as if every instance were claimed already: what one that must give a stamp offers
    would otherwise begin without bound."""
    if POISSON:
        return (1.0 + high) / (1.0 + low)
    else:
        return tl.full((), 1.0, tl.float64)


@triton.jit
def offer_of(weight, near, far, low, high, POISSON: tl.constexpr):
    """What instances offer a stamp, given the claims of the stamps on either side; `low` and `high`
    are λ of both labels."""
    if POISSON:
        negative, positive = sigmoids(weight + tl.log(near * far))
        return negative * low + positive * high
    else:
        return weight / (1.0 + weight * (near + far))


@triton.jit
def taken(near, claim, low, high, POISSON: tl.constexpr):
    """The claims of the near side with those of one stamp more."""
    if POISSON:
        after = near * ((1.0 + high * claim) / (1.0 + low * claim))
        return tl.minimum(tl.maximum(after, 1.0 / MOST), MOST)
    else:
        return tl.minimum(near + claim, MOST)


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
def settle(
    times, stamps, firsts, ends, weights, cells, totals, carried, m, room, rounds, low, high,
    delay, inverse, log_peak, background,
    UNIT: tl.constexpr, TOLERANCE: tl.constexpr, K: tl.constexpr, S: tl.constexpr,
    POISSON: tl.constexpr,
):  # fmt: skip
    """Propagates; returns the number of rounds, and how far D moved in the last one. `carried` has
    the last claims of every segment, with those behind it, on the way there and on that back."""
    s, k = tl.arange(0, S), tl.arange(0, K)
    each = (m + S - 1) // S
    fresh = first_claimed(low, high, POISSON)
    round = 0
    moved = tl.full((), float("inf"), tl.float64)
    while (round < rounds) & (moved > TOLERANCE):
        moved = tl.full((), 0.0, tl.float64)
        for step in range(0, 2 * each):
            is_back = step >= each
            place = tl.where(is_back, 2 * each - 1 - step, step)
            way = tl.where(is_back, 1, -1)
            stamp = s * each + place
            is_there = stamp < m
            first = tl.load(firsts + stamp, mask=is_there, other=0)
            end = tl.load(ends + stamp, mask=is_there, other=0)
            i = first[:, None] + k[None, :]
            is_own = i < end[:, None]
            # The stamp visited before, of this segment or at the border of the next.
            last = stamp + way
            has_last = is_there & (last >= 0) & (last < m)
            is_border = place == tl.where(is_back, each - 1, 0)
            last_first = tl.load(firsts + last, mask=has_last, other=0)
            last_end = tl.load(ends + last, mask=has_last, other=0)
            row = tl.where(is_border, s + way, s) + tl.where(is_back, S, 0)
            is_shared = is_own & (i >= last_first[:, None]) & (i < last_end[:, None])
            is_known = is_shared & ((round > 0) | (is_border == 0))
            at = carried + row[:, None] * K + (i - last_first[:, None])
            near = tl.load(at, mask=is_known, other=nothing_claimed(POISSON))
            near = tl.where(is_shared & (is_known == 0), fresh, near)
            kept = cells + stamp.to(tl.int64)[:, None] * room + k[None, :]
            is_kept = is_own & ((round > 0) | is_back)
            far = tl.load(kept, mask=is_kept, other=0.0).to(tl.float64)
            far = tl.where(is_kept, far, fresh)
            t = tl.load(times + i, mask=is_own, other=0.0)
            z = tl.load(stamps + stamp, mask=is_there, other=0.0)
            q = ((z[:, None] - t) / UNIT)[None, :, :] - delay[:, None, None]
            q = q * inverse[:, None, None]
            density = tl.sum(tl.exp(log_peak[:, None, None] - 0.5 * q * q), axis=0)
            density = tl.where(is_own, density, 0.0)
            weight = tl.load(weights + i, mask=is_own, other=0.0)
            terms = density * offer_of(weight, near, far, low, high, POISSON)
            claim, total = claims_of(density, terms, background)
            before = tl.load(
                totals + stamp, mask=is_there & ((round > 0) | is_back), other=float("inf")
            )
            change = tl.where(is_there, tl.abs(total - before) / total, 0.0)
            moved = tl.maximum(moved, tl.max(change, axis=0))
            tl.debug_barrier()
            tl.store(totals + stamp, total, mask=is_there)
            tl.store(kept, near.to(tl.float32), mask=is_own)
            own = carried + (s + tl.where(is_back, S, 0))[:, None] * K + k[None, :]
            tl.store(own, taken(near, claim, low, high, POISSON), mask=is_own)
            tl.debug_barrier()
        round += 1
    return round, moved
