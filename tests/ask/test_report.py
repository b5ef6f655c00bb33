"""Report: aggregates of a query, weighted, previewed and released."""

import re

import pytest
from rich.console import Console

import discreet as dp
from discreet.answers.answer import Answer
from discreet.core.errors import BadParameter, Refusal, UnknownName
from tests.curator.questions import head, opened


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("report")).table("visits")


def test_nothing_asked_is_refused(visits):
    with pytest.raises(BadParameter, match="nothing is asked"):
        visits.agg()


@pytest.mark.parametrize("wrong", ["cost", dp.count, 3, None])
def test_what_is_no_aggregate_is_refused(visits, wrong):
    with pytest.raises(BadParameter, match=r"it is not an aggregate|call it: count\(\)"):
        visits.agg(n=wrong)


def test_a_column_is_not_called_like_a_key(visits):
    with pytest.raises(BadParameter, match="name of a key"):
        visits.group_by("ward").agg(ward=dp.count())


@pytest.mark.parametrize("alone", [dp.histogram("ward"), dp.cdf("age", [18]), dp.top_k("ward", 1)])
def test_tables_of_their_own_are_asked_alone(visits, alone):
    with pytest.raises(BadParameter, match="has its own rows"):
        visits.agg(n=dp.count(), h=alone)


def test_weights_are_positive_and_name_what_is_asked(visits):
    report = visits.agg(n=dp.count(), cost=dp.mean("cost"))
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        report.weighted(coast=2)
    for wrong in (0, -1):
        with pytest.raises(BadParameter, match="without a share"):
            report.weighted(n=wrong)


@pytest.mark.parametrize(
    "aggregate",
    [dp.mean("ward"), dp.sum("city"), dp.median("urgent"), dp.variance("ward"), dp.covariance("age", "ward")],
)
def test_an_aggregate_of_the_wrong_kind_of_column_is_refused_with_the_fix(visits, aggregate):
    before = head(visits.desk)
    with pytest.raises(dp.Refusal, match="takes a number") as refused:
        visits.agg(x=aggregate).release(epsilon=1)
    assert refused.value.fix
    assert head(visits.desk) == before


def test_an_unknown_column_of_an_aggregate_is_refused_with_the_nearest(visits):
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        visits.agg(x=dp.mean("costs")).preview(epsilon=1)


def test_count_is_short_for_its_aggregate(visits):
    assert visits.count().asked(epsilon=1).question == visits.agg(count=dp.count()).asked(epsilon=1).question


def test_a_release_says_what_was_paid_and_what_remains(visits):
    answer = visits.agg(n=dp.count()).release(epsilon=0.25)
    assert answer.asked == {"epsilon": "1/4"}
    assert answer.unit == "one person (id), at most 3 rows, added or removed"
    assert answer.loss.epsilon(0) == pytest.approx(0.25)
    assert "of the budget of visits (" in answer.remaining


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Forty people, every fourth of whom has nine rows and the others one; two rows count."""
    ids = [who for who in range(40) for _ in range(9 if who % 4 == 0 else 1)]
    data = {"id": ids, "ward": ["A"] * len(ids)}
    unit, columns = dp.person("id", max_rows=2), {"ward": dp.one_of("A", "B")}
    return opened(tmp_path_factory.mktemp("crowd"), data, unit=unit, columns=columns)


def test_the_least_that_bounding_cut_is_bought_with_a_tenth_of_the_price(crowd):
    report = crowd.table("visits").group_by("ward").agg(n=dp.count())
    found = report.release(epsilon=10_000, cut=True)
    assert [round(dict(row)["people"]) for row in found.cut] == [10]
    assert [round(dict(row)["rows"]) for row in found.cut] == [70]  # nine rows, of which two count
    assert report.release(epsilon=10_000, cut=5).cut.value("rows") == pytest.approx(30, abs=0.2)
    # Both are answers of their own, at nine tenths and one tenth of the price.
    assert found.asked == {"epsilon": "9000"}
    assert found.cut.asked == {"epsilon": "1000"}
    assert found.loss.epsilon(0) <= 9000
    assert found.cut.loss.epsilon(0) <= 1000
    assert re.search(r"bounding cut at least (70\.|69\.)", str(found))
    assert re.search(r"at least (70|69)", found.explain())
    again = Answer.from_json(found.to_json())
    assert list(again.cut) == list(found.cut)
    assert str(again) == str(found)
    assert report.cut().release(epsilon=1000).rows == ((),)


def test_a_preview_says_what_the_least_that_was_cut_costs_and_how_far_it_is_off(crowd):
    report = crowd.table("visits").agg(n=dp.count())
    shown = report.preview(epsilon=1, cut=True)
    (words,) = [each for each in shown.stability if "bounding cuts" in each]
    assert words.startswith("a tenth of the price, epsilon 0.1, buys the least that bounding cuts: people ±")
    # Half of that each: one person changes the people by one, and the rows by 20 - 2.
    people, rows = report.cut().preview(epsilon=0.1).lines
    assert (people.noise, rows.noise) == ("Laplace, scale 20", "Laplace, scale 360")
    assert shown["n"].noise == "Laplace, scale 2.222"


def test_the_clause_buys_what_was_cut_too(crowd):
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 20000, cut = {})"
    clause = f"SELECT {options} ward, COUNT(*) FROM visits GROUP BY ward"
    assert crowd.sql(clause.format("5")).cut.value("rows") == pytest.approx(30, abs=0.2)
    assert crowd.sql(clause.format("true")).cut.value("people") == pytest.approx(10, abs=0.1)
    assert crowd.sql(clause.format("false")).cut is None
    assert "bounding cuts" in str(crowd.preview_sql(clause.format("true")))
    for wrong in ("2.5", "2", "x"):
        with pytest.raises(Refusal):
            crowd.sql(clause.format(wrong))


def test_what_was_cut_is_not_bought_where_the_bound_is(crowd):
    with pytest.raises(BadParameter, match="a bound that is bought is not known before the answer"):
        crowd.table("visits").count().release(epsilon=1, max_rows="auto", cut=True)


def test_an_answer_that_is_paid_for_is_kept_where_nothing_is_left_for_what_was_cut(tmp_path):
    unit, columns = dp.person("id", max_rows=2), {"ward": dp.text()}
    budget = dp.Budget(epsilon=1)
    session = opened(tmp_path, {"id": [1], "ward": ["A"]}, unit=unit, columns=columns, budget=budget)
    visits = session.table("visits")
    visits.where(visits.ward == "A").count().release(epsilon=0.05)
    found = visits.count().release(epsilon=1.05, cut=True)
    assert found.cut is None
    assert "nothing is left of the budget for what bounding cut" in found.notes


def test_a_terminal_shows_what_was_cut_below_the_table(crowd):
    console = Console(width=80)
    with console.capture() as shown:
        console.print(crowd.table("visits").count().release(epsilon=10_000, cut=True))
    assert re.search(r"bounding cut at least (70|69)", shown.get())
