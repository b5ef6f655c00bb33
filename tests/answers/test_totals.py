"""Pooled: what groups have together is made of their sums, whatever is computed from these."""

from fractions import Fraction

import pytest

from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.functions import value_of
from discreet.answers.quantity import BracketedValue, NoisyInteger, linear
from discreet.answers.select_clauses import pooled
from discreet.core.errors import BadParameter
from discreet.measures import moments
from tests.answers import spreads

# Two groups of values between 0 and 10, as exact sums: noise of scale 1 changes no value here.
GROUPS = ([1, 4, 7], [10, 2, 0, 6])
TOGETHER = [value for group in GROUPS for value in group]


def noisy(place, *values):
    return [NoisyInteger(f"{place}.{at}", value, "laplace", Fraction(1)) for at, value in enumerate(values)]


def mean(place, group):
    made = noisy(place, sum(group), sum(10 - value for value in group))
    return moments.mean(made, Fraction(0), Fraction(10), step=Fraction(1))


def spread(place, group, of=spreads.variance):
    centred = [2 * value - 10 for value in group]
    made = noisy(place, sum(centred), sum(each**2 for each in centred), sum(100 - each**2 for each in centred))
    return of(made, 10, step=Fraction(1))


def variance(values):
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / len(values)


def test_counts_and_sums_add_up_with_their_noise():
    one, other = (linear(each) for each in noisy("n", 3, 4))
    assert pooled([one, other]) == one.plus(other)
    assert value_of(pooled([one, other])) == 7


def test_the_mean_of_all_is_made_of_sums_not_of_means():
    found = pooled([mean(place, group) for place, group in enumerate(GROUPS)])
    assert value_of(found) == pytest.approx(sum(TOGETHER) / len(TOGETHER))
    assert (found.low, found.high) == (0, 10)


@pytest.mark.parametrize(("of", "power"), [(spreads.variance, 1), (spreads.std, 0.5)])
def test_the_spread_of_all_is_made_of_sums(of, power):
    found = pooled([spread(place, group, of) for place, group in enumerate(GROUPS)])
    assert value_of(found) == pytest.approx(variance(TOGETHER) ** power)


def test_one_group_is_itself():
    bracket = BracketedValue(3, 1, 5)
    assert pooled([bracket]) is bracket


def test_quantiles_are_not_pooled():
    with pytest.raises(BadParameter, match="does not follow from the values of each"):
        pooled([BracketedValue(3, 1, 5), BracketedValue(4, 1, 5)])


@pytest.mark.parametrize("what", [mean, lambda place, _: BracketedValue(1, 0, 3)], ids=["means", "brackets"])
def test_thousands_of_groups_have_a_total_whatever_they_are_made_of(what):
    rows = 1500
    column = AnswerColumn("found", tuple(what(place, GROUPS[0]) for place in range(rows)))
    found = Answer(keys=("key",), rows=tuple((place,) for place in range(rows)), columns=(column,)).total()
    low, high = found.interval()
    assert low < found.value() < high
    assert found.value() == pytest.approx(rows * value_of(column.quantities[0]))
    assert Answer.from_json(found.to_json()).value() == found.value()
