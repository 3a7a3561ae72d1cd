"""What both alignments share: silence, windows, densities, and the gradients of the parts.

Counts are Bernoulli or Poisson, the delay a mixture of Gaussians, of one or more. `params` are the
unconstrained numbers of the core: two logits of rates, logits of all weights but the last, delays,
logarithms of spreads, logarithm of the background. Sections 4 to 10 of docs/model.md.
"""

# Triton's own functions have no types, and its kernels are no Python to a type checker.
# mypy: ignore-errors

import triton
import triton.language as tl

# Arguments of the kernels that are numbers.
SIZES = ("instances", "time_stride", "most_stamps", "steps_of_search", "room", "limit", "rounds")
# A window ends where its stamp comes from nowhere rather than from there, by this factor: ln 1e10.
LOG_DROP = tl.constexpr(23.0)
LARGEST = tl.constexpr(3e38)
HALF_LOG_TAU = tl.constexpr(0.9189385332046727)


@triton.jit
def softplus(x):
    e = tl.exp(-tl.abs(x))
    return tl.maximum(x, 0.0) + log1p(e)


@triton.jit
def log1p(x):
    """log(1 + x) for x ≥ 0, to rounding: the error of 1 + x is divided out."""
    y = 1.0 + x
    lost = x - (y - 1.0)
    # A sum that is infinite lost nothing.
    return tl.log(y) + tl.where(y < 1e300, lost / y, 0.0)


@triton.jit
def sigmoids(x):
    """Of −x and of x, each exact in its tail."""
    e = tl.exp(-tl.abs(x))
    large = 1.0 / (1.0 + e)
    small = e * large
    return tl.where(x > 0.0, small, large), tl.where(x > 0.0, large, small)


@triton.jit
def log_odds_of_silence(log_odds, params):
    """Log-odds of a positive instance, given that it is silent."""
    return log_odds + (softplus(tl.load(params)) - softplus(tl.load(params + 1)))


@triton.jit
def largest_log_odds(params, POISSON: tl.constexpr):
    """Most that one stamp more can multiply an instance's weight by, in logarithms."""
    x = tl.maximum(tl.load(params), tl.load(params + 1))
    return tl.log(softplus(x)) if POISSON else x


@triton.jit
def components(params, C: tl.constexpr, CP: tl.constexpr):
    """log(weight), delay, 1/spread and log of the peak of each component; −∞ for padding."""
    c = tl.arange(0, CP)
    is_own = c < C
    logit = tl.load(params + 2 + c, mask=c < C - 1, other=0.0)
    logit = tl.where(is_own, logit, float("-inf"))
    highest = tl.max(logit, axis=0)
    log_weight = logit - highest - tl.log(tl.sum(tl.exp(logit - highest), axis=0))
    delay = tl.load(params + 1 + C + c, mask=is_own, other=0.0)
    log_spread = tl.load(params + 1 + 2 * C + c, mask=is_own, other=0.0)
    return log_weight, delay, tl.exp(-log_spread), log_weight - log_spread - HALF_LOG_TAU


@triton.jit
def log_background_of(params, C: tl.constexpr):
    return tl.load(params + 1 + 3 * C)


@triton.jit
def density_of(delays, delay, inverse, log_peak):
    """Of every component, (CP, K), and its distance from the mean in spreads."""
    q = (delays[None, :] - delay[:, None]) * inverse[:, None]
    return tl.exp(log_peak[:, None] - 0.5 * q * q), q


@triton.jit
def bound(b, offsets, stride, lengths, most, LISTED: tl.constexpr, RAGGED: tl.constexpr):
    """Where a sequence begins in a flat array, and how long it is."""
    if LISTED:
        start = tl.load(offsets + b).to(tl.int64)
        length = (tl.load(offsets + b + 1) - start).to(tl.int32)
    else:
        start = b.to(tl.int64) * stride
        length = most
        if RAGGED:
            length = tl.load(lengths + b).to(tl.int32)
            length = tl.minimum(tl.maximum(length, 0), most)
    return start, length


