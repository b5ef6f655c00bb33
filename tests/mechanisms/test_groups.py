"""Statistics of many groups at once: what one unit moves in all, the loss stated for it, noise drawn, speed."""

import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteGaussian, DiscreteLaplace, Zcdp
from discreet.core.errors import BadParameter
from discreet.lab import examine
from discreet.mechanisms import Cdf, Count, Covariance, Distinct, Histogram, Mean, Sum, Variance
from discreet.mechanisms.parts.integer_noise import Sensitivity
from discreet.testing import seeded
from tests.mechanisms.raw import check_fit

GROUPS = 4
ROWS = 5
# A row: its group, and two values or a null.
ROW = st.tuples(st.integers(0, GROUPS - 1), st.integers(-3, 4) | st.none(), st.integers(0, 3))


def makers():
    """Every statistic, as a function of the parameters that all share."""
    yield "count", lambda **given: Count(**given)
    yield "sum", lambda **given: Sum(low=-3, high=4, **given)
    yield "sum of one sign", lambda **given: Sum(low=0, high=4, **given)
    yield "distinct", lambda **given: Distinct(**given)
    yield "distinct keys", lambda **given: Distinct(keys=(0, 1), **given)
    yield "histogram", lambda **given: Histogram(keys=(-3, 0, 4), **given)
    yield "histogram of one key", lambda **given: Histogram(keys=(4,), **given)
    yield "cdf", lambda **given: Cdf(thresholds=(-2, 0, 2), branching=2, **given)
    yield "mean", lambda **given: Mean(low=-3, high=4, **given)
    yield "variance", lambda **given: Variance(low=-3, high=4, **given)
    yield "covariance", lambda **given: Covariance(bounds=((-3, 4), (0, 3)), **given)


MAKERS = dict(makers())
AVERAGES = ("mean", "variance", "covariance")


def exact_vectors(mechanism, rows):
    """The exact integers of all groups, one after the other."""
    out = []
    for group in range(GROUPS):
        inside = [(one, two) for place, one, two in rows if place == group]
        wide = isinstance(mechanism, Covariance)
        values = [[one for one, _ in inside], [two for _, two in inside]] if wide else [one for one, _ in inside]
        out.append(mechanism.exact(values))
    return out


def bounded(rows, most_groups):
    """Rows of one unit: the groups of the first few."""
    kept = list(dict.fromkeys(group for group, _, _ in rows))[:most_groups]
    return [row for row in rows if row[0] in kept]


def check_moves(mechanism, one, other):
    """Compare how far all groups together lie apart with what each part's noise was made for."""
    columns = [
        [abs(a - b) for a, b in zip(mechanism._inner(p), mechanism._inner(q), strict=True)]
        for p, q in zip(one, other, strict=True)
    ]
    start = 0
    for noise, size in mechanism.noises:
        moved = [entry for group in columns for entry in group[start : start + size]]
        start += size
        assert sum(entry != 0 for entry in moved) <= noise.sensitivity.l0
        assert max(moved) <= noise.sensitivity.linf
        assert sum(moved) <= noise.sensitivity.l1
        assert sum(entry * entry for entry in moved) <= noise.sensitivity.l2_squared


@pytest.mark.parametrize("name", MAKERS)
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=ROWS), st.integers(1, GROUPS))
def test_one_unit_moves_all_groups_together_by_no_more_than_declared(name, shared, unit, groups):
    mechanism = MAKERS[name](epsilon=1, contributions=ROWS, groups=groups)
    tables = shared + bounded(unit, groups), shared
    check_moves(mechanism, *(exact_vectors(mechanism, table) for table in tables))


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in AVERAGES])
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=ROWS), st.lists(ROW, max_size=ROWS), st.integers(2, GROUPS))
def test_a_replaced_unit_moves_them_by_no_more_than_declared(name, shared, out, into, groups):
    mechanism = MAKERS[name](epsilon=1, contributions=ROWS, groups=groups, relation="replace")
    tables = shared + bounded(out, groups), shared + bounded(into, groups)
    check_moves(mechanism, *(exact_vectors(mechanism, table) for table in tables))


def capped(rows, most):
    """Rows of one unit: in each group the first few."""
    seen = Counter()
    return [row for row in rows if (seen.update([row[0]]) or seen[row[0]]) <= most]


@pytest.mark.parametrize("name", MAKERS)
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=ROWS), st.lists(ROW, max_size=ROWS), st.integers(1, ROWS))
def test_a_unit_of_few_rows_in_each_group_moves_all_groups_by_no_more_than_declared(name, shared, out, into, most):
    given = {"epsilon": 1, "contributions": ROWS, "groups": GROUPS, "in_group": most}
    check_moves(
        MAKERS[name](**given), *(exact_vectors(MAKERS[name](**given), t) for t in (shared + capped(out, most), shared))
    )
    if name in AVERAGES:
        return
    mechanism = MAKERS[name](**given, relation="replace")
    check_moves(mechanism, *(exact_vectors(mechanism, shared + capped(each, most)) for each in (out, into)))


