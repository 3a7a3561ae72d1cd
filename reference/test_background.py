"""A background, and alignment without order, against closed forms and against the ordered sum."""

import itertools
import math
import unittest

import oracle
from cases import loose_sessions
from examples import (
    COUNT_EXAMPLES,
    GAUSSIAN,
    NOISE_EXAMPLES,
    TestCase,
    equal_rates,
    normal,
    session,
    sigmoid,
)
from parts import log_density


def loose(case, alignment, background=0.0, duration=7.0):
    return case | {"alignment": alignment, "background": background, "duration": duration}


class Background(TestCase):
    def test_one_instance_one_stamp(self):
        case = session([1.0], [1.4], COUNT_EXAMPLES[0], GAUSSIAN, log_odds=[0.7])
        stamped = (sigmoid(0.7) * 0.8 + sigmoid(-0.7) * 0.1) * normal(0.4)
        silent = (sigmoid(0.7) * 0.2 + sigmoid(-0.7) * 0.9) * 0.3
        for alignment in ("ordered", "free"):
            got = oracle.infer(loose(case, alignment, background=0.3))
            # Each is a product of a few numbers of order one.
            self.assert_close(got["log_evidence"], math.log(stamped + silent) - 0.3 * 7, 1e-14)
            self.assert_close(got["background"][0], silent / (stamped + silent), 1e-14)
            spurious = silent + sigmoid(-0.7) * 0.1 * normal(0.4)
            self.assert_close(got["spurious"][0], spurious / (stamped + silent), 1e-14)
            self.assertEqual(got["best_alignment"], [0])

    def test_stamps_that_no_instance_can_give_are_a_poisson_process(self):
        counts = {"kind": "bernoulli", "false_rate": 0.0, "hit_rate": 0.8}
        for alignment, stamp_count in itertools.product(("ordered", "free"), range(4)):
            case = session([0.0, 1.0], [0.1] * stamp_count, counts, labels=[0, 0])
            labels = math.log(sigmoid(0.4) * sigmoid(0.1))
            got = oracle.infer(loose(case, alignment, background=0.3))
            want = stamp_count * math.log(0.3) - 0.3 * 7 + labels
            self.assert_close(got["log_evidence"], want, 1e-14)  # a handful of roundings
            self.assertEqual(got["background"], [1.0] * stamp_count)
            self.assertEqual(got["best_alignment"], [None] * stamp_count)

    def test_an_instance_comes_before_the_background_in_a_tie(self):
        # ½ · density ½ from the instance; ½ · rate ½ if it is silent.
        wide = {"kind": "uniform", "earliest": -1.0, "latest": 1.0}
        case = session([0.0], [0.25], equal_rates("bernoulli", 0.5), wide)
        got = oracle.infer(loose(case, "ordered", background=0.5))
        self.assert_close(got["background"][0], 0.5, 1e-15)  # two equal weights
        self.assertEqual(got["best_alignment"], [0])

    def test_the_rest_of_the_stamps_is_an_ordered_session(self):
        stamps = [-0.2, 0.3, 0.9, 1.3]
        for counts, noise in itertools.product(COUNT_EXAMPLES, NOISE_EXAMPLES):
            case = session([0.0, 0.5, 1.0], stamps, counts, noise)
            terms = []
            for kept in itertools.product([True, False], repeat=4):
                rest = list(itertools.compress(stamps, kept))
                log_weight = oracle.log_evidence(case | {"stamps": rest})
                terms.append(math.exp(log_weight) * 0.2 ** (4 - len(rest)))
            got = oracle.log_evidence(loose(case, "ordered", background=0.2))
            want = math.log(math.fsum(terms)) - 0.2 * 7
            self.assert_close(got, want, 1e-13)  # sixteen sums, each good to 1e-15

    def test_without_a_rate_nothing_changes(self):
        case = session([0.0, 0.5, 1.0], [0.2, 0.9], COUNT_EXAMPLES[1], GAUSSIAN)
        got = oracle.infer(loose(case, "ordered"))
        self.assertEqual(got.pop("background"), [0.0, 0.0])
        self.assertEqual(got, oracle.infer(case))
        slopes = oracle.gradient(loose(case, "ordered"))
        self.assertIsNone(slopes.pop("background_log"))
        self.assertEqual(slopes, oracle.gradient(case))

    def test_the_derivative_is_what_is_expected_less_what_was_expected(self):
        compared = 0
        for case in loose_sessions():
            got = oracle.infer(case)
            if got["log_evidence"] is None or case["background"] == 0:
                continue
            want = math.fsum([*got["background"], -case["background"] * case["duration"]])
            # The two may cancel.
            slope = oracle.gradient(case)["background_log"]
            self.assert_close(slope, want, 1e-13, absolute=1e-15)
            compared += 1
        self.assertGreater(compared, 25)


