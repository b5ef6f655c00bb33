"""Minimum frequency: small groups are withheld by a noisy count that is part of the price, and look all the same."""

import itertools

import pandas as pd
import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.ask.programme import Programme
from discreet.curator.curator import Curator
from discreet.measures.minimum_frequency import COUNTED, WITHHELD
from tests.curator.questions import answered

# Forty people in A, five in B, nobody in C; everyone has two rows.
ROWS = {"id": [who // 2 for who in range(90)], "ward": ["A"] * 80 + ["B"] * 10, "age": [who % 60 for who in range(90)]}
COLUMNS = {"ward": dp.one_of("A", "B", "C"), "age": dp.between(0, 60)}
SURE = 10**6

_vaults = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("frequency")


def opened(folder, below, rows=ROWS, unit=None):
    """Return the session of an analyst of a vault that withholds groups of fewer people."""
    curator = Curator(folder / f"frequency{next(_vaults)}.discreet")
    unit = unit or dp.person("id", max_rows=2)
    curator.register(
        "visits", pd.DataFrame(rows), unit=unit, columns=COLUMNS, budget=dp.Budget(epsilon=10**9, delta=0.5)
    )
    assert curator.withhold(below=below).below == below
    return curator, curator.session(curator.grant("alice", "visits"))


def near(value):
    """A noisy count as the whole number that it is next to; people are bounded by weights."""
    return None if value is None else round(value)


def by_ward(session):
    return session.table("visits").group_by("ward").agg(n=dp.count(), age=dp.mean("age"))


def test_groups_of_fewer_people_say_nothing_and_others_all(folder):
    _, session = opened(folder, 10)
    answer = by_ward(session).release(epsilon=SURE)
    assert [row["ward"] for row in answer] == ["A", "B", "C"]
    assert [near(row["n"]) for row in answer] == [80, None, None]
    assert [row["age"] is None for row in answer] == [False, True, True]
    assert [column.name for column in answer.columns] == ["n", "age"]
    assert answer.column("n").quantities[1:] == answer.column("age").quantities[1:] == (WITHHELD, WITHHELD)


def test_the_count_is_paid_and_said_in_preview_and_answer(folder):
    _, session = opened(folder, 10)
    _, plain = opened(folder, 0)
    question = by_ward(session).asked(epsilon=1)
    assert question.columns == ("n", "age")
    assert [measure.columns for measure in question.measures][-1] == (COUNTED,)
    assert question.measures[-1].price.epsilon == pytest.approx(1 / 3)
    assert question.loss.epsilon(0) == pytest.approx(1)
    assert by_ward(plain).asked(epsilon=1).loss.epsilon(0) == pytest.approx(1)
    assert any(COUNTED in claim.label for claim in Programme(question).claims())
    preview = by_ward(session).preview(epsilon=1)
    (note,) = [note for note in preview.notes if "withheld" in note]
    assert note in by_ward(session).release(epsilon=1).notes
    assert "fewer than 10 people" in note
    assert "probability 0.95" in note
    assert preview[COUNTED].half_width > preview["n"].half_width / 100
    assert not any("withheld" in note for note in by_ward(plain).preview(epsilon=1).notes)


def test_people_who_are_asked_for_are_counted_once(folder):
    _, session = opened(folder, 10)
    question = session.table("visits").group_by("ward").agg(who=dp.people()).asked(epsilon=1)
    assert [measure.columns for measure in question.measures] == [("who",)]
    answer = session.table("visits").group_by("ward").agg(who=dp.people()).release(epsilon=SURE)
    assert [near(row["who"]) for row in answer] == [40, None, None]


def test_what_is_withheld_follows_the_noisy_count_alone(folder):
    """Near the edge the noise decides: not what the exact count is, and neither side is sure."""
    _, session = opened(folder, 5)
    shown = [
        [column.quantities[1] != WITHHELD for column in answer.columns]
        for answer in answered(by_ward(session).asked(epsilon=1), 60)
    ]
    assert {len({*each}) for each in shown} == {1}  # all columns of a group, or none
    assert 5 < sum(each[0] for each in shown) < 55


def test_withheld_groups_are_alike_whatever_is_in_them(folder):
    others = {**ROWS, "ward": ["A"] * 80 + ["C"] * 6 + ["B"] * 4}
    texts = []
    for rows in (ROWS, others):
        _, session = opened(folder, 30, rows)
        answer = by_ward(session).release(epsilon=SURE)
        texts.append([str(answer).splitlines()[3:], [column.quantities[1:] for column in answer.columns]])
        assert all(set(column.quantities[1:]) == {WITHHELD} for column in answer.columns)
    assert texts[0] == texts[1]


def test_a_whole_table_is_one_group_and_a_filter_no_way_around(folder):
    _, session = opened(folder, 10)
    visits = session.table("visits")
    assert visits.where(visits.ward == "B").count().release(epsilon=SURE).value() is None
    assert visits.where(visits.ward == "A").count().release(epsilon=SURE).value() == pytest.approx(80)


def test_sql_withholds_too_and_what_is_computed_of_nothing_is_nothing(folder):
    _, session = opened(folder, 10)
    text = "SELECT ward, COUNT(*) AS n, SUM(age) / COUNT(*) AS per, COUNT(*) > 3 AS many FROM visits GROUP BY ward"
    answer = session.sql(f"{text} ORDER BY n DESC", epsilon=SURE)
    assert [(row["ward"], near(row["n"])) for row in answer] == [("A", 80), ("B", None), ("C", None)]
    assert [row["per"] is None for row in answer] == [False, True, True]
    assert len(session.sql(f"{text} HAVING COUNT(*) > 1", epsilon=SURE)) == 1
    total = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", epsilon=SURE)
    assert [near(row["n"]) for row in total] == [80, None, None, None]


def test_an_answer_with_withheld_groups_is_shown_written_and_read(folder):
    _, session = opened(folder, 10)
    answer = by_ward(session).release(epsilon=SURE)
    assert str(answer).count("n/a") == 4
    assert answer._repr_html_()
    assert Answer.from_json(answer.to_json()).columns == answer.columns
    assert (answer["n"] * 2 + answer["age"]).columns[0].cells[1].value is None


def test_groups_of_rows_are_counted_by_rows_where_rows_are_protected(folder):
    _, session = opened(folder, 20, unit=dp.row())
    answer = by_ward(session).release(epsilon=SURE)
    assert [near(row["n"]) for row in answer] == [80, None, None]


def test_a_rule_is_a_question_of_its_own_and_is_changed_by_its_custodian(folder):
    curator, session = opened(folder, 10)
    first = by_ward(session).release(epsilon=3)
    curator.withhold(below=0)
    second = by_ward(session).release(epsilon=3)
    assert not second.receipt["replayed"]
    assert first.receipt["sequence"] != second.receipt["sequence"]
    assert curator.withhold().below == 0
