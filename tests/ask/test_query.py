"""Query: columns to speak of, verbs that return another table, and nothing paid."""

import copy
import re

import pytest

import discreet as dp
from discreet.ask.query import NothingAsked, UnknownColumn
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.expressions import Name
from discreet.plan.nodes import public
from tests.curator.questions import ROWS, answered, curator_of, head, opened


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("query"), rows=10).table("visits")


def exactly(report, **others):
    (answer,) = answered(report.asked(epsilon=10**12, **others))
    return answer


def test_columns_are_attributes_and_items(visits):
    assert isinstance(visits.age, Name)
    assert visits["age"].same_as(visits.age)
    assert {"age", "where", "ward"} <= set(dir(visits))


def test_a_table_shows_what_was_declared_of_it(visits):
    assert repr(visits).splitlines() == [
        "visits, 10 rows declared",
        "protects one person (id), at most 3 rows, added or removed",
        "",
        "column  kind      declared",
        "──────  ────────  ──────────────────────────",
        "ward    category  A, B, C",
        "age     number    0 to 110 in steps of 1",
        "cost    number    -50 to 450 in steps of 0.5",
        "city    text      any text",
        "urgent  flag      true or false",
    ]


def test_a_question_shows_its_steps_in_words(visits):
    wards = public("wards", {"ward": ["A", "B"], "floor": [1, 2]})
    wide = visits.where(visits.age >= 65, visits.urgent).derive(twice=visits.age * 2)
    shown = repr(wide.select("ward", "city", price="cost").join(wards, on="ward").group_by("ward", "city"))
    assert shown.split("\n\n")[-1].splitlines() == [
        "keep rows where age >= 65",
        "keep rows where urgent",
        "derive twice = age * 2",
        "select ward, city, cost as price",
        "join the public table wards on ward",
        "group by ward, city (keys of city by private selection)",
    ]
    assert "price   number    -50 to 450 in steps of 0.5" in shown


def test_tables_that_meet_are_both_shown(tmp_path):
    session = opened(tmp_path)
    unit, columns = dp.person("id", max_rows=2), {"dose": dp.between(0, 9)}
    curator_of(session).register("drugs", {"id": [1], "dose": [2]}, unit=unit, columns=columns, group="visits")
    session = curator_of(session).session(curator_of(session).grant("eve", ["visits", "drugs"]))
    drugs, visits = session.table("drugs"), session.table("visits")
    both = visits.join(drugs.where(drugs.dose > 1), most=1)
    shown = repr(both.union(both))
    assert "protects one person (id), at most 2 rows" in shown
    assert "\njoin drugs (keep rows where dose > 1) on the person, at most 1 for each row\n" in shown
    assert "\nadd the rows of drugs and visits (join drugs" in shown


def test_what_is_shown_tells_neither_where_the_rows_are_nor_anything_of_them(tmp_path):
    shown = []
    for data in (ROWS, {**ROWS, "id": [str(number) for number in ROWS["id"]], "city": ["Ghent"] * 10}):
        table = opened(tmp_path, data).table("visits")
        shown.append(repr(table) + table._repr_html_())
    assert shown[0] == shown[1]
    assert not {"parquet", "vault", "BIGINT", "VARCHAR", "alice"} & set(re.findall(r"\w+", shown[0]))


def test_a_notebook_shows_the_same_escaped_in_the_style_of_answers(tmp_path):
    columns = {"a<b": dp.one_of("<i>", "&"), "n": dp.between(0, 1)}
    table = opened(tmp_path, {"id": [1], "a<b": ["&"], "n": [0]}, columns=columns).table("visits")
    page = table.where(table.n < 1)._repr_html_()
    assert '<div class="discreet-answer"><style>' in page
    assert '<th scope="row">a&lt;b</th><td>category</td><td>&lt;i&gt;, &amp;</td>' in page
    assert "<p>keep rows where n &lt; 1</p>" in page


def test_a_table_whose_session_is_closed_says_so(tmp_path):
    session = opened(tmp_path)
    table = session.table("visits")
    session.close()
    assert repr(table) == "visits: it was closed"
    assert table._repr_html_() is None
    assert "where" in dir(table)


def test_completion_offers_columns_and_verbs_and_nothing_from_inside(tmp_path):
    columns = {"age": dp.between(0, 1), "plan": dp.flag(), "first name": dp.text(), "count": dp.flag()}
    table = opened(tmp_path, {"id": [1], **{name: ["1"] for name in columns}}, columns=columns).table("visits")
    assert table.__dir__()[:2] == ["age", "columns"]
    assert not {"plan", "desk", "keys", "snapshot", "frozen", "registered", "first name"} & set(dir(table))
    assert {"where", "agg", "count", "group_by", "synthesize"} <= set(dir(table))
    assert table._ipython_key_completions_() == [*columns]
    assert all(hasattr(table, name) for name in dir(table))


