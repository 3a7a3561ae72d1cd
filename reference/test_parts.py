"""The parts against closed forms: densities integrate to one, counts sum to one."""

import itertools
import math
import unittest

import parts
from examples import COUNT_EXAMPLES, NOISE_EXAMPLES, TestCase, equal_rates


def simpson(function, low, high, intervals):
    width = (high - low) / intervals
    weights = [1] + [4, 2] * (intervals // 2 - 1) + [4, 1]
    return width / 3 * math.fsum(w * function(low + k * width) for k, w in enumerate(weights))


class Functions(TestCase):
    def test_digamma_at_known_points(self):
        euler = 0.5772156649015329
        for x, want in [(1, -euler), (2, 1 - euler), (0.5, -euler - 2 * math.log(2))]:
            self.assert_close(parts.digamma(x), want, 1e-14)  # sums of twelve reciprocals


class Densities(TestCase):
    def test_smooth_densities_integrate_to_one(self):
        for noise in NOISE_EXAMPLES[:2]:
            total = simpson(lambda d: math.exp(parts.log_density(noise, d)), -12, 12, 4000)
            self.assert_close(total, 1, 1e-12)  # Simpson on smooth, vanishing ends: rounding only

    def test_laplace_integrates_to_one_around_its_kink(self):
        noise = NOISE_EXAMPLES[2]
        halves = [(-12, noise["delay"]), (noise["delay"], 12)]
        density = lambda d: math.exp(parts.log_density(noise, d))
        total = math.fsum(simpson(density, low, high, 4000) for low, high in halves)
        self.assert_close(total, 1, 1e-9)  # Simpson error: (h/b)⁴ / 180, h = 0.003

    def test_student_t_integrates_to_one(self):
        def mapped(u):  # d = tan u brings the heavy tails into a finite interval
            return math.exp(parts.log_density(NOISE_EXAMPLES[3], math.tan(u))) / math.cos(u) ** 2

        edge = math.pi / 2 - 1e-6
        self.assert_close(simpson(mapped, -edge, edge, 4000), 1, 1e-9)  # Simpson error, h = 0.0008

    def test_shifted_gamma_integrates_to_one(self):
        def mapped(u):  # d = shift + u² removes the root at the shift
            return 2 * u * math.exp(parts.log_density(noise, noise["shift"] + u * u))

        for noise in [NOISE_EXAMPLES[4], NOISE_EXAMPLES[4] | {"shape": 1.0}]:
            self.assert_close(simpson(mapped, 0, 5, 4000), 1, 1e-9)  # Simpson error, h = 0.001

    def test_uniform_is_flat_on_a_closed_interval(self):
        noise = {"kind": "uniform", "earliest": -0.5, "latest": 1.5}
        for delay in (-0.5, 0.0, 1.5):
            self.assertEqual(parts.log_density(noise, delay), -math.log(2))
        for delay in (-0.5000001, 1.5000001):
            self.assertEqual(parts.log_density(noise, delay), -math.inf)

    def test_shifted_gamma_begins_at_its_shift_from_zero_or_with_a_jump(self):
        for shape in (1.0, 2.5):
            noise = NOISE_EXAMPLES[4] | {"shape": shape}
            self.assertEqual(parts.log_density(noise, -1.0), -math.inf)
            self.assertEqual(parts.log_density(noise, math.nextafter(-0.25, -1)), -math.inf)
        rising, exponential = NOISE_EXAMPLES[4], NOISE_EXAMPLES[4] | {"shape": 1.0}
        self.assertEqual(parts.log_density(rising, -0.25), -math.inf)
        self.assertEqual(parts.log_density(exponential, -0.25), math.log(2))  # 1 / spread

    def test_spread_is_the_standard_deviation(self):
        for noise, mean in [
            (NOISE_EXAMPLES[0], 0.25),
            (NOISE_EXAMPLES[2], 0.25),
            (NOISE_EXAMPLES[4], -0.25 + math.sqrt(2.5) * 0.5),
        ]:
            square = lambda d: (d - mean) ** 2 * math.exp(parts.log_density(noise, d))
            # The kink of the Laplace and the gamma's root cost Simpson digits at h = 0.0006.
            self.assert_close(simpson(square, -12.25, 12.75, 40000), 0.25, 1e-6)

    def test_student_t_with_one_degree_is_cauchy(self):
        noise = {"kind": "student_t", "delay": 1.0, "scale": 2.0, "degrees_of_freedom": 1.0}
        want = -math.log(2 * math.pi * (1 + 1.5**2))
        self.assert_close(parts.log_density(noise, 4.0), want, 1e-14)  # a handful of roundings


class Counts(TestCase):
    def test_tables_sum_to_one_and_leave_the_rate_above_zero(self):
        for counts, (label, rate) in itertools.product(COUNT_EXAMPLES, [(0, 0.1), (1, 0.8)]):
            table = [math.exp(parts.log_count(counts, label, c)) for c in range(160)]
            # 0.8^160 = 3e-16 is the heaviest tail left out.
            self.assert_close(math.fsum(table), 1, 1e-14)
            self.assert_close(math.fsum(table[1:]), rate, 1e-14)

    def test_rates_of_zero_never_stamp(self):
        for counts in COUNT_EXAMPLES:
            table = [parts.log_count(counts | {"false_rate": 0.0}, 0, c) for c in range(4)]
            self.assertEqual(table, [0.0] + [-math.inf] * 3)

    def test_a_certain_poisson_or_geometric_is_refused(self):
        for kind in ("poisson", "geometric"):
            with self.assertRaises(ValueError):
                parts.log_count(equal_rates(kind, 1.0), 1, 0)


if __name__ == "__main__":
    unittest.main()