@pytest.mark.parametrize(("rows", "most", "squares"), [(5, 2, 9), (4, 2, 8), (5, 5, 25), (5, 1, 5), (3, 2, 5)])
def test_gaussian_noise_is_that_of_rows_that_fill_as_many_groups_as_they_can(rows, most, squares):
    (noise, _), *_ = Sum(low=0, high=3, rho=Fraction(1, 2), contributions=rows, groups=9, in_group=most).noises
    assert noise.sensitivity.l2_squared == 9 * squares
    # So many groups move by so much: all of the price, and no more.
    full, rest = divmod(rows, most)
    moved = [3 * most] * full + [3 * rest]
    assert 0.49 < sum(each**2 for each in moved) / (2 * noise.scale**2) <= Fraction(1, 2)


@pytest.mark.parametrize("given", [{"groups": 1, "in_group": 2}, {"groups": 3, "in_group": 6}])
def test_a_group_with_more_rows_than_all_groups_is_refused(given):
    with pytest.raises(BadParameter, match="in_group"):
        Count(epsilon=1, contributions=5, **given)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("price", [{"epsilon": Fraction(1, 2)}, {"rho": Fraction(1, 10)}])
@pytest.mark.parametrize(("contributions", "groups"), [(1, 1), (1, 3), (4, 1), (4, 3), (2, 5)])
def test_the_loss_is_the_price_whatever_the_groups(name, price, contributions, groups):
    mechanism = MAKERS[name](contributions=contributions, groups=groups, **price)
    if "rho" in price:
        assert 0.0999 < mechanism.loss.zcdp() <= 0.1
    else:
        assert mechanism.loss.epsilon(0) == pytest.approx(0.5)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}])
def test_for_single_rows_the_number_of_groups_changes_nothing(name, price):
    one, many = MAKERS[name](**price), MAKERS[name](groups=7, **price)
    assert one.loss == many.loss
    assert [noise.scale for noise, _ in one.noises] == [noise.scale for noise, _ in many.noises]


def test_several_groups_are_stated_by_the_loss_that_is_proved_for_them():
    assert Count(epsilon=1, contributions=3, groups=2).loss == DiscreteLaplace(3, 3)
    assert Count(epsilon=1, contributions=3).loss == DiscreteLaplace(3, 3)
    assert isinstance(Count(rho=0.5, contributions=3).loss, DiscreteGaussian)
    spread = Count(rho=0.5, contributions=3, groups=2)
    assert spread.loss == Zcdp(9 / (2 * spread.noises[0][0].scale ** 2))
    assert Count(epsilon=1, groups=2, relation="replace").loss == DiscreteLaplace(2, 1, relation="replace") * 2


def test_an_exchange_moves_what_has_one_sign_less_far():
    moved = Sensitivity(2, 3, 5, 13)
    assert moved.exchanged(one_sign=True) == Sensitivity(4, 3, 10, 26)
    assert moved.exchanged(one_sign=False) == Sensitivity(4, 6, 10, 52)
    assert moved.over(3) == Sensitivity(6, 3, 5, 13)


AUDITS = [
    (Count(epsilon=1, contributions=2, groups=2), [3, 5], [4, 6]),
    (Count(epsilon=1, contributions=2, groups=2), [3, 5], [5, 5]),
    (Count(epsilon=1, groups=2, relation="replace"), [3, 5], [4, 4]),
    (Sum(low=-2, high=3, epsilon=1, contributions=2, groups=2, relation="replace"), [0, 0], [3, -2]),
    (Mean(low=0, high=2, epsilon=1, contributions=2, groups=2), [(0, 2), (2, 1)], [(2, 3), (0, 2)]),
    (Count(rho=0.5, contributions=2, groups=2), [3, 5], [4, 6]),
]


@pytest.mark.parametrize(("mechanism", "one", "other"), AUDITS, ids=str)
def test_all_groups_together_keep_the_promise(mechanism, one, other):
    def release(exact):
        return np.asarray(mechanism.tables(exact), dtype=float)

    # Each audit accuses an honest mechanism with probability at most 1e-6.
    with seeded(60):
        findings = examine(release, one, other, mechanism.loss, samples=2000)
    assert findings
    assert [finding for finding in findings if finding.violated] == []


@pytest.mark.parametrize("name", MAKERS)
def test_tables_are_answers_made_of_noisy_integers(name):
    mechanism = MAKERS[name](epsilon=1, contributions=2, groups=2)
    vectors = exact_vectors(mechanism, [(0, 1, 2), (0, None, 1), (1, 4, 0), (3, -3, 3)])
    with seeded(61):
        tables = mechanism.tables(vectors)
    with seeded(61):
        noisy = mechanism.noisy(vectors)
    assert noisy.shape == (GROUPS, mechanism.parts)
    assert noisy.dtype == np.int64
    assert len(tables) == GROUPS
    for table, answer in zip(tables, mechanism.answers(noisy), strict=True):
        assert np.array_equal(table, answer)
    assert type(tables[0]) is type(mechanism.release(vectors[0]))


