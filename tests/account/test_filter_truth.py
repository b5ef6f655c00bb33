"""Filters against the truth: an adaptive adversary's privacy loss, in exact arithmetic over every path of answers."""

import math
from fractions import Fraction

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import RandomizedResponse
from discreet.account.budgets.filter import ApproxFilter, PureFilter, RenyiFilter, ZcdpFilter


def paths(guard, rule, depth):
    """Play randomized response adaptively: (P, Q) of every leaf, as exact rationals.

    `rule(history)` names the odds of the next question, as a Fraction above 1, or None to stop. What the guard does not
    admit is not asked.
    """
    leaves = []

    def play(guard, history, p, q):
        odds = rule(history) if len(history) < depth else None
        loss = None if odds is None else RandomizedResponse(_log(odds))
        if loss is None or not guard.fits(loss):
            leaves.append((p, q))
            return
        after = guard.admit(loss)
        truth, lie = odds / (1 + odds), 1 / (1 + odds)
        play(after, (*history, True), p * truth, q * lie)
        play(after, (*history, False), p * lie, q * truth)

    play(guard, (), Fraction(1), Fraction(1))
    assert sum(p for p, _ in leaves) == sum(q for _, q in leaves) == 1
    return leaves


def _log(odds):
    """ln of a rational, rounded up, so that the loss stated is never below the loss there is."""
    with mpmath.workprec(200):
        value = mpmath.log(mpmath.mpf(odds.numerator) / odds.denominator)
        found = float(value)
        return math.nextafter(found, 9) if mpmath.mpf(found) < value else found


def delta_of(leaves, epsilon):
    with mpmath.workprec(300):
        odds = mpmath.exp(mpmath.mpf(epsilon))
        terms = [_mp(p) - odds * _mp(q) for p, q in leaves]
        return mpmath.fsum(term for term in terms if term > 0)


def divergence_of(leaves, alpha):
    with mpmath.workprec(300):
        alpha = mpmath.mpf(alpha)
        return mpmath.log(mpmath.fsum(_mp(p) ** alpha * _mp(q) ** (1 - alpha) for p, q in leaves)) / (alpha - 1)


def _mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


@st.composite
def rules(draw):
    """A strategy of the adversary: the next odds by the history of answers, often greedy after good luck."""
    low, high = (draw(st.fractions(Fraction(101, 100), 4, max_denominator=100)) for _ in range(2))
    stop = draw(st.integers(-4, 0))
    table = draw(st.lists(st.fractions(Fraction(51, 50), 6, max_denominator=50), min_size=8, max_size=8))
    kind = draw(st.sampled_from(["greedy", "stopping", "table"]))

    def rule(history):
        luck = sum(1 if answer else -1 for answer in history)
        if kind == "greedy":
            return high if luck > 0 else low
        if kind == "stopping":
            return None if luck < stop else high
        return table[hash(history) % len(table)]

    return rule


@given(rule=rules(), budget=st.floats(0.05, 6))
@settings(max_examples=40, deadline=None)
def test_pure_filters_bound_the_true_loss_on_every_path(rule, budget):
    leaves = paths(PureFilter(budget), rule, 7)
    with mpmath.workprec(300):
        bound = mpmath.exp(mpmath.mpf(budget))
        assert all(_mp(p) <= bound * _mp(q) and _mp(q) <= bound * _mp(p) for p, q in leaves)


@given(rule=rules(), budget=st.floats(0.05, 3))
@settings(max_examples=40, deadline=None)
def test_zcdp_filters_bound_the_true_divergence_at_every_order(rule, budget):
    leaves = paths(ZcdpFilter(budget), rule, 7)
    swapped = [(q, p) for p, q in leaves]
    for alpha in (1.01, 2, 5, 30):
        bound = Fraction(alpha) * Fraction(budget)
        assert max(divergence_of(leaves, alpha), divergence_of(swapped, alpha)) <= _mp(bound) + mpmath.mpf("1e-60")


@given(rule=rules(), budget=st.floats(0.05, 3), alpha=st.sampled_from([1.5, 2, 8]))
@settings(max_examples=40, deadline=None)
def test_renyi_filters_bound_the_true_divergence_at_their_order(rule, budget, alpha):
    leaves = paths(RenyiFilter(alpha, budget), rule, 7)
    assert divergence_of(leaves, alpha) <= _mp(Fraction(budget)) + mpmath.mpf("1e-60")


@given(rule=rules(), epsilon=st.floats(0.3, 4), delta=st.sampled_from([0.3, 0.1, 0.01, 1e-4]))
@settings(max_examples=40, deadline=None)
def test_approximate_filters_bound_the_true_delta(rule, epsilon, delta):
    guard = ApproxFilter(epsilon, delta)
    leaves = paths(guard, rule, 7)
    assert delta_of(leaves, epsilon) <= guard.conversion
    assert delta_of([(q, p) for p, q in leaves], epsilon) <= guard.conversion


def test_the_check_itself_would_catch_a_filter_that_admits_too_much():
    leaves = paths(PureFilter(3), lambda _: Fraction(2), 8)
    assert delta_of(leaves, 1) > 0
    assert divergence_of(leaves, 8) > 1