@triton.jit
def begin(log_odds, weights, n, params, POISSON: tl.constexpr, CHUNK: tl.constexpr):
    """log Σ of silence. Fills in the instances' weights: for Bernoulli counts r = u(1)/u(0), no
    more than single precision has, for Poisson counts the log-odds given silence."""
    total = tl.zeros((CHUNK,), tl.float64)
    x0, x1 = tl.load(params), tl.load(params + 1)
    quiet0, rate0 = sigmoids(x0)
    quiet1, rate1 = sigmoids(x1)
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        mask = start + k < n
        f = tl.load(log_odds + start + k, mask=mask, other=0.0).to(tl.float64)
        negative, positive = sigmoids(f)
        silent = negative * quiet0 + positive * quiet1
        total += tl.where(mask, tl.log(silent), 0.0)
        if POISSON:
            weight = log_odds_of_silence(f, params)
        else:
            weight = tl.minimum((negative * rate0 + positive * rate1) / silent, LARGEST)
        tl.store(weights + start + k, weight, mask=mask)
    return tl.sum(total, axis=0)


@triton.jit
def fault_of(times, n, CHUNK: tl.constexpr):
    """NaN if some of the times, or stamps, are not finite or less than the one before; else 0."""
    k = tl.arange(0, CHUNK)
    faults = tl.zeros((CHUNK,), tl.int32)
    for start in range(0, n, CHUNK):
        i = start + k
        is_own = i < n
        here = tl.load(times + i, mask=is_own, other=0.0)
        last = tl.load(times + i - 1, mask=is_own & (i > 0), other=float("-inf"))
        # NaN is in no order.
        is_fine = (here >= last) & (tl.abs(here) < float("inf"))
        faults = tl.maximum(faults, (is_own & (is_fine == 0)).to(tl.int32))
    return fault_if(tl.max(faults, axis=0) > 0)


@triton.jit
def fault_if(is_wrong):
    return tl.where(is_wrong, float("nan"), 0.0).to(tl.float64)


@triton.jit
def search(times, n, bounds, STEPS, INCLUSIVE: tl.constexpr):
    """Number of times below each bound, or not above it."""
    low = tl.zeros_like(bounds).to(tl.int32)
    high = low + n
    for _ in range(STEPS):
        middle = (low + high) // 2
        is_open = low < high
        t = tl.load(times + middle, mask=is_open, other=0.0)
        below = is_open & ((t <= bounds) if INCLUSIVE else (t < bounds))
        low = tl.where(below, middle + 1, low)
        high = tl.where(is_open & (below == 0), middle, high)
    return low


