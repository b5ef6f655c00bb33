"""Quantile: scores that one unit moves no farther than declared, exact chances, ties, several at once, refusals."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Exponential
from discreet.core.errors import BadParameter, UnknownName
from discreet.mechanisms import Quantile
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.mechanisms.parts.runs import Runs
from discreet.testing import FALSE_ALARM, same, seeded
from tests.mechanisms.raw import COLUMNS, RELATIONS, STRANGE, check_error, check_fit, check_total, neighbours

STEPS = st.integers(0, 9)
QS = st.sampled_from([0, Fraction(1, 10), 0.25, 0.5, Fraction(2, 3), 1])


def deficit(data, point, q):
    """How far q n lies outside the ranks that a point covers, or below zero how deep inside, by counting."""
    below, up_to = sum(x < point for x in data), sum(x <= point for x in data)
    target = Fraction(q) * len(data)
    return max(below - target, target - up_to)


def score(data, point, q):
    """The distance from q n to the ranks that a point covers."""
    return max(0, deficit(data, point, q))


@given(st.lists(STEPS, max_size=12), QS, st.integers(1, 40))
def test_runs_hold_every_point_once_with_its_score(data, q, reach):
    q = Fraction(q)
    found = Runs(np.array(data, dtype=np.int64), 0, 9, q, Fraction(1))._around(reach)
    points = {level.start + place: level.deficit for level in found for place in range(level.size)}
    assert len(points) == sum(level.size for level in found)
    best = min(deficit(data, point, q) for point in range(10))
    expected = {point: (deficit(data, point, q) - best) * q.denominator for point in range(10)}
    assert points == {point: short for point, short in expected.items() if short <= reach}
    assert sorted(found) == found
    assert best <= 0


@given(neighbours(STEPS), neighbours(STEPS, "replace"), QS)
def test_one_row_moves_every_score_by_at_most_the_sensitivity(added, replaced, q):
    for tables, relation in ((added, "add_remove"), (replaced, "replace")):
        mechanism = Quantile(q=q, low=0, high=9, epsilon=1, relation=relation)
        (q_exact,) = mechanism.quantiles
        one, other = ([deficit(table, point, q_exact) for point in range(10)] for table in tables)
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= mechanism._sensitivity(q_exact)


@pytest.mark.parametrize("q", [0, Fraction(1, 4), Fraction(1, 2), Fraction(4, 5), 1])
@pytest.mark.parametrize("offset", [0, 2, -1])
def test_of_all_tiny_tables_no_neighbour_moves_a_score_or_a_chance_beyond_the_claim(q, offset):
    """All tables of up to three records on a grid of three points, and all that come from them by one record."""
    mechanism = Quantile(q=q, low=0, high=2, epsilon=1, offset=offset)
    tables = [rows for many in range(4) for rows in combinations_with_replacement(range(3), many)]
    chances = {rows: mechanism.chances([*rows]) for rows in [*tables, *combinations_with_replacement(range(3), 4)]}
    farthest = 0
    for rows in tables:
        for more in range(3):
            other = tuple(sorted((*rows, more)))
            moved = [shifted_score(rows, x, q, offset, 2) - shifted_score(other, x, q, offset, 2) for x in range(3)]
            farthest = max(farthest, *map(abs, moved))
            for x in range(3):
                (low, high), (least, most) = chances[rows][float(x)], chances[other][float(x)]
                assert max(float(high / least), float(most / low)) <= math.e * (1 + 1e-12)
    assert farthest == mechanism._sensitivity(mechanism.quantiles[0])


def test_where_the_quantile_is_one_point_that_point_is_likelier_than_by_its_rank_alone():
    data = [2] * 3 + [5] * 20 + [7] * 4
    found = {point: chance for point, (chance, _) in Quantile(low=0, high=9, epsilon=1).chances(data).items()}
    by_rank = {point: math.exp(-float(score(data, point, 0.5))) for point in range(10)}
    assert float(found[5.0]) > by_rank[5] / sum(by_rank.values())
    # All others keep their proportions.
    assert float(found[4.0] / found[6.0]) == pytest.approx(by_rank[4] / by_rank[6])


@given(neighbours(STEPS, "replace"), st.sampled_from([(0.25, 0.75), (0.1, 0.5, 0.9)]))
def test_in_nested_parts_a_replaced_row_counts_as_one_that_left_and_one_that_joined(tables, q):
    mechanism = Quantile(q=q, low=0, high=9, epsilon=1, relation="replace")
    for each in mechanism._splits(mechanism.quantiles):
        alone = Quantile(q=each, low=0, high=9, epsilon=1)
        assert mechanism._sensitivity(each) == 2 * alone._sensitivity(each)


@settings(max_examples=25)
@given(neighbours(STEPS), QS, RELATIONS)
def test_no_answer_is_likelier_by_more_than_e_to_the_epsilon(tables, q, relation):
    mechanism = Quantile(q=q, low=0, high=9, epsilon=1, relation=relation)
    one, other = (tables[0], tables[1]) if relation == "add_remove" else (tables[1] + [0], tables[1] + [9])
    p, r = mechanism.chances(one), mechanism.chances(other)
    for answer in p:
        assert abs(math.log(p[answer][0] / r[answer][0])) <= 1 + 1e-12


@given(st.lists(STEPS, max_size=8), QS)
def test_chances_are_those_of_the_exponential_mechanism(data, q):
    mechanism = Quantile(q=q, low=0, high=9, epsilon=2)
    (q_exact,) = mechanism.quantiles
    rate = 1 / max(q_exact, 1 - q_exact)
    weights = [math.exp(-float(rate * deficit(data, point, q_exact))) for point in range(10)]
    chances = mechanism.chances(data)
    for point in range(10):
        assert float(chances[float(point)][0]) == pytest.approx(weights[point] / sum(weights))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_answers_have_the_exact_distribution(one_by_one):
    mechanism = Quantile(low=0, high=9, step=0.5, epsilon=1)
    data = [3, 3, 8, 15, 16]
    with seeded(14):
        answers = [mechanism.release(data) for _ in range(5000)] if one_by_one else mechanism.releases(data, 50_000)
    check_fit(list(answers), mechanism.chances(data))


def test_repeated_and_single_answers_for_several_quantiles_agree():
    mechanism = Quantile(q=(0.2, 0.5, 0.9), low=0, high=2, epsilon=3)
    data = [0, 0, 1, 1, 2, 2, 2]
    with seeded(15):
        singles = np.array([mechanism.release(data) for _ in range(3000)])
        many = mechanism.releases(data, 3000)
    code = np.array([9, 3, 1])
    # A right program fails this once in a million runs.
    assert same(*(np.bincount((each @ code).astype(int), minlength=27) for each in (singles, many))) > FALSE_ALARM
    assert (np.diff(many) >= 0).all()


@pytest.mark.parametrize("method", ["recursive", "separate"])
def test_several_quantiles_of_many_values_are_near_the_truth(method):
    values = np.arange(100_000) % 9973
    q = (0.05, 0.25, 0.5, 0.75, 0.95)
    with seeded(16):
        answers = Quantile(q=q, low=0, high=10_000, epsilon=1, method=method)(values)
    assert answers == pytest.approx(np.quantile(values, q), abs=40)


def test_losses_are_those_of_exponential_mechanisms():
    one = {"low": 0, "high": 9, "epsilon": 1}
    assert Quantile(**one).loss == Exponential(1)
    assert Quantile(**one, relation="replace").loss == Exponential(1, relation="replace")
    three = {**one, "q": (0.25, 0.5, 0.75)}
    assert Quantile(**three).loss == Exponential(Fraction(1, 2)) * 2
    assert Quantile(**three, method="separate").loss == Exponential(Fraction(1, 3)) * 3


@pytest.mark.parametrize("q", [0.5, 0.1])
def test_the_error_is_in_ranks(q):
    data = list(range(0, 1000, 2))
    mechanism = Quantile(q=q, low=0, high=999, epsilon=1)
    assert check_error(mechanism, data, lambda answer: score(data, answer, mechanism.quantiles[0])) < 0.1


def test_the_error_of_several_holds_for_the_worst():
    data = list(range(0, 1000, 2))
    for method in ("recursive", "separate"):
        mechanism = Quantile(q=(0.1, 0.5, 0.9), low=0, high=999, epsilon=1, method=method)

        def worst(answer, mechanism=mechanism):
            return max(score(data, point, q) for point, q in zip(answer, mechanism.quantiles, strict=True))

        check_error(mechanism, data, worst, count=1000)


@settings(max_examples=50)
@given(COLUMNS, QS)
def test_every_table_has_an_answer_between_the_bounds(values, q):
    assert -1 <= check_total(Quantile(q=q, low=-1, high=2, step=0.25, epsilon=1), values) <= 2


def test_strange_values_are_clamped_or_left_out():
    assert sorted(Quantile(low=0, high=5, epsilon=1).exact(STRANGE).tolist()) == [0] * 6 + [1] * 2 + [4] + [5] * 4


def test_steps_beyond_the_bounds_are_clamped():
    mechanism = Quantile(low=0, high=5, epsilon=1)
    assert mechanism.chances([2**63, -(10**30), 3]) == mechanism.chances([5, 0, 3])
    assert mechanism.chances([2**63, -1, 3]) == mechanism.chances([5, 0, 3])
    assert mechanism.chances(np.array([2**63 + 1] * 3)) == mechanism.chances([5, 5, 5])
    assert mechanism.chances([]) == mechanism.chances(np.array([], dtype=np.int64))


def test_the_order_of_the_data_does_not_matter_and_they_are_left_alone():
    mechanism = Quantile(low=0, high=9, epsilon=1)
    data = np.array([7, 1, 4])
    assert mechanism.chances(data) == mechanism.chances([1, 4, 7])
    assert data.tolist() == [7, 1, 4]


def test_minimum_and_maximum_find_the_ends_of_the_data():
    values = np.arange(200_000, 300_000)
    options = {"low": 0, "high": 10**6, "epsilon": 1, "rows": len(values)}
    with seeded(17):
        low, high = Quantile.minimum(**options)(values), Quantile.maximum(**options)(values)
    assert 200_000 <= low < 200_300
    assert 299_700 < high <= 300_000


def shifted_score(data, point, q, offset, high=9):
    """The same for a target that many ranks away, with as many public records at the bound that it points to."""
    padded = [*data, *[high if offset > 0 else 0] * abs(offset)]
    below, up_to = sum(x < point for x in padded), sum(x <= point for x in padded)
    target = Fraction(q) * len(data) + max(offset, 0)
    return max(below - target, target - up_to)


@given(st.lists(STEPS, max_size=8), QS, st.integers(-12, 12))
def test_an_offset_moves_the_target_and_the_bounds_stand_for_what_lies_beyond(data, q, offset):
    mechanism = Quantile(q=q, low=0, high=9, epsilon=2, offset=offset)
    (q_exact,) = mechanism.quantiles
    rate = 1 / max(q_exact, 1 - q_exact)
    weights = [math.exp(-float(rate * shifted_score(data, point, q_exact, offset))) for point in range(10)]
    for point, (low, _) in mechanism.chances(data).items():
        assert float(low) == pytest.approx(weights[int(point)] / sum(weights))


@given(neighbours(STEPS), neighbours(STEPS, "replace"), QS, st.integers(-12, 12))
def test_an_offset_leaves_the_sensitivity_as_it_is(added, replaced, q, offset):
    for (one, other), relation in ((added, "add_remove"), (replaced, "replace")):
        mechanism = Quantile(q=q, low=0, high=9, epsilon=1, relation=relation, offset=offset)
        (q_exact,) = mechanism.quantiles
        scores = [[shifted_score(table, point, q_exact, offset) for point in range(10)] for table in (one, other)]
        assert max(abs(a - b) for a, b in zip(*scores, strict=True)) <= mechanism._sensitivity(q_exact)
        assert mechanism.loss == Quantile(q=q, low=0, high=9, epsilon=1, relation=relation).loss


@pytest.mark.parametrize("q", [0.5, 0.02, 0.99, (0.25, 0.5, 0.9)])
@pytest.mark.parametrize("rows", [0, 3, 500])
def test_brackets_enclose_the_quantiles_of_the_data(q, rows):
    mechanism = Quantile(q=q, low=0, high=999, epsilon=1)
    data = [place * 7919 % 600 + 200 for place in range(rows)]
    below, above, _ = mechanism.bracket(0.2)
    with seeded(18):
        lows = np.asarray(mechanism.shifted(below).releases(data, 1000)).reshape(1000, -1)
        highs = np.asarray(mechanism.shifted(above).releases(data, 1000)).reshape(1000, -1)
    missed = np.zeros(1000, dtype=bool)
    for place, each in enumerate(mechanism.quantiles):
        for how in ("lower", "higher") if data else ():
            truth = np.quantile(data, float(each), method=how)
            missed |= (lows[:, place] > truth) | (highs[:, place] < truth)
    # More misses than 0.2 of 1000 allow come once in a million times: 5 standard errors.
    assert missed.sum() <= 200 + 5 * math.sqrt(1000 * 0.2 * 0.8)


def test_a_bracket_costs_two_more_of_the_same():
    alone = Quantile(low=0, high=9, epsilon=1)
    below, above, loss = alone.bracket()
    assert (-below, loss) == (above, Exponential(1) * 2)
    assert alone.error(0.025) < above <= alone.error(0.025) + 1
    three = Quantile(q=(0.25, 0.5, 0.75), low=0, high=9, epsilon=1)
    assert three.bracket().loss == Exponential(Fraction(1, 3)) * 6
    assert three.shifted(2).loss + three.shifted(-2).loss == three.bracket().loss


@pytest.mark.parametrize("given", [{"offset": 1.5}, {"offset": True}, {"offset": 3, "q": (0.25, 0.75)}])
def test_offsets_that_make_no_sense_are_refused(given):
    with pytest.raises(BadParameter, match="offset"):
        Quantile(low=0, high=1, epsilon=1, **given)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_farthest_offset_leaves_room_for_every_record_and_a_farther_one_is_refused(sign):
    far, records = sign << 62, 1 << 40

    def counts(requests):
        return [{(2 - each.low) // each.width: records} if each.low <= 2 else {} for each in requests]

    bound = 0 if sign < 0 else 3
    found = Quantile(low=0, high=3, epsilon=1, offset=far).search_steps(counts, 20)
    assert set(found.ravel().tolist()) == {bound}
    # One record more would have wrapped around 64 bits, and moved every answer: at any price, however small.
    with pytest.raises(BadParameter, match="no table has") as refused:
        Quantile(low=0, high=3, epsilon=1e-18, offset=far + sign)
    assert "larger epsilon" in refused.value.fix


def test_it_is_a_mechanism_that_can_be_repeated_and_enumerated():
    mechanism = Quantile(low=0, high=1, epsilon=1)
    assert all(isinstance(mechanism, kind) for kind in (Mechanism, Repeatable, Enumerable))


@pytest.mark.parametrize("q", [-0.1, 1.5, float("nan"), "median", (), (0.5, 0.5), (0.7, 0.2)])
def test_bad_quantiles_are_refused(q):
    with pytest.raises(BadParameter, match="q="):
        Quantile(q=q, low=0, high=1, epsilon=1)


def test_unknown_methods_are_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="recursive"):
        Quantile(low=0, high=1, epsilon=1, method="recursiv")


def test_floats_are_no_exact_values():
    with pytest.raises(BadParameter, match="exact"):
        Quantile(low=0, high=1, epsilon=1).release(np.array([0.5, 1.0]))


def test_the_chances_of_several_quantiles_are_not_listed():
    with pytest.raises(BadParameter, match="q="):
        Quantile(q=(0.1, 0.9), low=0, high=1, epsilon=1).chances([0, 1])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int64", "uint64"])
def test_narrow_integers_are_clamped_to_bounds_they_cannot_hold(kind):
    values = np.array([0, 1, 100], dtype=kind)
    assert Quantile(low=200, high=300, epsilon=1).exact(values).tolist() == [200, 200, 200]
    assert Quantile(low=-1000, high=-500, epsilon=1).exact(values).tolist() == [-500, -500, -500]
    assert Quantile(low=-1000, high=50, epsilon=1).exact(values).tolist() == [0, 1, 50]
    assert values.tolist() == [0, 1, 100]
