"""The union of filters against the truth: the exact delta of adaptive interactions, summed over all their outcomes.

Two ways to break the union are played as well: a union that charges only the sum that admits, and one in which a sum
that was exceeded revives. The same check finds both.
"""

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Approx, Budget, GaussianDP, RandomizedResponse, Zcdp
from discreet.account.budgets.union import UnionCost, UnionFilter
from tests.account.test_filter_truth import _log

DEPTH = 5
DIGITS = 50


class OnlyTheAdmitting(UnionFilter):
    """A mutant: a question is added to the first sum that has room for it, and to no other."""

    def charged(self, cost):
        for place, (spent, more, each) in enumerate(zip(self.spent.losses, cost.losses, self.sums, strict=True)):
            if more is not None and spent + more <= each.room and self.spent.delta + cost.delta <= self.pool:
                losses = [*self.spent.losses]
                losses[place] = spent + more
                return replace(self, spent=UnionCost(tuple(losses), self.spent.delta + cost.delta))
        return None


class Reviving(UnionFilter):
    """A mutant: what a sum cannot hold is not added to it, so it goes on as if the question had not been asked."""

    def charged(self, cost):
        after = super().charged(cost)
        if after is None:
            return None
        pairs = zip(after.spent.losses, self.spent.losses, strict=True)
        revived = tuple(before if now is None else now for now, before in pairs)
        return replace(after, spent=UnionCost(revived, after.spent.delta))


def as_mutant(kind, made):
    return kind(made.epsilon, made.delta, made.pool, made.sums)


@mpmath.workdps(DIGITS)
def response(odds):
    """Randomized response: its loss, and the probabilities of its outcomes on both neighbours."""
    truth = mpmath.mpf(odds.numerator) / (odds.numerator + odds.denominator)
    lie = 1 - truth
    return RandomizedResponse(_log(odds)), ((truth, lie), (lie, truth))


@mpmath.workdps(DIGITS)
def threshold(mu, cut):
    """Whether Gaussian noise around mu, or around 0, exceeds a cut."""
    centre, edge = (mpmath.mpf(each.numerator) / each.denominator for each in (mu, cut))
    shifted, plain = mpmath.ncdf(centre - edge), mpmath.ncdf(-edge)
    loss = GaussianDP(mu) if cut.denominator % 2 else Zcdp(mu**2 / 2)  # the same noise, said in two ways
    return loss, ((shifted, plain), (1 - shifted, 1 - plain))


@mpmath.workdps(DIGITS)
def telling(odds, delta):
    """Everything with probability delta, else randomized response."""
    chance, (_, ((truth, lie), _)) = mpmath.mpf(delta.numerator) / delta.denominator, response(odds)
    rest = 1 - chance
    all_of_it = ((chance, mpmath.mpf(0)), (mpmath.mpf(0), chance))
    return Approx(_log(odds), delta), (*all_of_it, (rest * truth, rest * lie), (rest * lie, rest * truth))


def excess(guard, rule, epsilon):
    """The exact delta of an interaction at epsilon: the larger of both directions."""
    with mpmath.workdps(DIGITS):
        odds, totals, mass = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator), [0, 0], [0, 0]

        def play(guard, history, p, q):
            question = rule(history) if len(history) < DEPTH else None
            after = guard.charged(guard.cost(question[0])) if question else None
            if after is None:
                totals[0] += max(mpmath.mpf(0), p - odds * q)
                totals[1] += max(mpmath.mpf(0), q - odds * p)
                mass[0], mass[1] = mass[0] + p, mass[1] + q
                return
            for place, (here, there) in enumerate(question[1]):
                play(after, (*history, place), p * here, q * there)

        play(guard, (), mpmath.mpf(1), mpmath.mpf(1))
        assert max(abs(each - 1) for each in mass) < mpmath.mpf(10) ** -40
        return max(totals)


def sound(guard, rule):
    """Whether an interaction keeps the promise of the budget that guards it."""
    return excess(guard, rule, Fraction(guard.epsilon)) <= mpmath.mpf(guard.delta.numerator) / guard.delta.denominator


questions = st.one_of(
    st.fractions(Fraction(11, 10), 6, max_denominator=10).map(response),
    st.tuples(st.fractions(Fraction(1, 10), 2, max_denominator=10), st.fractions(-1, 3, max_denominator=5)).map(
        lambda pair: threshold(*pair)
    ),
    st.tuples(st.fractions(Fraction(11, 10), 3, max_denominator=10), st.sampled_from([1, 2, 5])).map(
        lambda pair: telling(pair[0], Fraction(pair[1], 200))
    ),
)


@st.composite
def rules(draw):
    """A strategy: the next question by how the answers fell, or by the whole history of them."""
    table = draw(st.lists(questions, min_size=6, max_size=6))
    greedy = draw(st.booleans())

    def rule(history):
        luck = sum(1 if place == 0 else -1 for place in history)
        return table[(luck if greedy else sum(3**depth * (place + 1) for depth, place in enumerate(history))) % 6]

    return rule


budgets = st.tuples(st.sampled_from([Fraction(1, 2), Fraction(3, 2), Fraction(3)]), st.sampled_from([2, 10, 50]))


@given(rule=rules(), budget=budgets)
@settings(max_examples=15, deadline=None)
def test_a_union_keeps_its_promise_exactly_however_it_is_asked(rule, budget):
    assert sound(Budget(epsilon=budget[0], delta=Fraction(1, budget[1])).filter(), rule)


@pytest.mark.slow
@given(rule=rules(), budget=budgets)
@settings(max_examples=300, deadline=None)
def test_a_union_keeps_its_promise_exactly_over_many_strategies(rule, budget):
    assert sound(Budget(epsilon=budget[0], delta=Fraction(1, budget[1])).filter(), rule)


def pure_first(history):
    """Spend the sum of epsilon on randomized response, then ask for Gaussian noise."""
    return response(Fraction(19, 7)) if len(history) < 3 else threshold(Fraction(3, 10), Fraction(1, 5))


def gaussian_first(history):
    """Spend mu^2 on Gaussian noise, which is infinite for the sum of epsilon, then ask for randomized response."""
    return threshold(Fraction(3, 10), Fraction(1, 5)) if len(history) < 2 else response(Fraction(19, 7))


@pytest.mark.parametrize("rule", [pure_first, gaussian_first])
@pytest.mark.parametrize("mutant", [OnlyTheAdmitting, Reviving])
def test_a_union_that_forgets_breaks_its_promise_and_is_found(mutant, rule):
    made = Budget(epsilon=3, delta=Fraction(1, 10**6)).filter()
    assert sound(made, rule)
    if (mutant, rule) != (Reviving, pure_first):  # there, nothing was exceeded that could revive
        assert not sound(as_mutant(mutant, made), rule)


def test_charging_only_the_sum_that_admits_makes_three_really_more_than_five():
    def rule(history):
        return response(Fraction(19, 7)) if len(history) < 3 else threshold(Fraction(3, 5), Fraction(4))

    made = Budget(epsilon=3, delta=Fraction(1, 10**6)).filter()
    assert excess(as_mutant(OnlyTheAdmitting, made), rule, Fraction(53, 10)) > mpmath.mpf("1e-6")
    assert sound(made, rule)