@pytest.mark.parametrize("name", MAKERS)
def test_a_group_has_the_noise_of_a_single_release(name):
    mechanism = MAKERS[name](epsilon=3, contributions=2, groups=2)
    vector = exact_vectors(mechanism, [(0, 1, 2), (0, 4, 1)])[0]
    count = 20_000
    with seeded(62):
        noisy = mechanism.noisy([vector] * count)
    (noise, size), *_ = mechanism.noises
    drawn = (noisy - np.array(mechanism._inner(vector), dtype=object))[:, :size]
    check_fit(drawn.ravel().tolist(), noise.chances())  # once in a million


def test_exact_integers_from_an_engine_are_those_of_the_values():
    rows = [(-3, 0), (4, 3), (0, 2), (2, 1)]
    low, widths = (-3, 0), (7, 3)
    above = [sum(row[i] - low[i] for row in rows) for i in (0, 1)]
    centred = [[2 * (row[i] - low[i]) - widths[i] for i in (0, 1)] for row in rows]
    products = [sum(y[i] * y[j] + widths[i] * widths[j] for y in centred) for i, j in ((0, 0), (0, 1), (1, 1))]
    first, second = ([row[i] for row in rows] for i in (0, 1))
    price = {"epsilon": 1}
    assert Sum(low=-3, high=4, **price).exact_from(above[0], 4) == Sum(low=-3, high=4, **price).exact(first)
    assert Mean(low=-3, high=4, **price).exact_from(above[0], 4) == Mean(low=-3, high=4, **price).exact(first)
    variance, covariance = MAKERS["variance"](**price), MAKERS["covariance"](**price)
    assert variance.exact_from(above[0], products[0], 4) == variance.exact(first)
    assert covariance.exact_from(above, products, 4) == covariance.exact([first, second])


@given(st.lists(st.tuples(st.integers(0, 2**90), st.integers(0, 2**40)), min_size=1, max_size=5))
def test_exact_integers_of_many_groups_do_not_wrap(groups):
    mechanism = Mean(low=-(2**50), high=2**50, epsilon=1)
    columns = [np.array(column, dtype=object) for column in zip(*groups, strict=True)]
    together = list(zip(*(column.tolist() for column in mechanism.exact_from(*columns)), strict=True))
    assert together == [mechanism.exact_from(*group) for group in groups]
    with seeded(63):
        noisy = mechanism.noisy(together)
    for group, row in zip(together, noisy.tolist(), strict=True):
        for exact, found in zip(mechanism._inner(group), row, strict=True):
            assert abs(found - exact) < 2**60


def test_the_type_of_the_integers_depends_on_the_noisy_ones_alone():
    mechanism = Count(epsilon=1)
    assert mechanism.noisy([2**62, 5]).dtype == np.int64
    assert mechanism.noisy([2**64, 5]).dtype == object
    assert mechanism.noisy(np.array([2**62, 5])).dtype == np.int64


def test_no_groups_have_no_answers():
    assert Count(epsilon=1).tables([]) == []
    assert Mean(low=0, high=1, epsilon=1).noisy([]).shape == (0, 2)
    assert Mean(low=0, high=1, epsilon=1).tables([]) == []


@pytest.mark.parametrize("name", ["count", "mean", "variance", "histogram"])
def test_a_hundred_thousand_groups_take_well_under_a_second(name):
    mechanism = MAKERS[name](epsilon=1, contributions=20, groups=5)
    vectors = exact_vectors(mechanism, [(0, 1, 2), (1, 4, 1)]) * 25_000
    started = time.process_time()
    tables = mechanism.tables(vectors)
    assert len(tables) == 100_000
    assert time.process_time() - started < 1


@pytest.mark.parametrize("name", AVERAGES)
def test_averages_of_groups_under_replace_are_refused(name):
    with pytest.raises(BadParameter, match="groups"):
        MAKERS[name](epsilon=1, groups=2, relation="replace", rows=10)


def test_several_groups_under_replace_have_to_be_declared():
    # A unit in one group each time: it may leave one and join another.
    mechanism = Count(epsilon=1, relation="replace")
    with pytest.raises(BadParameter) as caught:
        mechanism.tables([3, 5])
    assert caught.value.name == "groups"
    assert len(mechanism.tables([3])) == 1
    assert len(Count(epsilon=1, relation="replace", groups=2).tables([3, 5])) == 2


@pytest.mark.parametrize("groups", [0, -1, 1.5, True])
def test_numbers_of_groups_that_make_no_sense_are_refused(groups):
    with pytest.raises(BadParameter, match="groups"):
        Count(epsilon=1, groups=groups)
