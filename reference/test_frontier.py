"""The frontier sum against enumeration and, where that is too slow, against closed forms."""

import math
import unittest
from unittest import mock

import frontier
import oracle
from cases import frontier_sessions, loose_sessions
from examples import COUNT_EXAMPLES, GAUSSIAN, UNIT, TestCase, equal_rates, session
from parts import log_density


def free(case, background=0.0, duration=7.0):
    return case | {"alignment": "free", "background": background, "duration": duration}


def numbers(value):
    if isinstance(value, list):
        return [number for entry in value for number in numbers(entry)]
    return [value]


def disagreement(got, want):
    """The largest relative difference of two answers, over the fields that both have."""
    pairs = [
        pair
        for field in got
        for pair in zip(numbers(got[field]), numbers(want[field]), strict=True)
    ]
    return max(abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0 for a, b in pairs)


class AgainstEnumeration(TestCase):
    @classmethod
    def setUpClass(cls):
        every = [case | {"alignment": "free"} for case in loose_sessions()]
        cls.all = [(case, oracle.infer(case)) for case in every]
        cls.feasible = [(case, want) for case, want in cls.all if want["log_evidence"] is not None]

    def test_evidence_and_posteriors_agree(self):
        self.assertGreater(len(self.feasible), 35)
        for case, want in self.feasible:
            # Enumeration adds factors of log size up to 3000: 3000 · 1e-16.
            self.assertLess(disagreement(frontier.infer(case), want), 1e-12, case["name"])

    def test_what_is_impossible_has_no_answer(self):
        impossible = [case for case, want in self.all if want["log_evidence"] is None]
        self.assertEqual(len(impossible), 3)
        for case in impossible:
            self.assertEqual(set(frontier.infer(case).values()), {None}, case["name"])

    def test_a_broken_sum_would_be_noticed(self):
        give, weights, close = frontier.give, frontier.label_weights, frontier.close
        densities, steps = frontier.densities, frontier.steps

        def without_factorial(case, i, count):
            return [w - math.log(math.factorial(count)) for w in weights(case, i, count)]

        def labels_unknown(case, i, count):
            return weights(case | {"labels": [None] * len(case["labels"])}, i, count)

        def labels_swapped(case, i, count):
            return weights(case, i, count)[::-1]

        def in_order(case, rows, i):
            arcs = give(case, rows, i)
            return lambda taken: (arc for arc in arcs(taken) if all(1 << l > taken for l in arc[2]))

        def one_at_most(case, rows, i):
            arcs = give(case, rows, i)
            return lambda taken: (arc for arc in arcs(taken) if len(arc[2]) <= 1)

        def taken_twice(case, rows, i):
            arcs = give(case, rows, i)
            return lambda taken: ((taken | new, w, own) for new, w, own in arcs(0))

        def background_for_nothing(rows, l):
            arcs = close(rows, l)
            return lambda taken: ((after, 0.0, own) for after, _, own in arcs(taken))

        def background_forbidden(rows, l):
            arcs = close(rows, l)
            return lambda taken: (arc for arc in arcs(taken) if not arc[2])

        def no_peaks(case):
            rows, peaks = densities(case)
            return rows, [0.0] * len(peaks)

        def first_instance_left_out(case, rows):
            return (step for step in steps(case, rows) if step[0] != 0)

        broken = [
            ("label_weights", [without_factorial, labels_unknown, labels_swapped]),
            ("give", [in_order, one_at_most, taken_twice]),
            ("close", [background_for_nothing, background_forbidden]),
            ("densities", [no_peaks]),
            ("steps", [first_instance_left_out]),
        ]
        for name, versions in broken:
            for version in versions:
                with mock.patch.object(frontier, name, version):
                    wrong = [self.is_wrong(case, want) for case, want in self.feasible]
                self.assertGreater(sum(wrong), 2, version.__name__)

    def is_wrong(self, case, want):
        got = frontier.infer(case)
        # A thousandth, so that no such mistake could pass for rounding.
        return got["log_evidence"] is None or disagreement(got, want) > 1e-3


