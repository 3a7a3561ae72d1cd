"""The oracle against closed forms: what a wrong factor, order or count would break."""

import copy
import itertools
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import oracle  # noqa: E402  (found through the line above, from whatever folder the tests run)

GAUSSIAN = {"kind": "gaussian", "delay": 0.25, "spread": 0.5}
UNIT = {"kind": "uniform", "earliest": -0.5, "latest": 0.5}  # density 1 wherever it is positive

NOISE_EXAMPLES = [
    GAUSSIAN,
    {"kind": "gaussian_mixture", "weights": [0.3, 0.7], "delays": [-0.5, 1], "spreads": [0.4, 0.9]},
    {"kind": "laplace", "delay": 0.25, "spread": 0.5},
    {"kind": "student_t", "delay": 0.25, "scale": 0.5, "degrees_of_freedom": 4.5},
    {"kind": "shifted_gamma", "shift": -0.25, "shape": 2.5, "spread": 0.5},
    {"kind": "uniform", "earliest": -0.5, "latest": 1.25},
]
COUNT_EXAMPLES = [
    {"kind": "bernoulli", "false_rate": 0.1, "hit_rate": 0.8},
    {
        "kind": "categorical",
        "false_rate": 0.1,
        "hit_rate": 0.8,
        "false_split": [0.7, 0.2, 0.1],
        "hit_split": [0.5, 0.25, 0.25],
    },
    {"kind": "poisson", "false_rate": 0.1, "hit_rate": 0.8},
    {"kind": "geometric", "false_rate": 0.1, "hit_rate": 0.8},
]


def session(times, stamps, counts, noise=UNIT, log_odds=None, labels=None):
    return {
        "times": times,
        "stamps": stamps,
        "log_odds": log_odds or [0.3 * i - 0.4 for i in range(len(times))],
        "labels": labels or [None] * len(times),
        "counts": counts,
        "noise": noise,
    }


def equal_rates(kind, rate):
    return {"kind": kind, "false_rate": rate, "hit_rate": rate}


def normal(delay):
    x = (delay - GAUSSIAN["delay"]) / GAUSSIAN["spread"]
    return math.exp(-x * x / 2) / (GAUSSIAN["spread"] * math.sqrt(2 * math.pi))


def sigmoid(log_odds):
    return 1 / (1 + math.exp(-log_odds))


