"""The evidence of a few stamps, straight from the joint: a sum over all labels and all owners."""

from itertools import product

import numpy as np
from scipy import stats


class Enumerated:
    """Bernoulli stamps with normal delays, and some from nowhere, about labels that may form runs.

    `rates` are those at which runs begin and end, None if labels are independent."""

    def __init__(self, times, logits, *, rates=None, about="onset"):
        self.times, self.logits = np.asarray(times), np.asarray(logits, dtype=float)
        self.labels = [np.array(own) for own in product([0, 1], repeat=len(times))]
        log_weights = np.array([self._log_weight(own, rates) for own in self.labels])
        self.weights = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        self.about = about if rates else "presence"

    def _log_weight(self, labels, rates):
        weight = self.logits @ labels
        if rates is None:
            return weight
        begin, end = rates
        stationary = np.array([end, begin]) / (begin + end)
        for gap, before, now in zip(np.diff(self.times), labels, labels[1:]):
            stay = np.exp(-(begin + end) * gap)
            change = stationary[now] * (1.0 - stay) + (before == now) * stay
            weight += np.log(change / stationary[now])
        return weight

    def probabilities(self):
        """p(y_i = 1), without stamps."""
        return self.weights @ np.array(self.labels)

    def log_evidence(self, *people):
        """Of the stamps of people, who are independent given the labels."""
        given = [np.prod([self._of_one(own, **person) for person in people]) for own in self.labels]
        return np.log(self.weights @ given)

    def _of_one(self, labels, stamps, delay, spread, hit, false, background):
        """p(stamps of one person | labels); a pair of times is the interval of a stamp."""
        events = {
            "onset": labels > np.append(0, labels[:-1]),
            "end": labels > np.append(labels[1:], 0),
            "presence": labels > 0,
        }[self.about]
        given = np.where(events, hit, false)
        density = [[_density(stamp, t + delay, spread) for t in self.times] for stamp in stamps]
        total = 0.0
        for owners in product([None, *range(len(self.times))], repeat=len(stamps)):
            owned = [own for own in owners if own is not None]
            if len(set(owned)) < len(owned):
                continue
            silent = np.delete(1.0 - given, owned)
            from_instances = [density[k][i] for k, i in enumerate(owners) if i is not None]
            nowhere = background ** (len(stamps) - len(owned))
            total += np.prod(silent) * np.prod(given[owned]) * np.prod(from_instances) * nowhere
        return total * np.exp(-background * self._duration(stamps))

    def _duration(self, stamps):
        """As long as there are instances or stamps."""
        ends = [*self.times, *np.ravel([np.mean(stamp) for stamp in stamps])]
        return max(ends) - min(ends)


def _density(stamp, centre, spread):
    delay = stats.norm(centre, spread)
    if np.ndim(stamp) == 0:
        return delay.pdf(stamp)
    return (delay.cdf(stamp[1]) - delay.cdf(stamp[0])) / (stamp[1] - stamp[0])