@triton.jit
def place(
    times,
    stamps,
    firsts,
    ends,
    n,
    m,
    STEPS,
    UNIT: tl.constexpr,
    room,
    params,
    C: tl.constexpr,
    CP: tl.constexpr,
    POISSON: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Windows of all stamps; returns the widest. One beyond its room keeps the middle of it."""
    _, delay, inverse, log_peak = components(params, C, CP)
    floor = log_background_of(params, C) - largest_log_odds(params, POISSON) - LOG_DROP
    floor = floor - tl.log(tl.zeros((1,), tl.float64) + C)
    drop = log_peak - tl.sum(floor, axis=0)
    reach = tl.sqrt(2.0 * tl.maximum(drop, 0.0)) / inverse
    earliest = tl.min(tl.where(drop > 0.0, delay - reach, float("inf")), axis=0) * UNIT
    latest = tl.max(tl.where(drop > 0.0, delay + reach, float("-inf")), axis=0) * UNIT
    k = tl.arange(0, CHUNK)
    widest = tl.zeros((CHUNK,), tl.int32)
    for start in range(0, m, CHUNK):
        mask = start + k < m
        z = tl.load(stamps + start + k, mask=mask, other=0.0)
        first = search(times, n, z - latest, STEPS, False)
        end = search(times, n, z - earliest, STEPS, True)
        first = tl.maximum(tl.minimum(first, n - 1), 0)
        end = tl.minimum(tl.maximum(end, first + 1), n)
        widest = tl.maximum(widest, tl.where(mask, end - first, 0))
        first = tl.where(end - first > room, first + (end - first - room) // 2, first)
        end = tl.minimum(end, first + room)
        tl.store(firsts + start + k, first, mask=mask)
        tl.store(ends + start + k, end, mask=mask)
    return tl.max(widest, axis=0)


@triton.jit
def duration_of(times, stamps, n, m, UNIT: tl.constexpr):
    """From the first instance or stamp to the last; 0 without either."""
    first, last = tl.full((), float("inf"), tl.float64), tl.full((), float("-inf"), tl.float64)
    if n > 0:
        first, last = tl.load(times), tl.load(times + n - 1)
    if m > 0:
        first = tl.minimum(first, tl.load(stamps))
        last = tl.maximum(last, tl.load(stamps + m - 1))
    return tl.where(n + m > 0, (last - first) / UNIT, 0.0)


@triton.jit
def pull_back_chunk(f, e0, e1, s0, s1, params, POISSON: tl.constexpr):
    """Gradients in log-odds and in the logits of both rates, of instances with p(stamped | z) = e0,
    or for Poisson counts p(stamped, y | z) and the expected stamps by label."""
    x0, x1 = tl.load(params), tl.load(params + 1)
    quiet0, rate0 = sigmoids(x0)
    quiet1, rate1 = sigmoids(x1)
    negative, positive = sigmoids(f)
    silent = negative * quiet0 + positive * quiet1
    if not POISSON:
        stamped = negative * rate0 + positive * rate1
        e0, e1 = e0 * negative * rate0 / stamped, e0 * positive * rate1 / stamped
        s0, s1 = e0, e1
    rest = (1.0 - e0 - e1) / silent
    d_f = e1 * negative - e0 * positive + rest * negative * positive * (quiet1 - quiet0)
    n0, n1 = e0 + rest * negative * quiet0, e1 + rest * positive * quiet1
    if POISSON:
        own0 = s0 * rate0 / softplus(x0) - n0 * rate0
        own1 = s1 * rate1 / softplus(x1) - n1 * rate1
    else:
        own0, own1 = e0 - n0 * rate0, e1 - n1 * rate1
    return d_f, own0, own1


@triton.jit
def pull_back(
    log_odds, d_log_odds, emitted, n, params, d_params, fault, POISSON: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """Gradients of all instances. `emitted` has what `pull_back_chunk` takes, each for all of
    them."""
    d_rate0, d_rate1 = tl.zeros((CHUNK,), tl.float64), tl.zeros((CHUNK,), tl.float64)
    k = tl.arange(0, CHUNK)
    for start in range(0, n, CHUNK):
        mask = start + k < n
        f = tl.load(log_odds + start + k, mask=mask, other=0.0).to(tl.float64) + fault
        e0 = tl.load(emitted + start + k, mask=mask, other=0.0).to(tl.float64)
        e1, s0, s1 = e0, e0, e0
        if POISSON:
            e1 = tl.load(emitted + n + start + k, mask=mask, other=0.0).to(tl.float64)
            s0 = tl.load(emitted + 2 * n + start + k, mask=mask, other=0.0).to(tl.float64)
            s1 = tl.load(emitted + 3 * n + start + k, mask=mask, other=0.0).to(tl.float64)
        d_f, own0, own1 = pull_back_chunk(f, e0, e1, s0, s1, params, POISSON)
        tl.store(d_log_odds + start + k, d_f, mask=mask)
        d_rate0 += tl.where(mask, own0, 0.0)
        d_rate1 += tl.where(mask, own1, 0.0)
    tl.store(d_params, tl.sum(d_rate0, axis=0))
    tl.store(d_params + 1, tl.sum(d_rate1, axis=0))


@triton.jit
def pull_back_noise(
    d_params, log_weight, inverse, shares, steps, squares, fault, C: tl.constexpr, CP: tl.constexpr
):
    """Gradients in weights, delays and spreads, from sums over cells of the components' shares,
    alone and times q and q² − 1."""
    c = tl.arange(0, CP)
    all_shares = tl.sum(shares, axis=1)
    d_weight = all_shares - tl.exp(log_weight) * tl.sum(all_shares, axis=0)
    tl.store(d_params + 2 + c, d_weight + fault, mask=c < C - 1)
    tl.store(d_params + 1 + C + c, tl.sum(steps, axis=1) * inverse + fault, mask=c < C)
    tl.store(d_params + 1 + 2 * C + c, tl.sum(squares, axis=1) + fault, mask=c < C)