class Free(TestCase):
    def test_poisson_instances_superpose(self):
        # e^(−Lλ − ρT) Π_l (ρ + λ Σ_i p_l(i)): a Poisson process again.
        times, rate = [0.0, 0.3, 1.1], 0.4
        mean = -math.log1p(-rate)
        for noise, stamp_count in itertools.product(NOISE_EXAMPLES, range(4)):
            stamps = [0.3, 0.55, 1.15][:stamp_count]
            case = session(times, stamps, equal_rates("poisson", rate), noise)
            got = oracle.infer(loose(case, "free", background=0.3))
            want = -3 * mean - 0.3 * 7
            for l, z in enumerate(stamps):
                densities = [math.exp(log_density(noise, z - t)) for t in times]
                intensity = 0.3 + mean * math.fsum(densities)
                want += math.log(intensity)
                self.assert_close(got["background"][l], 0.3 / intensity, 1e-13)  # 125 terms
                self.assert_close(
                    got["responsibilities"][1][l], mean * densities[1] / intensity, 1e-13
                )
            self.assert_close(got["log_evidence"], want, 1e-13)  # 125 terms

    def test_at_most_one_stamp_counts_partial_matchings(self):
        # Rate ½ and density 1: every map of k stamps to different instances weighs 2^−L ρ^(M−k).
        for length, stamp_count in [(3, 0), (3, 2), (4, 3), (2, 4)]:
            case = session([0.0] * length, [0.1] * stamp_count, equal_rates("bernoulli", 0.5))
            got = oracle.log_evidence(loose(case, "free", background=0.3, duration=0.0))
            matchings = [
                math.comb(length, k) * math.perm(stamp_count, k) * 0.3 ** (stamp_count - k)
                for k in range(stamp_count + 1)
            ]
            self.assert_close(math.exp(got) * 2**length, math.fsum(matchings), 1e-13)  # its sum

    def test_two_instances_two_stamps_written_out(self):
        # As with order, and one term more, in which the stamps cross.
        case = session([0.0, 1.0], [0.3, 0.9], equal_rates("geometric", 0.4), GAUSSIAN)
        first, split, second, crossed = (
            2 * normal(0.3) * normal(0.9),
            normal(0.3) * normal(-0.1),
            2 * normal(-0.7) * normal(-0.1),
            normal(0.9) * normal(-0.7),
        )
        total = first + split + second + crossed
        got = oracle.infer(loose(case, "free"))
        # Sums and products of four to ten positive numbers.
        self.assert_close(got["log_evidence"], math.log(0.6**2 * 0.4**2 * total), 1e-13)
        self.assert_close(got["responsibilities"][0][1], (first + crossed) / total, 1e-13)
        self.assert_close(math.fsum(got["counts"][1][1]), (split + crossed) / total, 1e-13)

    def test_one_stamp_or_one_instance_has_no_order(self):
        for counts, noise in itertools.product(COUNT_EXAMPLES, NOISE_EXAMPLES):
            for times, stamps in [([0.0, 0.5, 1.0], [0.6]), ([0.5], [0.3, 0.6, 0.8])]:
                case = session(times, stamps, counts, noise)
                free, ordered = (
                    oracle.infer(loose(case, alignment, background=0.2))
                    for alignment in ("free", "ordered")
                )
                self.assertEqual(free, ordered)

    def test_stamps_may_come_in_any_order(self):
        for counts, noise in itertools.product(COUNT_EXAMPLES, NOISE_EXAMPLES):
            case = loose(session([0.0, 0.4, 1.0], [0.2, 0.6, 1.1], counts, noise), "free", 0.1)
            got, turned = oracle.infer(case), oracle.infer(case | {"stamps": [1.1, 0.6, 0.2]})
            self.assert_close(turned["log_evidence"], got["log_evidence"], 1e-14)  # the same terms
            self.assertEqual(turned["background"], got["background"][::-1])
            rows = [row[::-1] for row in got["responsibilities"]]
            self.assertEqual(turned["responsibilities"], rows)

    def test_order_leaves_terms_out(self):
        lost = 0
        for case in loose_sessions():
            free = oracle.log_evidence(case | {"alignment": "free"})
            ordered = oracle.log_evidence(case | {"alignment": "ordered"})
            self.assertGreaterEqual(free, ordered, case["name"])
            lost += free > ordered
        self.assertGreater(lost, 20)

    def test_an_alignment_of_another_name_is_refused(self):
        case = session([0.0], [0.1], COUNT_EXAMPLES[0])
        with self.assertRaises(ValueError):
            oracle.log_evidence(loose(case, "sorted"))


class Derivatives(TestCase):
    def test_complex_steps_match_central_differences(self):
        for counts, noise in itertools.product(COUNT_EXAMPLES, NOISE_EXAMPLES):
            for alignment in ("ordered", "free"):
                bare = session([0.0, 0.4, 1.1], [0.55, 0.9], counts, noise)
                case = loose(bare, alignment, background=0.2)
                moved = [
                    oracle.log_evidence(case | {"background": 0.2 * math.exp(step)})
                    for step in (1e-5, -1e-5)
                ]
                # Steps of 1e-5 leave 1e-10 of third derivatives, rounding 1e-16 / 1e-5.
                want = (moved[0] - moved[1]) / 2e-5
                slope = oracle.gradient(case)["background_log"]
                self.assert_close(slope, want, 1e-7, absolute=1e-8)


if __name__ == "__main__":
    unittest.main()