@pytest.mark.parametrize("verb", ["release", "preview", "for_error"])
def test_a_table_of_which_nothing_is_asked_says_how_to_ask(visits, verb):
    with pytest.raises(NothingAsked) as refused:
        getattr(visits.group_by("ward"), verb)
    assert str(refused.value) == (
        f"{verb} of a table: nothing is asked yet. Fix: ask for aggregates first: .agg(n=dp.count()).{verb}(...)."
    )
    assert not hasattr(visits, verb)


@pytest.mark.parametrize("ask", [lambda t: t.agee, lambda t: t["agee"], lambda t: t.group_by("agee")])
def test_an_unknown_column_is_refused_with_the_nearest(visits, ask):
    with pytest.raises(UnknownColumn, match="did you mean 'age'"):
        ask(visits)


def test_a_private_attribute_is_no_column(visits):
    assert not hasattr(visits, "_age")
    assert not hasattr(visits, "nothing_like_it")
    assert copy.copy(visits) == visits


def test_rows_are_kept_where_all_conditions_are_true_and_not_null(visits):
    assert exactly(visits.where(visits.age >= 18, visits.urgent).count()).value() == 4
    assert exactly(visits.where((visits.age >= 18) | visits.age.is_null()).count()).value() == 8


@pytest.mark.parametrize("condition", [lambda t: t.age, lambda t: t.age + 1, lambda t: "age"])
def test_a_condition_that_is_no_flag_is_refused(visits, condition):
    with pytest.raises(dp.Refusal) as refused:
        visits.where(condition(visits))
    assert "true or false" in str(refused.value)


def test_no_condition_is_refused(visits):
    with pytest.raises(BadParameter, match="there is no condition"):
        visits.where()


def test_derived_columns_may_build_on_each_other(visits):
    wide = visits.derive(double=visits.age * 2).derive(more=visits.age + 1)
    assert {"double", "more"} <= set(wide.columns)
    assert exactly(wide.where(wide.double > 100).count()).value() == 2


def test_a_join_adds_public_columns_and_leaves_rows_without_partner_out(visits):
    wards = public("wards", {"code": ["A", "B"], "floor": [1, 2]})
    joined = visits.join(wards, on={"ward": "code"})
    assert exactly(joined.count()).value() == 8
    assert [row["n"] for row in exactly(joined.group_by("floor").agg(n=dp.count()))] == [5, 3]


def test_a_union_has_the_rows_of_both(visits):
    old, young = visits.where(visits.age >= 40), visits.where(visits.age < 40)
    assert exactly(old.union(young).count()).value() == 9


def test_a_union_is_with_an_ungrouped_table_of_the_same_session(visits, tmp_path):
    with pytest.raises(BadParameter, match="not a table of this session"):
        visits.union(opened(tmp_path).table("visits"))
    with pytest.raises(BadParameter, match="not a table of this session"):
        visits.union("visits")
    with pytest.raises(BadParameter, match="grouped already"):
        visits.union(visits.group_by("ward"))


def test_groups_come_last_and_once(visits):
    grouped = visits.group_by("ward")
    for verb in (lambda: grouped.where(visits.age > 3), lambda: grouped.derive(x=visits.age)):
        with pytest.raises(BadParameter, match="before group_by"):
            verb()
    with pytest.raises(BadParameter, match="grouped already"):
        grouped.group_by("urgent")
    with pytest.raises(BadParameter, match="nothing to group by"):
        visits.group_by()


def test_groups_may_be_derived_on_the_spot_and_keys_given(visits):
    answer = exactly(visits.group_by(old=visits.age >= 40).agg(n=dp.count()))
    assert [(row["old"], row["n"]) for row in answer] == [(False, 4), (True, 5)]
    cities = exactly(visits.group_by("city", keys={"city": ["東京", "Bern", "Paris"]}).agg(n=dp.count()))
    assert [(row["city"], row["n"]) for row in cities] == [("東京", 1), ("Bern", 5), ("Paris", 0)]


def test_keys_of_a_column_that_is_not_grouped_by_are_refused(visits):
    with pytest.raises(UnknownName, match="key column"):
        visits.group_by("ward", keys={"city": ["Bern"]})


def test_only_all_rows_have_the_declared_size(visits):
    assert visits.count().asked(epsilon=1).reach.size == 10
    assert visits.where(visits.age > 3).count().asked(epsilon=1).reach.size is None
    assert visits.group_by("ward").agg(n=dp.count()).asked(epsilon=1).reach.size is None


