"""The parts of the model, from their definitions: label, count of stamps, density of a delay.

All are logs, of real numbers or of numbers that carry an infinitesimal imaginary part, so that
whoever adds them up can differentiate by complex steps. Zero probability is −∞.
"""

import cmath
import math

NEVER = -math.inf  # compared by equality only, so that a NaN is not taken for it

# Elementary functions of a real number, or of one that carries an infinitesimal imaginary part.


def exp(x):
    return cmath.exp(x) if isinstance(x, complex) else math.exp(x)


def log(x):
    if x == 0:
        return NEVER
    return cmath.log(x) if isinstance(x, complex) else math.log(x)


def log1p(x):
    if x == -1:
        return NEVER
    if isinstance(x, complex):
        return complex(math.log1p(x.real), math.atan2(x.imag, 1 + x.real))
    return math.log1p(x)


def log_gamma(x):
    if isinstance(x, complex):
        return complex(math.lgamma(x.real), x.imag * digamma(x.real))
    return math.lgamma(x)


def digamma(x):
    """ψ(x), x > 0: ψ(x) = ψ(x+1) − 1/x up to 12, then the asymptotic series (error below 1e-16)."""
    below = []
    while x < 12:
        below.append(-1 / x)
        x += 1
    series = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]
    tail = [-coefficient / x ** (2 * k) for k, coefficient in enumerate(series, start=1)]
    return math.fsum([math.log(x), -0.5 / x, *tail, *below])


def add(values):
    values = list(values)
    if any(isinstance(v, complex) for v in values):
        return complex(math.fsum(v.real for v in values), math.fsum(v.imag for v in values))
    return math.fsum(values)


def log_sum_exp(values):
    possible = [v for v in values if v.real != NEVER]
    if not possible:
        return NEVER
    peak = max(v.real for v in possible)
    return peak + log(add(exp(v - peak) for v in possible))


# The label: log p(y | f), with log-odds f.


def log_label(log_odds, label):
    towards = log_odds if label == 1 else -log_odds
    if towards.real >= 0:
        return -log1p(exp(-towards))
    return towards - log1p(exp(towards))


# Count models: log p(c | y), where rate = P(c ≥ 1 | y).


def log_bernoulli(count, rate, split):
    return [log1p(-rate), log(rate)][count] if count <= 1 else NEVER


def log_categorical(count, rate, split):
    if count == 0:
        return log1p(-rate)
    return log(rate) + log(split[count - 1]) if count <= len(split) else NEVER


def log_poisson(count, rate, split):
    mean = -log1p(-rate)
    return -mean + (count * log(mean) if count else 0.0) - math.log(math.factorial(count))


def log_geometric(count, rate, split):
    return log1p(-rate) + (count * log(rate) if count else 0.0)


COUNTS = {
    "bernoulli": log_bernoulli,
    "categorical": log_categorical,
    "poisson": log_poisson,
    "geometric": log_geometric,
}


def log_count(counts, label, count):
    which = "hit" if label == 1 else "false"
    rate = counts[f"{which}_rate"]
    if rate == 1 and counts["kind"] in ("poisson", "geometric"):
        raise ValueError(f"{counts['kind']} counts need a {which}_rate below 1")
    return COUNTS[counts["kind"]](count, rate, counts.get(f"{which}_split"))


# Noise models: log density of d = z − t.


def log_gaussian(d, delay, spread):
    x = (d - delay) / spread
    return -0.5 * x * x - log(spread) - 0.5 * math.log(2 * math.pi)


def log_gaussian_mixture(d, weights, delays, spreads):
    parts = zip(weights, delays, spreads)
    return log_sum_exp([log(w) + log_gaussian(d, delay, spread) for w, delay, spread in parts])


def log_laplace(d, delay, spread):
    x = d - delay if d >= delay.real else delay - d
    b = spread / math.sqrt(2)
    return -x / b - log(2 * b)


def log_student_t(d, delay, scale, degrees_of_freedom):
    nu = degrees_of_freedom
    x = (d - delay) / scale
    normaliser = log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - 0.5 * log(nu * math.pi) - log(scale)
    return normaliser - (nu + 1) / 2 * log1p(x * x / nu)


def log_shifted_gamma(d, shift, shape, spread):
    x = d - shift
    if x.real < 0 or (x == 0 and shape != 1):
        return NEVER
    power = 0.0 if shape == 1 else (shape - 1) * log(x)  # at the shift, 0·(−∞) would be NaN
    theta = spread / shape**0.5
    return power - x / theta - log_gamma(shape) - shape * log(theta)


def log_uniform(d, earliest, latest):
    inside = earliest.real <= d <= latest.real
    return -log(latest - earliest) if inside else NEVER


NOISE = {
    "gaussian": log_gaussian,
    "gaussian_mixture": log_gaussian_mixture,
    "laplace": log_laplace,
    "student_t": log_student_t,
    "shifted_gamma": log_shifted_gamma,
    "uniform": log_uniform,
}


def noise_parameters(noise):
    return {name: value for name, value in noise.items() if name != "kind"}


def log_density(noise, delay):
    return NOISE[noise["kind"]](delay, **noise_parameters(noise))