class ClosedForms(TestCase):
    def test_without_instances_there_is_the_background(self):
        got = frontier.infer(free(session([], [0.1, 0.4], COUNT_EXAMPLES[0]), 0.3))
        self.assert_close(got["log_evidence"], 2 * math.log(0.3) - 0.3 * 7, 1e-15)  # one sum
        self.assertEqual(got["background"], [1.0, 1.0])

    def test_partial_matchings_of_fourteen_instances_and_nine_stamps(self):
        # Rate ½ and density 1: every map of k stamps to different instances weighs 2^−L ρ^(M−k).
        case = free(session([0.0] * 14, [0.1] * 9, equal_rates("bernoulli", 0.5)), 0.3, 2.0)
        weights = [math.comb(14, k) * math.perm(9, k) * 0.3 ** (9 - k) for k in range(10)]
        got = frontier.infer(case)
        want = math.log(math.fsum(weights)) - 14 * math.log(2) - 0.6
        self.assert_close(got["log_evidence"], want, 1e-13)  # logs added fourteen times
        left = math.fsum((9 - k) * weight for k, weight in enumerate(weights))
        for background in got["background"]:
            self.assert_close(background, left / math.fsum(weights) / 9, 1e-13)  # the same

    def test_poisson_instances_superpose(self):
        times, stamps = [0.5 * i for i in range(14)], [0.7, 1.0, 1.9, 2.0, 3.3, 4.1, 5.0]
        case = free(session(times, stamps, equal_rates("poisson", 0.4), GAUSSIAN), 0.3)
        mean = -math.log1p(-0.4)
        got, want = frontier.infer(case), -14 * mean - 0.3 * 7
        for l, z in enumerate(stamps):
            densities = [math.exp(log_density(GAUSSIAN, z - t)) for t in times]
            intensity = 0.3 + mean * math.fsum(densities)
            want += math.log(intensity)
            # Logs added fourteen times, and sums of thousands of positive terms.
            self.assert_close(got["background"][l], 0.3 / intensity, 1e-12)
            for row, density in zip(got["responsibilities"], densities):
                self.assert_close(row[l], mean * density / intensity, 1e-12)
        self.assert_close(got["log_evidence"], want, 1e-13)

    def test_stamps_that_are_closed_cost_nothing(self):
        # Four copies out of each other's reach, each with three stamps.
        times, stamps, log_odds = [0.0, 0.25, 0.5], [0.125, 0.25, 0.5], [0.5, -1.0, 1.5]
        one = free(session(times, stamps, COUNT_EXAMPLES[0], UNIT, log_odds), 0.2, 3.0)
        offsets = [0.0, 10.0, 20.0, 30.0]
        many = one | {
            "times": [offset + t for offset in offsets for t in times],
            "stamps": [offset + z for offset in offsets for z in stamps],
            "log_odds": log_odds * 4,
            "labels": [None] * 12,
            "duration": 12.0,
        }
        got, want = frontier.infer(many), frontier.infer(one)
        self.assert_close(got["log_evidence"], 4 * want["log_evidence"], 1e-13)  # 24 steps
        for l in range(12):
            self.assert_close(got["background"][l], want["background"][l % 3], 1e-13)  # the same
        _, history = frontier.forwards(many, frontier.densities(many)[0])
        self.assertEqual(max(len(reached) for _, _, reached in history), 2**3)

    def test_every_stamp_of_the_golden_sessions_has_one_origin(self):
        for case in frontier_sessions():
            got = frontier.infer(case)
            for l, background in enumerate(got["background"]):
                column = math.fsum([background, *(row[l] for row in got["responsibilities"])])
                self.assert_close(column, 1, 1e-12)  # logs of size 10, added 14 times

    def test_golden_sessions_span_what_they_should(self):
        every = list(frontier_sessions())
        self.assertEqual(len(every), 60)
        self.assertEqual({len(case["stamps"]) for case in every}, {4, 6, 7, 8})
        self.assertEqual({len(case["times"]) for case in every}, set(range(10, 15)))
        self.assertEqual(sum(case["background"] == 0.1 for case in every), 12)
        for case in every:
            self.assertEqual(case["stamps"], sorted(case["stamps"]), case["name"])


if __name__ == "__main__":
    unittest.main()
