"""Frontier sum: the free alignment's evidence and posterior, without visiting every map.

    Z = e^(−ρT) Σ_a Π_i u_i(#a⁻¹(i)) · Π_l [p_l(a_l), or ρ],        u_i(c) = Σ_y p_iy c! p(c | y)

Instances come one after another, and each takes a set of the stamps that are still free. A stamp
is open from the first instance that can give it to the last; after that one, a stamp that nobody
took is left to the background. So the state is the set of open stamps that are taken (a bitmask),
and 2^open states carry the sum, exactly. An instance costs 2^open states times the sets that it can
take: open+1 at most if it gives one stamp, 3^open together if it can give any number.

It shares with the enumeration the parts and nothing else: labels are summed first, maps are never
listed, and posteriors come from sums forwards and backwards.
"""

import itertools
import math
from collections import defaultdict

from parts import NEVER, log, log_count, log_density, log_label, log_sum_exp


def label_weights(session, i, count):
    """log p(y | f_i) c! p(c | y) for y = 0 and 1; −∞ for the label that i is known not to have."""
    known = session["labels"][i]
    return [
        log_label(session["log_odds"][i], y)
        + log_count(session["counts"], y, count)
        + math.log(math.factorial(count))
        if known in (None, y)
        else NEVER
        for y in (0, 1)
    ]


def densities(session):
    """log p(z_l − t_i) as [l][i], and log ρ as the last of each row; and the peaks of the rows.

    Rows are relative to their peaks, so that a far stamp costs no digits.
    """
    rows = [
        [log_density(session["noise"], z - t) for t in session["times"]]
        + [log(session.get("background", 0.0))]
        for z in session["stamps"]
    ]
    peaks = [max(row) for row in rows]
    scaled = [
        [value - peak if value != NEVER else NEVER for value in row]
        for row, peak in zip(rows, peaks)
    ]
    return scaled, peaks


def give(session, rows, i):
    """The step of instance i: from a state to (next state, log weight, stamps taken)."""
    able = [l for l, row in enumerate(rows) if row[i] != NEVER]
    weights = [log_sum_exp(label_weights(session, i, c)) for c in range(len(able) + 1)]

    def arcs(taken):
        left = [l for l in able if not taken >> l & 1]
        for count in range(len(left) + 1):
            if weights[count] == NEVER:
                continue
            for own in itertools.combinations(left, count):
                density = math.fsum(rows[l][i] for l in own)
                yield taken | sum(1 << l for l in own), weights[count] + density, own

    return arcs


def close(rows, l):
    """The step after the last instance of stamp l: if it is still free, it is background."""

    def arcs(taken):
        if taken >> l & 1:
            yield taken & ~(1 << l), 0.0, ()
        elif rows[l][-1] != NEVER:
            yield taken, rows[l][-1], (l,)

    return arcs


def steps(session, rows):
    """(instance, arcs) in time order; the instance of a closing step is None."""
    length = len(session["times"])
    able = [[i for i in range(length) if row[i] != NEVER] for row in rows]
    for i in range(-1, length):
        if i >= 0:
            yield i, give(session, rows, i)
        for l, instances in enumerate(able):
            if i == max(instances, default=-1):
                yield None, close(rows, l)


def forwards(session, rows):
    """The log weight of everything, and for each step its instance, arcs, and weights before it."""
    reached, history = {0: 0.0}, []
    for instance, step in steps(session, rows):
        arcs = [(before, *arc) for before in reached for arc in step(before)]
        history.append((instance, arcs, reached))
        ways = defaultdict(list)
        for before, after, log_weight, _ in arcs:
            ways[after].append(reached[before] + log_weight)
        reached = {after: log_sum_exp(terms) for after, terms in ways.items()}
    return reached.get(0, NEVER), history


def backwards(total, history):
    """p(origin of stamp l) by (instance or None, l), and p(o_i = c) by (i, c)."""
    origins, counts = defaultdict(list), defaultdict(list)
    to_come = {0: 0.0}
    for instance, arcs, reached in reversed(history):
        ways = defaultdict(list)
        for before, after, log_weight, own in arcs:
            if after not in to_come:
                continue
            ways[before].append(log_weight + to_come[after])
            share = math.exp(reached[before] + log_weight + to_come[after] - total)
            counts[instance, len(own)].append(share)
            for l in own:
                origins[instance, l].append(share)
        to_come = {before: log_sum_exp(terms) for before, terms in ways.items()}
    return [
        defaultdict(float, {key: math.fsum(shares) for key, shares in table.items()})
        for table in (origins, counts)
    ]


def infer(session):
    """Evidence and posteriors by the oracle's names; every one is None if no map is possible."""
    instances, stamps = range(len(session["times"])), range(len(session["stamps"]))
    rows, peaks = densities(session)
    total, history = forwards(session, rows)
    if total == NEVER:
        return dict.fromkeys(["log_evidence", "positive", "responsibilities", "background"])
    origins, counts = backwards(total, history)

    def positive(i):
        terms = [(counts[i, c], label_weights(session, i, c)) for c in range(len(stamps) + 1)]
        return math.fsum(p * math.exp(w[1] - log_sum_exp(w)) for p, w in terms if p > 0)

    background = session.get("background", 0.0)
    no_others = -background * session["duration"] if background else 0.0
    return {
        "log_evidence": math.fsum([total, *peaks, no_others]),
        "positive": [positive(i) for i in instances],
        "responsibilities": [[origins[i, l] for l in stamps] for i in instances],
        "background": [origins[None, l] for l in stamps],
    }
