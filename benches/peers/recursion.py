"""The textbook recursion in JAX: value and all gradients by automatic differentiation.

    a(i, l) = u_i(0)·a(i−1, l) + u_i(1)·p(z_l | t_i)·a(i−1, l−1)

One step of a scan per instance, vectorised over all stamps, compiled. In log space, or with every
row divided by its largest entry, whichever is faster. The second is mostly faster, but fails in
long sessions, where a row spans more than a double can hold: the state that has left every stamp
unexplained stays near one, the true one falls by orders of magnitude at every stamp.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.nn import log_sigmoid

jax.config.update("jax_enable_x64", True)


def _weights(log_odds, counts):
    """log u_i(0) and log u_i(1)."""
    negative, positive = log_sigmoid(-log_odds), log_sigmoid(log_odds)
    silent = [log_sigmoid(-counts[0]), log_sigmoid(-counts[1])]
    press = [log_sigmoid(counts[0]), log_sigmoid(counts[1])]
    return (
        jnp.logaddexp(negative + silent[0], positive + silent[1]),
        jnp.logaddexp(negative + press[0], positive + press[1]),
    )


def _log_density(delays, noise):
    scaled = (delays - noise[0]) * jnp.exp(-noise[1])
    return -0.5 * jnp.log(2 * jnp.pi) - noise[1] - 0.5 * scaled * scaled


def in_logs(log_odds, annotator, times, stamps):
    """log evidence, every cell a logarithm."""
    counts, noise = annotator[:2], annotator[2:]
    silent, press = _weights(log_odds, counts)

    def step(row, at):
        time, silent, press = at
        pressed = row[:-1] + press + _log_density(stamps - time, noise)
        return jnp.concatenate([row[:1] + silent, jnp.logaddexp(row[1:] + silent, pressed)]), None

    # Not −∞, whose differences have no derivative.
    first = jnp.full(len(stamps) + 1, -1e30).at[0].set(0.0)
    return lax.scan(step, first, (times, silent, press))[0][-1]


def scaled(log_odds, annotator, times, stamps):
    """log evidence, rows divided by their largest entry."""
    counts, noise = annotator[:2], annotator[2:]
    silent, press = (jnp.exp(weight) for weight in _weights(log_odds, counts))

    def step(carry, at):
        row, log_scale = carry
        time, silent, press = at
        pressed = row[:-1] * press * jnp.exp(_log_density(stamps - time, noise))
        row = jnp.concatenate([row[:1] * silent, row[1:] * silent + pressed])
        largest = lax.stop_gradient(row.max())
        return (row / largest, log_scale + jnp.log(largest)), None

    first = jnp.zeros(len(stamps) + 1).at[0].set(1.0)
    (row, log_scale), _ = lax.scan(step, (first, 0.0), (times, silent, press))
    return log_scale + jnp.log(row[-1])


def compiled(evidence, session, annotator):
    """A call without arguments that gives the value and both gradients, done when it returns."""
    function = jax.jit(jax.value_and_grad(evidence, argnums=(0, 1)))
    arguments = [session["log_odds"], annotator, session["times"], session["stamps"]]
    arguments = [jax.device_put(jnp.asarray(argument)) for argument in arguments]
    return lambda: jax.block_until_ready(function(*arguments))
