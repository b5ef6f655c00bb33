"""Partition: disjoint parts are paid together, and only what is disjoint."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.ask.programme import Programme
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from discreet.noise.bits import current
from discreet.plan.nodes import public
from tests.curator.questions import PURE, curator_of, opened

PARTS = 50
DATA = {
    "id": [i // 4 for i in range(400)],
    "part": [i % PARTS for i in range(400)],
    "x": [i % 7 for i in range(400)],
    "city": ["Bern"] * 400,
}
COLUMNS = {"part": between(0, PARTS - 1), "x": between(0, 6), "city": text()}


def table(folder, unit):
    return opened(folder, DATA, unit=unit, columns=COLUMNS, budget=PURE).table("visits")


def spent(query):
    return curator_of(query.desk).ledger.spent("visits").loss


@pytest.mark.parametrize(
    ("unit", "cost"),
    [
        (row(), 1),
        (row(relation="replace"), PARTS),
        (person("id", max_rows=4), PARTS),
        (person("id", max_rows=4, bound="table"), 4),
        (person("id", max_rows=1, bound="table"), 1),
        (person("id", max_rows=4, relation="replace", bound="table"), PARTS),
    ],
    ids=str,
)
def test_fifty_parts_cost_what_one_unit_can_meet(tmp_path, unit, cost):
    visits = table(tmp_path, unit)
    answers = visits.partition("part").release(lambda part: part.agg(n=dp.count()), epsilon=Fraction(1, 10))
    assert list(answers) == list(range(PARTS))
    assert spent(visits) == Fraction(cost, 10)


def test_every_part_draws_noise_of_its_own(tmp_path, monkeypatch):
    heard, run = [], Programme.run

    def hearing(programme, runner, draws):
        with draws.at("heard"):
            heard.append(current().bits(64))
        return run(programme, runner, draws)

    monkeypatch.setattr(Programme, "run", hearing)
    asks = dict.fromkeys((0, 7, 9, 30), lambda part: part.agg(n=dp.count()))
    table(tmp_path, row()).partition("part").release(asks, epsilon=1)
    assert len({*heard}) == len(heard) == 4


def test_parts_are_asked_different_things_and_the_dearest_is_paid(tmp_path):
    visits = table(tmp_path, row())
    asks = {
        0: lambda part: part.agg(n=dp.count()),
        7: lambda part: part.where(part.x > 2).derive(y=part.x * 2).agg(y=dp.mean("y"), m=dp.median("x")),
    }
    answers = visits.partition(visits.part).release(asks, epsilon=1000)
    assert answers[0].value() == 8
    assert [column.name for column in answers[7].columns] == ["y", "m"]
    assert spent(visits) == 1000


def test_the_parts_of_joined_rows_cost_as_many_as_one_row_becomes(tmp_path):
    visits = table(tmp_path, row())
    floors = public("floors", {"part": [0, 0, 0, 1], "floor": [1, 2, 3, 1]})
    joined = visits.join(floors, on="part").partition("floor")
    joined.release(lambda part: part.agg(n=dp.count()), epsilon=1)
    assert spent(visits) == 3


def test_a_part_that_a_join_widens_pays_for_itself(tmp_path):
    visits = table(tmp_path, row())
    cities = public("cities", {"city": ["Bern", "Bern"], "code": [1, 2]})
    parts = visits.partition("part")
    parts.release({1: lambda part: part.join(cities, on="city").agg(n=dp.count())}, epsilon=1)
    assert spent(visits) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda whole, part: whole.agg(n=dp.count()),
        lambda whole, part: whole.where(whole.part == 3).agg(n=dp.count()),
        lambda whole, part: part.union(whole).agg(n=dp.count()),
        lambda whole, part: whole.union(part).where(whole.x > 1).agg(n=dp.count()),
    ],
)
def test_a_question_that_looks_beyond_its_part_is_refused(tmp_path, ask):
    visits = table(tmp_path, row())
    with pytest.raises(BadParameter, match="uses rows outside this part"):
        visits.partition("part").release(lambda part: ask(visits, part), epsilon=1)
    assert spent(visits) == 0


def test_two_parts_may_not_be_asked_about_one_of_them(tmp_path):
    visits = table(tmp_path, row())
    parts = visits.partition("part")
    with pytest.raises(BadParameter, match="uses rows outside this part"):
        parts.release(dict.fromkeys((1, 2), lambda part: parts[1].agg(n=dp.count())), epsilon=1)


def test_an_ask_that_is_no_question_and_none_at_all_are_refused(tmp_path):
    parts = table(tmp_path, row()).partition("part")
    with pytest.raises(BadParameter, match="returns a question"):
        parts.release(lambda part: part, epsilon=1)
    with pytest.raises(BadParameter, match="no part has a question"):
        parts.release({}, epsilon=1)
    for ask in ({1: parts[1].agg(n=dp.count())}, parts[1].agg(n=dp.count()), {1: 7}, {1: None}):
        with pytest.raises(BadParameter, match="asked by a function that returns a question"):
            parts.release(ask, epsilon=1)


def test_parts_that_are_asked_again_have_the_columns_in_the_order_of_who_asks(tmp_path):
    parts = table(tmp_path, row()).partition("part")
    parts.release(lambda part: part.agg(n=dp.count(), total=dp.sum("x")), epsilon=1)
    again = parts.release(lambda part: part.agg(total=dp.sum("x"), n=dp.count()), epsilon=1)
    assert {tuple(column.name for column in answer.columns) for answer in again.values()} == {("total", "n")}
    assert again[1].receipt["replayed"]


def test_unknown_parts_and_undeclared_keys_are_refused(tmp_path):
    visits = table(tmp_path, row())
    with pytest.raises(UnknownName, match="part"):
        visits.partition("part").release({99: lambda part: part.agg(n=dp.count())}, epsilon=1)
    with pytest.raises(BadParameter, match="keys were not declared"):
        visits.partition("city")


def test_the_same_partition_is_replayed_for_free(tmp_path):
    visits = table(tmp_path, row())
    first = visits.partition("part").release(lambda part: part.agg(n=dp.count()), epsilon=1)
    again = visits.partition("part").release(lambda part: part.agg(n=dp.count()), epsilon=1)
    assert {key: answer.columns for key, answer in first.items()} == {k: answer.columns for k, answer in again.items()}
    assert spent(visits) == 1


def test_parts_of_texts_dates_and_flags_are_known_by_what_people_write(tmp_path):
    columns = {"ward": one_of("A", "age"), "age": between(0, 1, step=Fraction(1, 2))}
    data = {"id": [1, 2, 3], "ward": ["A", "age", "age"], "age": [0, 0.5, 1]}
    visits = opened(tmp_path, data, unit=row(), columns=columns).table("visits")
    assert list(visits.partition("age")) == [0, 0.5, 1]
    answers = visits.partition("ward").release(lambda part: part.agg(n=dp.count()), epsilon=1000)
    assert {key: answer.value() for key, answer in answers.items()} == {"A": 1, "age": 2}
