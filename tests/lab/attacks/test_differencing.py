"""Differencing: exact and suppressed answers give one person away, and a promise holds to its bound."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks._person import found_row, singled_out
from discreet.lab.attacks.differencing import amounts, crowds, differencing, expose, pair_success, promised, rollup
from discreet.lab.attacks.differencing.rollup import complemented, table
from discreet.lab.defence import (
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
)
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.lab.vault_copy import Vaulted
from discreet.mechanisms.laplace import Laplace
from discreet.testing import FALSE_ALARM, seeded

CLINIC = {
    "name": [f"person {i}" for i in range(60)],
    "age": [20 + i % 30 for i in range(60)],
    "sex": ["F", "M"] * 30,
    "ill": ["yes" if i % 3 == 0 else "no" for i in range(60)],
    "salary": [1000 + 37 * i for i in range(60)],
}


@pytest.fixture
def clinic():
    return TableCopy.read(CLINIC, identifier="name")


@pytest.fixture
def nameless():
    return TableCopy.read({key: values for key, values in CLINIC.items() if key != "name"})


@pytest.mark.parametrize("defence", [ExactDefence(), SuppressedDefence(10)])
def test_exact_answers_about_large_groups_give_the_bit_away_every_time(clinic, defence):
    found = differencing(clinic, "person 7", "ill", defence, value="yes", runs=20)
    assert found.success == 1
    assert found.outcome.succeeds
    assert "person 7" in found.outcome.sentence


def test_a_threshold_stops_only_those_who_ask_about_few(clinic):
    with seeded(15):
        found = differencing(clinic, "person 7", "ill", SuppressedDefence(60), runs=20)
    assert 0.2 < found.success < 0.8  # coins
    assert not found.outcome.succeeds


@pytest.mark.parametrize("defence", [RoundedDefence(5), NoisyDefence(2)])
def test_rounding_and_noise_fall_to_many_crowds_around_one_person(clinic, defence):
    with seeded(1):
        found = differencing(clinic, "person 7", "ill", defence, runs=40)
    assert found.pairs == crowds(defence) > 1
    assert found.outcome.succeeds
    assert found.success > 0.85


def test_a_sample_tells_whenever_the_person_is_in_it(clinic):
    with seeded(2):
        found = differencing(clinic, "person 7", "ill", SampledDefence(0.5), runs=300)
    assert found.right[0] == 300  # nobody's difference shows where there is none
    assert 0.6 < found.success < 0.9


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), 1, 3])
def test_the_success_of_a_pair_is_the_distance_of_its_differences_by_enumeration(epsilon):
    chances = Laplace(epsilon=epsilon).chances(0)
    law = {int(value): float((low + high) / 2) for value, (low, high) in _plain(chances).items()}
    reach = max(law)
    single = np.array([law.get(value, 0.0) for value in range(-reach, reach + 1)])
    # The difference of two independent noises; the law is symmetric.
    difference = np.convolve(single, single)
    distance = np.abs(np.append(difference, 0) - np.append(0, difference)).sum() / 2
    assert (1 + distance) / 2 == pytest.approx(pair_success(epsilon), abs=1e-12)


def _plain(chances):
    """The probabilities as fractions, whatever the power of two they share."""
    scale = sum(high for _, high in chances.values())
    return {value: (Fraction(low, scale), Fraction(high, scale)) for value, (low, high) in chances.items()}


@pytest.mark.parametrize("total", [Fraction(1, 2), 2])
def test_many_runs_are_as_successful_as_the_theorem_says_and_within_the_promise(clinic, total):
    runs = 3000
    with seeded(3):
        found = differencing(clinic, "person 7", "ill", LaplaceDefence(total), runs=runs)
    stray = math.sqrt(math.log(2 / FALSE_ALARM) / (4 * runs))
    assert abs(found.success - pair_success(total / 2)) <= stray  # half of the budget for each of two answers
    assert found.success <= found.ceiling + stray
    assert found.ceiling == pytest.approx((1 + math.tanh(float(total) / 4)) / 2)


def test_at_a_quarter_for_each_answer_discreet_holds(clinic):
    with seeded(4):
        found = differencing(clinic, "person 7", "ill", LaplaceDefence(Fraction(1, 2)))
    assert not found.outcome.succeeds
    assert found.ceiling == pytest.approx(0.5622, abs=1e-4)


def test_more_crowds_do_not_help_against_a_promise(clinic):
    with seeded(5):
        found = differencing(clinic, "person 7", "ill", LaplaceDefence(1), pairs=20, runs=500)
    assert found.success <= promised(LaplaceDefence(1)) + math.sqrt(math.log(1 / FALSE_ALARM) / 2000)


def test_a_real_vault_answers_both_questions_and_holds(clinic):
    with seeded(6):
        found = differencing(clinic, "person 7", "ill", Vaulted(1), runs=2)
    assert found.ceiling == pytest.approx((1 + math.tanh(1 / 4)) / 2)
    assert not found.outcome.succeeds


def test_the_promise_is_halved_since_the_person_is_in_half_of_the_answers():
    assert promised(ExactDefence()) is None
    assert promised(Vaulted(2, each=2)) == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-6)
    assert promised(LaplaceDefence(2)) == pytest.approx(1 / (1 + math.exp(-1)))
    assert 0.5 < promised(GaussianDefence(0.1)) < promised(GaussianDefence(0.2)) < 1


def test_few_lucky_tries_are_not_called_a_fall(clinic):
    with seeded(7):
        lucky = differencing(clinic, "person 7", "ill", SampledDefence(0.5), runs=4)
    assert lucky.success >= 0.6
    assert not lucky.outcome.succeeds


def test_a_person_is_found_by_name_by_row_or_by_what_is_known(clinic, nameless):
    assert found_row(clinic, "person 7") == 7
    assert found_row(nameless, 7) == found_row(nameless, "7") == 7
    assert found_row(nameless, {"salary": 1037}) == 1


@pytest.mark.parametrize(
    ("person", "words"),
    [("person 99", "nobody"), ({"sex": "F"}, "30 rows"), ({"age": 1}, "nobody")],
)
def test_a_person_who_is_not_one_person_is_refused(clinic, person, words):
    with pytest.raises(BadParameter, match=words):
        differencing(clinic, person, "ill", ExactDefence())


@pytest.mark.parametrize("person", ["me", 60, -1])
def test_without_an_identifier_a_person_is_a_row_number(nameless, person):
    with pytest.raises(BadParameter, match="row number"):
        differencing(nameless, person, "ill", ExactDefence())


def test_the_fewest_columns_that_single_out_are_found_without_the_secret(nameless):
    assert singled_out(nameless, 7).columns == ("salary",)
    without = nameless.taken(np.arange(60))
    described = singled_out(without, 7, apart="salary")
    assert "salary" not in described.columns


def test_columns_that_do_not_single_out_are_refused_with_the_number_alike(nameless):
    with pytest.raises(BadParameter, match="30 rows are alike"):
        singled_out(nameless, 7, ["sex"])
    assert singled_out(nameless, 7, ["age", "salary"]).words == "with age 27, salary 1259"


def test_who_is_like_others_in_everything_is_known_by_the_row():
    equal = TableCopy.read({"a": [1, 1, 1], "b": [2, 2, 2]})
    assert singled_out(equal, 1).words == "in row 1"


def test_unknown_columns_are_refused(clinic):
    with pytest.raises(UnknownName):
        differencing(clinic, "person 7", "il", ExactDefence())


def test_sums_tell_salaries_exactly_and_discreet_does_not(clinic):
    with seeded(8):
        exact = amounts(clinic, "salary", ExactDefence())
        private = amounts(clinic, "salary", LaplaceDefence(1))
    assert exact.success == 1
    assert exact.typical == 0
    assert exact.outcome.succeeds
    assert exact.told == exact.truth
    stray = math.sqrt(math.log(1 / FALSE_ALARM) / 200)
    assert private.success <= private.ceiling + stray
    assert private.ceiling == pytest.approx(math.exp(0.5) * private.chance)
    assert not private.outcome.succeeds


def test_amounts_that_are_missing_or_odd_count_as_none():
    odd = TableCopy.read({"v": [None, -5.0, 3.4, float("inf"), 7.0]})
    with seeded(9):
        found = amounts(odd, "v", ExactDefence(), tries=200, within=1)
    assert set(found.truth) == set(range(8))  # drawn evenly up to the greatest
    assert found.success == 1
    assert found.chance == 3 / 8


def test_texts_are_no_amounts(clinic):
    with pytest.raises(BadParameter, match="no numbers"):
        amounts(clinic, "ill", ExactDefence())


def made(cells):
    rows = [(i, j) for i, row in enumerate(cells) for j, count in enumerate(row) for _ in range(count)]
    return TableCopy.read({"one": [f"{i:03}" for i, _ in rows], "two": [f"{j:03}" for _, j in rows]})


def test_a_total_less_the_cells_that_are_shown_is_the_cell_that_was_withheld():
    plain = table(made([[3, 20, 30], [25, 40, 50]]), ("one", "two"))
    assert plain.recovered == {(0, 0): 3}
    assert plain.share == 1


def test_a_cell_between_two_cycles_is_given_back_too():
    # Two squares of withheld cells, and one cell that joins them: the totals of one square give it away.
    cells = np.full((4, 4), 50)
    for place in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (1, 2)]:
        cells[place] = 4
    cells[1, 2] = 7
    plain = table(made(cells.tolist()), ("one", "two"))
    assert plain.recovered == {(1, 2): 7}


@pytest.mark.parametrize("seed", range(5))
def test_with_complementary_suppression_no_total_gives_a_cell_back(seed):
    cells = np.random.default_rng(seed).integers(1, 40, (6, 5))  # noqa: TID251  (a made-up table)
    plain = table(made(cells.tolist()), ("one", "two"))
    more = complemented(plain)
    assert more.recovered == {}
    assert (more.withheld | ~plain.withheld).all()
    assert all(plain.counts[cell] == count for cell, count in plain.recovered.items())


def test_a_table_of_a_single_row_can_only_be_withheld_whole():
    more = complemented(table(made([[3, 20, 30]]), ("one", "two")))
    assert more.withheld.all()


def test_rollups_fall_hold_with_more_withheld_and_hold_with_noise():
    cells = np.full((9, 9), 20) + np.diag(range(-19, -10))  # from 1 to 9 on the diagonal
    with seeded(16):
        outcomes = rollup(made(cells.tolist()))
    assert [str(each.verdict) for each in outcomes] == ["succeeds", "not shown", "bounded"]
    few = rollup(made([[3, 20, 30], [25, 40, 50], [15, 12, 5]]))
    assert few[0].success == 1  # two cells, which one guess for all gets half of
    assert not few[0].succeeds
    assert rollup(made([[20, 20], [20, 20]])) == []


def test_the_rand_table_falls_where_it_should_and_discreet_holds():
    copied = TableCopy.read(rand.path(), identifier="zper")
    said = []
    with seeded(10):
        outcomes = expose(copied, said.append)
    verdicts = {each.target: each.succeeds for each in outcomes}
    assert verdicts["exact"]
    assert verdicts["suppressed below 10"]
    assert verdicts["rounded to 5"]
    assert verdicts["sums, exact"]
    assert not any(broken for target, broken in verdicts.items() if "Discreet" in target)
    assert said
    assert json.dumps([each.record() for each in outcomes], allow_nan=False)
    assert all(
        svg(picture).startswith("<svg")
        for picture in {id(e.picture): e.picture for e in outcomes if e.picture}.values()
    )


@pytest.mark.parametrize(
    "columns", [{"a": [1]}, {"a": [], "b": []}, {"a": [None, None]}, {"a": [1, 1], "b": ["x", None]}]
)
def test_any_table_can_be_exposed(columns):
    with seeded(11):
        outcomes = expose(TableCopy.read(columns))
    assert all(0 <= each.success <= 1 for each in outcomes)
