"""The oracle against closed forms: what a wrong factor, order or count would break."""

import copy
import itertools
import json
import math
import pathlib
import tempfile
import unittest

import oracle
from cases import loose_sessions, sessions
from examples import (
    COUNT_EXAMPLES,
    GAUSSIAN,
    NOISE_EXAMPLES,
    UNIT,
    TestCase,
    equal_rates,
    normal,
    session,
    sigmoid,
)
from parts import log_count, noise_parameters


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
            self.assert_close(mass, math.exp(log_count(counts, 0, stamp_count)), 1e-13)

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
        every = itertools.chain(sessions(), loose_sessions())
        cls.all = [(case, oracle.infer(case)) for case in every]
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
                background = got["background"][l] if "background" in got else 0
                self.assert_close(column + background, 1, 1e-14)  # sums of the same exponentials
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
            # Equal where only one alignment is possible; 1e-14 is the rounding of two logs.
            slack = 1e-14 * abs(got["log_evidence"])
            self.assertLessEqual(got["best_log_weight"], got["log_evidence"] + slack, case["name"])

    def test_best_alignments_are_in_order_unless_free(self):
        crossed = set()
        for case, got in self.feasible:
            owners = [i for i in got["best_alignment"] if i is not None]
            if owners != sorted(owners):
                crossed.add(case["name"])
        self.assertEqual(crossed, {"free-crossing"})


class Derivatives(TestCase):
    def test_log_odds_pull_towards_the_posterior(self):
        for case in itertools.chain(sessions(), loose_sessions()):
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
            for name, value in noise_parameters(noise).items():
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


class GoldenFiles(TestCase):
    def committed(self, name):
        return json.loads((oracle.GOLDEN / name).read_text(encoding="utf-8"))

    def test_a_changed_number_is_named(self):
        for name in oracle.FILES:
            document = self.committed(name)
            document["cases"][3]["expected"]["positive"][1] *= 1 + 1e-11
            with tempfile.TemporaryDirectory() as folder:
                changed = pathlib.Path(folder) / name
                changed.write_text(json.dumps(document), encoding="utf-8")
                message = oracle.check(changed)
            self.assertIn(document["cases"][3]["name"] + ".expected.positive[1]", message)

    def test_a_missing_case_is_noticed(self):
        document = self.committed("oracle.json")
        del document["cases"][0]
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "oracle.json"
            changed.write_text(json.dumps(document), encoding="utf-8")
            self.assertIn("does not have the cases", oracle.check(changed))

    def test_written_text_reads_back_unchanged(self):
        for name in oracle.FILES:
            document = self.committed(name)
            self.assertEqual(json.loads(oracle.pretty(document)), document)


if __name__ == "__main__":
    unittest.main()