def test_an_expression_is_neither_true_nor_false(visits):
    with pytest.raises(dp.Refusal):
        visits.where(18 <= visits.age <= 65)


def test_asking_around_leaves_the_ledger_alone(visits):
    before = head(visits.desk)
    visits.where(visits.age > 3).group_by("ward").agg(n=dp.count()).preview(epsilon=1)
    assert head(visits.desk) == before


def test_verbs_win_over_columns_of_their_names_which_are_items(tmp_path):
    columns = {"describe": dp.between(0, 1), "where": dp.between(0, 1), "keys": dp.flag()}
    data = {"describe": [0, 1], "where": [1, 1], "keys": [True, False]}
    session = opened(tmp_path, data, unit=dp.row(), columns=columns)
    visits = session.table("visits")
    assert callable(visits.where)
    assert isinstance(visits["where"], Name)
    with pytest.raises(AttributeError, match=re.escape('write table["describe"] for the column')):
        _ = visits.describe
    assert len(visits.where(visits["describe"] == 1).count().release(epsilon=1).rows) == 1
    notes = curator_of(session).table("visits").notes
    assert [note.partition(":")[0] for note in notes] == [
        f'ask for the column {name} as visits["{name}"]' for name in columns
    ]


def test_one_row_for_each_person_is_a_table_like_others(tmp_path):
    # Person i has i % 4 + 1 visits of 10 each; one row is nobody's.
    people = [str(i) for i in range(400) for _ in range(i % 4 + 1)]
    data = {"id": [*people, None], "cost": [10] * len(people) + [10]}
    curator = dp.Curator(tmp_path / "people")
    columns = {"cost": dp.between(0, 50)}
    unit = dp.person("id", max_rows=3)
    curator.register("visits", data, unit=unit, columns=columns, rows=1001, budget=dp.Budget(epsilon=10**9))
    visits = curator.session(curator.grant("ana", "visits")).table("visits")
    people = visits.per_person(total=dp.sum("cost"), n=dp.count(), wide=dp.sum("cost", per_person=(0, 500)))
    assert "one row for each person, of up to 3 rows: total = sum(cost), n = count()" in repr(people)
    asked = people.agg(many=dp.count(), total=dp.mean("total"), wide=dp.sum("wide"), most=dp.quantile("n", 0.8))
    shown = asked.preview(epsilon=1)
    assert "one person changes one row" in str(shown)
    assert shown["total"].half_width is None  # no number of people was declared
    (found,) = asked.release(epsilon=10**6)
    assert found["most"] == 3
    assert found["wide"] == pytest.approx(10_000, abs=0.01)
    assert found["many"] == pytest.approx(400, abs=0.01)
    assert found["total"] == pytest.approx(25, abs=0.01)
    rows = people.where(people.total > 15).group_by("n").agg(c=dp.count()).release(epsilon=10**6)
    assert [(row["n"], round(row["c"])) for row in rows] == [(0, 0), (1, 0), (2, 100), (3, 200)]
    with pytest.raises(BadParameter, match="lower the declared bound, 1"):
        asked.preview(epsilon=1, max_rows=2)


def test_averages_over_people_are_refused_under_replace(tmp_path):
    curator = dp.Curator(tmp_path / "replaced")
    unit = dp.person("id", max_rows=3, relation="replace")
    columns = {"cost": dp.between(0, 50)}
    curator.register("visits", {"id": ["a"], "cost": [1]}, unit=unit, columns=columns, budget=dp.Budget(epsilon=9))
    people = curator.session(curator.grant("ana", "visits")).table("visits").per_person(t=dp.sum("cost"))
    with pytest.raises(BadParameter, match="under replace an average divides by a public number of rows"):
        people.agg(m=dp.mean("t")).preview(epsilon=1)
    # A removal and an addition: twice the bound of a person, which is three rows of 50.
    assert people.agg(s=dp.sum("t")).preview(epsilon=1)["s"].half_width >= 2 * 150


def test_a_column_called_per_person_is_spoken_of_in_brackets(tmp_path):
    curator = dp.Curator(tmp_path / "named")
    columns = {"per_person": dp.between(0, 9)}
    data = {"id": ["a"], "per_person": [1]}
    curator.register("visits", data, unit=dp.person("id", max_rows=3), columns=columns, budget=dp.Budget(epsilon=9))
    visits = curator.session(curator.grant("ana", "visits")).table("visits")
    made = visits.per_person(per_person=dp.sum("per_person"))
    assert made["per_person"].name == "per_person"
    assert visits.per_person(n=dp.count()).columns.keys() == {"n"}