def simpson(function, low, high, intervals):
    width = (high - low) / intervals
    weights = [1] + [4, 2] * (intervals // 2 - 1) + [4, 1]
    return width / 3 * math.fsum(w * function(low + k * width) for k, w in enumerate(weights))


class TestCase(unittest.TestCase):
    def assert_close(self, got, want, relative, absolute=0.0):
        same = math.isclose(got, want, rel_tol=relative, abs_tol=absolute)
        self.assertTrue(same, f"got {got!r}, want {want!r}")


class Densities(TestCase):
    def test_smooth_densities_integrate_to_one(self):
        for noise in NOISE_EXAMPLES[:2]:
            total = simpson(lambda d: math.exp(oracle.log_density(noise, d)), -12, 12, 4000)
            self.assert_close(total, 1, 1e-12)  # Simpson on smooth, vanishing ends: rounding only

    def test_laplace_integrates_to_one_around_its_kink(self):
        noise = NOISE_EXAMPLES[2]
        halves = [(-12, noise["delay"]), (noise["delay"], 12)]
        density = lambda d: math.exp(oracle.log_density(noise, d))
        total = math.fsum(simpson(density, low, high, 4000) for low, high in halves)
        self.assert_close(total, 1, 1e-9)  # Simpson error: (h/b)⁴ / 180, h = 0.003

    def test_student_t_integrates_to_one(self):
        def mapped(u):  # d = tan u brings the heavy tails into a finite interval
            return math.exp(oracle.log_density(NOISE_EXAMPLES[3], math.tan(u))) / math.cos(u) ** 2

        edge = math.pi / 2 - 1e-6
        self.assert_close(simpson(mapped, -edge, edge, 4000), 1, 1e-9)  # Simpson error, h = 0.0008

    def test_shifted_gamma_integrates_to_one(self):
        def mapped(u):  # d = shift + u² removes the root at the shift
            return 2 * u * math.exp(oracle.log_density(noise, noise["shift"] + u * u))

        for noise in [NOISE_EXAMPLES[4], NOISE_EXAMPLES[4] | {"shape": 1.0}]:
            self.assert_close(simpson(mapped, 0, 5, 4000), 1, 1e-9)  # Simpson error, h = 0.001

    def test_uniform_is_flat_on_a_closed_interval(self):
        noise = {"kind": "uniform", "earliest": -0.5, "latest": 1.5}
        for delay in (-0.5, 0.0, 1.5):
            self.assertEqual(oracle.log_density(noise, delay), -math.log(2))
        for delay in (-0.5000001, 1.5000001):
            self.assertEqual(oracle.log_density(noise, delay), -math.inf)

    def test_shifted_gamma_begins_at_its_shift_from_zero_or_with_a_jump(self):
        for shape in (1.0, 2.5):
            noise = NOISE_EXAMPLES[4] | {"shape": shape}
            self.assertEqual(oracle.log_density(noise, -1.0), -math.inf)
            self.assertEqual(oracle.log_density(noise, math.nextafter(-0.25, -1)), -math.inf)
        rising, exponential = NOISE_EXAMPLES[4], NOISE_EXAMPLES[4] | {"shape": 1.0}
        self.assertEqual(oracle.log_density(rising, -0.25), -math.inf)
        self.assertEqual(oracle.log_density(exponential, -0.25), math.log(2))  # 1 / spread

    def test_spread_is_the_standard_deviation(self):
        for noise, mean in [
            (NOISE_EXAMPLES[0], 0.25),
            (NOISE_EXAMPLES[2], 0.25),
            (NOISE_EXAMPLES[4], -0.25 + math.sqrt(2.5) * 0.5),
        ]:
            square = lambda d: (d - mean) ** 2 * math.exp(oracle.log_density(noise, d))
            # The kink of the Laplace and the gamma's root cost Simpson digits at h = 0.0006.
            self.assert_close(simpson(square, -12.25, 12.75, 40000), 0.25, 1e-6)

    def test_student_t_with_one_degree_is_cauchy(self):
        noise = {"kind": "student_t", "delay": 1.0, "scale": 2.0, "degrees_of_freedom": 1.0}
        want = -math.log(2 * math.pi * (1 + 1.5**2))
        self.assert_close(oracle.log_density(noise, 4.0), want, 1e-14)  # a handful of roundings


class Counts(TestCase):
    def test_tables_sum_to_one_and_leave_the_rate_above_zero(self):
        for counts, (label, rate) in itertools.product(COUNT_EXAMPLES, [(0, 0.1), (1, 0.8)]):
            table = [math.exp(oracle.log_count(counts, label, c)) for c in range(160)]
            # 0.8^160 = 3e-16 is the heaviest tail left out.
            self.assert_close(math.fsum(table), 1, 1e-14)
            self.assert_close(math.fsum(table[1:]), rate, 1e-14)

    def test_rates_of_zero_never_stamp(self):
        for counts in COUNT_EXAMPLES:
            table = [oracle.log_count(counts | {"false_rate": 0.0}, 0, c) for c in range(4)]
            self.assertEqual(table, [0.0] + [-math.inf] * 3)

    def test_a_certain_poisson_or_geometric_is_refused(self):
        for kind in ("poisson", "geometric"):
            with self.assertRaises(ValueError):
                oracle.log_count(equal_rates(kind, 1.0), 1, 0)


class ClosedForms(TestCase):
    def test_one_instance_one_stamp(self):
        counts = COUNT_EXAMPLES[0]
        got = oracle.infer(session([1.0], [1.4], counts, GAUSSIAN, log_odds=[0.7]))
        hit, false = sigmoid(0.7) * 0.8, sigmoid(-0.7) * 0.1
        # Each is a product of a few numbers of order one.
        self.assert_close(got["log_evidence"], math.log((hit + false) * normal(0.4)), 1e-14)
        self.assert_close(got["positive"][0], hit / (hit + false), 1e-14)
        self.assert_close(got["spurious"][0], false / (hit + false), 1e-14)
        self.assertEqual(got["best_alignment"], [0])
        self.assert_close(got["best_log_weight"], got["log_evidence"], 1e-14)

    def test_no_stamps_is_a_product_over_instances(self):
        for counts in COUNT_EXAMPLES:
            log_odds = [-2.0, 0.5, 1.0]
            got = oracle.infer(session([0, 1, 2], [], counts, log_odds=log_odds))
            none = [sigmoid(f) * 0.2 + sigmoid(-f) * 0.9 for f in log_odds]
            self.assert_close(got["log_evidence"], math.fsum(map(math.log, none)), 1e-14)
            for f, p, positive in zip(log_odds, none, got["positive"]):
                self.assert_close(positive, sigmoid(f) * 0.2 / p, 1e-14)

    def test_sure_bernoulli_with_known_labels_is_a_product_of_densities(self):
        counts = {"kind": "bernoulli", "false_rate": 0.0, "hit_rate": 1.0}
        labels, log_odds = [1, 0, 1], [0.4, -1.0, 2.0]
        case = session([0.0, 1.0, 1.5], [0.75, 1.0], counts, GAUSSIAN, log_odds, labels)
        got = oracle.infer(case)
        prior = sigmoid(0.4) * sigmoid(1.0) * sigmoid(2.0)
        want = math.log(prior * normal(0.75) * normal(-0.5))
        self.assert_close(got["log_evidence"], want, 1e-14)  # eight roundings
        self.assertEqual(got["best_alignment"], [0, 2])
        self.assertEqual(got["responsibilities"], [[1, 0], [0, 0], [0, 1]])
        self.assertEqual(got["positive"], [1, 0, 1])

    def test_two_instances_two_stamps_written_out(self):
        # Geometric counts keep the factorial: 2! p₁p₁ + p₁p₂ + 2! p₂p₂.
        case = session([0.0, 1.0], [0.3, 0.9], equal_rates("geometric", 0.4), GAUSSIAN)
        first, split, second = (
            2 * normal(0.3) * normal(0.9),
            normal(0.3) * normal(-0.1),
            2 * normal(-0.7) * normal(-0.1),
        )
        total = first + split + second
        got = oracle.infer(case)
        # Sums and products of three to ten positive numbers.
        self.assert_close(got["log_evidence"], math.log(0.6**2 * 0.4**2 * total), 1e-13)
        self.assert_close(got["responsibilities"][0][0], (first + split) / total, 1e-13)
        self.assert_close(got["responsibilities"][1][1], (split + second) / total, 1e-13)
        self.assert_close(math.fsum(got["counts"][0][2]), first / total, 1e-13)
        self.assert_close(math.fsum(got["counts"][1][1]), split / total, 1e-13)

    def test_sorted_draws_of_one_instance_have_the_mass_of_their_count(self):
        # The stamps z₁ ≤ … ≤ z_M fill 1/M! of the unit cube, where the evidence is constant.
        for kind, stamp_count in itertools.product(["poisson", "geometric"], [1, 2, 3, 4]):
            counts = equal_rates(kind, 0.4)
            stamps = [0.1 * l for l in range(stamp_count)]
            evidence = math.exp(oracle.log_evidence(session([0.0], stamps, counts)))
            mass = evidence / math.factorial(stamp_count)
            self.assert_close(mass, math.exp(oracle.log_count(counts, 0, stamp_count)), 1e-13)

    def test_at_most_one_stamp_counts_subsets(self):
        # Rate ½ and density 1 give every possible alignment the weight 2^−L.
        for length, stamp_count in [(3, 0), (3, 2), (4, 2), (5, 3), (4, 4)]:
            case = session([0.0] * length, [0.1] * stamp_count, equal_rates("bernoulli", 0.5))
            paths = math.exp(oracle.log_evidence(case)) * 2**length
            self.assert_close(paths, math.comb(length, stamp_count), 1e-13)  # rounding of the sum
            self.assertEqual(len(oracle.alignments(case)), math.comb(length, stamp_count))

    def test_unbounded_stamps_count_multisets(self):
        # A Poisson count cancels the factorial: every alignment weighs e^(−Lλ) λ^M.
        for length, stamp_count in [(1, 3), (3, 0), (3, 2), (4, 3), (3, 4)]:
            case = session([0.0] * length, [0.1] * stamp_count, equal_rates("poisson", 0.5))
            mean = math.log(2)
            paths = math.exp(oracle.log_evidence(case) + length * mean) / mean**stamp_count
            want = math.comb(length + stamp_count - 1, stamp_count)
            self.assert_close(paths, want, 1e-13)  # rounding of the sum
            self.assertEqual(len(oracle.alignments(case)), want)

    def test_equal_times_under_poisson_fall_short_of_superposition(self):
        """The order is imposed: an alignment that swaps two equal instances' stamps is lost.

        Free Poisson instances at one time superpose to e^(−Lλ) (Lλ)^M Π p(z). With the order
        imposed each of the binomial(L+M−1, M) alignments weighs e^(−Lλ) λ^M Π p(z), which is less
        as soon as L > 1 and M > 1.
        """
        length, stamps, rate = 3, [0.1, 0.4, 0.6], 0.3
        case = session([0.2] * length, stamps, equal_rates("poisson", rate), GAUSSIAN)
        mean = -math.log1p(-rate)
        densities = math.prod(normal(z - 0.2) for z in stamps)
        ordered = math.exp(-length * mean) * mean**3 * math.comb(5, 3) * densities
        superposed = math.exp(-length * mean) * (length * mean) ** 3 * densities
        self.assert_close(oracle.log_evidence(case), math.log(ordered), 1e-13)
        self.assertLess(oracle.log_evidence(case), math.log(superposed))

    def test_the_best_alignment_of_a_tie_is_the_first_in_lexicographic_order(self):
        case = session([0.0] * 3, [0.1, 0.2], equal_rates("bernoulli", 0.4), log_odds=[0.1] * 3)
        self.assertEqual(oracle.infer(case)["best_alignment"], [0, 1])

    def test_impossible_data_has_no_answer(self):
        got = oracle.infer(session([0.0], [0.1, 0.2], equal_rates("bernoulli", 0.5)))
        self.assertEqual(set(got.values()), {None})


class Laws(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = [(case, oracle.infer(case)) for case in oracle.sessions()]
        cls.feasible = [(case, got) for case, got in cls.all if got["log_evidence"] is not None]

    def test_only_the_cases_named_infeasible_are(self):
        for case, got in self.all:
            named = case["name"].startswith("infeasible-")
            self.assertEqual(named, got["log_evidence"] is None, case["name"])

    def test_best_alignments_are_unique_in_all_cases_but_those_named_tie(self):
        for case, _ in self.feasible:
            ranked = sorted((weight for _, weight in oracle.alignments(case)), reverse=True)
            tied = len(ranked) > 1 and ranked[0] - ranked[1] < 1e-3
            self.assertEqual(case["name"].startswith("tie-"), tied, case["name"])

    def test_cases_are_sorted_and_named_apart(self):
        names = [case["name"] for case, _ in self.all]
        self.assertEqual(len(names), len(set(names)))
        for case, _ in self.all:
            self.assertEqual(case["times"], sorted(case["times"]), case["name"])
            self.assertEqual(case["stamps"], sorted(case["stamps"]), case["name"])

    def test_every_stamp_has_one_owner(self):
        for case, got in self.feasible:
            for l in range(len(case["stamps"])):
                column = math.fsum(row[l] for row in got["responsibilities"])
                self.assert_close(column, 1, 1e-14)  # sums of the same exponentials
                positive = math.fsum(row[l] for row in got["responsibilities_positive"])
                self.assert_close(positive + got["spurious"][l], 1, 1e-14)

    def test_counts_and_labels_agree(self):
        for case, got in self.feasible:
            rows = zip(got["counts"], got["positive"], got["responsibilities"])
            for table, positive, row in rows:
                self.assert_close(math.fsum(p for pair in table for p in pair), 1, 1e-14)
                self.assert_close(math.fsum(pair[1] for pair in table), positive, 1e-14)
                expected = math.fsum(c * sum(pair) for c, pair in enumerate(table))
                self.assert_close(math.fsum(row), expected, 1e-13)  # sums of at most 20 terms

    def test_the_best_alignment_weighs_at_most_the_evidence(self):
        for case, got in self.feasible:
            self.assertEqual(got["best_alignment"], sorted(got["best_alignment"]), case["name"])
            # Equal where only one alignment is possible; 1e-14 is the rounding of two logs.
            slack = 1e-14 * abs(got["log_evidence"])
            self.assertLessEqual(got["best_log_weight"], got["log_evidence"] + slack, case["name"])


class Derivatives(TestCase):
    def test_digamma_at_known_points(self):
        euler = 0.5772156649015329
        for x, want in [(1, -euler), (2, 1 - euler), (0.5, -euler - 2 * math.log(2))]:
            self.assert_close(oracle.digamma(x), want, 1e-14)  # sums of twelve reciprocals

    def test_log_odds_pull_towards_the_posterior(self):
        for case in oracle.sessions():
            got = oracle.infer(case)
            if got["log_evidence"] is None:
                continue
            slopes = oracle.gradient(case)["log_odds"]
            for f, positive, slope in zip(case["log_odds"], got["positive"], slopes):
                # The difference of two numbers near one keeps absolute, not relative digits.
                self.assert_close(slope, positive - sigmoid(f), 1e-13, absolute=1e-15)

    def test_complex_steps_match_central_differences(self):
        for counts, noise in itertools.product(COUNT_EXAMPLES, NOISE_EXAMPLES):
            case = session([0.0, 0.4, 1.1], [0.55, 0.9], counts, noise)
            got = oracle.gradient(case)
            for name, rate in [("false_rate", 0.1), ("hit_rate", 0.8)]:
                want = self.central(case, ["counts", name]) * rate * (1 - rate)
                self.assert_close(got[f"{name}_logit"], want, 1e-7, absolute=1e-8)
            for name, value in oracle.noise_parameters(noise).items():
                steps = [[k] for k in range(len(value))] if isinstance(value, list) else [[]]
                slopes = got["noise"][name] if isinstance(value, list) else [got["noise"][name]]
                for step, slope in zip(steps, slopes):
                    want = self.central(case, ["noise", name, *step])
                    # Steps of 1e-5 leave an error of 1e-10 times third derivatives of order 100.
                    self.assert_close(slope, want, 1e-7, absolute=1e-8)

    def central(self, case, path):
        def moved(step):
            other = copy.deepcopy(case)
            *outer, last = path
            holder = other
            for key in outer:
                holder = holder[key]
            holder[last] += step
            return oracle.log_evidence(other)

        return (moved(1e-5) - moved(-1e-5)) / 2e-5

    def test_bounds_and_kinks_have_no_derivative(self):
        counts = {"kind": "bernoulli", "false_rate": 0.0, "hit_rate": 1.0}
        stamp_on_bound = session([0.0, 0.25], [0.5], counts, UNIT)
        got = oracle.gradient(stamp_on_bound)
        self.assertIsNone(got["false_rate_logit"])
        self.assertIsNone(got["hit_rate_logit"])
        self.assertIsNone(got["noise"]["latest"])
        self.assert_close(got["noise"]["earliest"], 1.0, 1e-14)  # d(−log width) of one stamp
        exponential = NOISE_EXAMPLES[4] | {"shape": 1.0}
        got = oracle.gradient(session([0.0], [0.5], equal_rates("bernoulli", 0.5), exponential))
        self.assertIsNone(got["noise"]["shape"])


class GoldenFile(TestCase):
    def test_a_changed_number_is_named(self):
        committed = oracle.GOLDEN.read_text(encoding="utf-8")
        document = json.loads(committed)
        document["cases"][3]["expected"]["positive"][1] *= 1 + 1e-11
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "oracle.json"
            changed.write_text(json.dumps(document), encoding="utf-8")
            message = oracle.check(changed)
        self.assertIn(document["cases"][3]["name"] + ".expected.positive[1]", message)

    def test_a_missing_case_is_noticed(self):
        document = json.loads(oracle.GOLDEN.read_text(encoding="utf-8"))
        del document["cases"][0]
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "oracle.json"
            changed.write_text(json.dumps(document), encoding="utf-8")
            self.assertIn("does not have the cases", oracle.check(changed))

    def test_written_text_reads_back_unchanged(self):
        document = json.loads(oracle.GOLDEN.read_text(encoding="utf-8"))
        self.assertEqual(json.loads(oracle.pretty(document)), document)


if __name__ == "__main__":
    unittest.main()
