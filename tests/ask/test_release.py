"""Answering: exact integers plus the stated noise, for every aggregate, unit, relation and price."""

import json
import math
from fractions import Fraction

import pandas as pd
import pytest

import discreet as dp
from discreet.ask import release
from discreet.ask.programme import Programme
from discreet.core.errors import Refusal
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from discreet.engines.duckdb.engine import EngineFailed
from discreet.engines.source import SourceChanged
from discreet.ledger import QuestionFailed
from discreet.mechanisms.quantile import Quantile
from discreet.plan.stability import GRAIN
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.curator.questions import (
    COLUMNS,
    PRICES,
    PURE,
    ROWS,
    UNITS,
    answered,
    curator_of,
    drawn,
    head,
    law,
    noises,
    opened,
)

# Groups of three rows, all alike, so that one release draws the same noise so many times; everyone lies in one group.
GROUPS, VALUES = 1200, (1, 4, 9)
LOW, HIGH = -2, 10
WIDTH = HIGH - LOW
U = [value - LOW for value in VALUES]

EXACT = {
    "count": (dp.count(), [3]),
    "people": (dp.people(), None),
    "sum": (dp.sum("x"), [sum(VALUES)]),
    "mean": (dp.mean("x"), [sum(v - LOW for v in VALUES), sum(HIGH - v for v in VALUES)]),
    "variance": (
        dp.variance("x"),
        [sum(u * u for u in U), sum(2 * u * (WIDTH - u) for u in U), sum((WIDTH - u) ** 2 for u in U)],
    ),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Sessions on many alike groups, one for each unit."""
    folder = tmp_path_factory.mktemp("many")
    data = {
        "id": [group for group in range(GROUPS) for _ in VALUES],
        "group": [group for group in range(GROUPS) for _ in VALUES],
        "x": [value for _ in range(GROUPS) for value in VALUES],
    }
    columns = {"group": between(0, GROUPS - 1), "x": between(LOW, HIGH)}
    return {name: opened(folder, data, unit=unit, columns=columns) for name, unit in UNITS.items()}


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("word", EXACT)
def test_noise_on_exact_integers_follows_the_stated_law(many, word, unit, price):
    aggregate, exact = EXACT[word]
    if exact is None:
        exact = [1] if unit.startswith("person") else [3]
    report = many[unit].table("visits").group_by("group").agg(value=aggregate)
    with seeded(17):
        (answer,) = answered(report.asked(**PRICES[price]))
    parts = [noises(quantity) for quantity in answer.columns[0].quantities]
    assert len(parts) == GROUPS
    for place, true in enumerate(exact):
        noisy = parts[0][place]
        assert {(part[place].law, part[place].scale) for part in parts} == {(noisy.law, noisy.scale)}
        grain = GRAIN if unit.startswith("person") and word != "people" else 1
        reach = max(3, math.ceil(3 * noisy.scale / grain))
        p = fit(drawn([part[place].value - true * grain for part in parts], reach, grain), law(noisy, reach, grain))
        assert p > FALSE_ALARM


@pytest.mark.parametrize(
    ("unit", "word", "scale"),
    [
        ("row", "count", 1),
        ("row replaced", "count", 2),
        ("person", "count", 3),
        ("person replaced", "count", 6),
        ("person", "people", 3),
        ("person replaced", "people", 6),
        ("row", "sum", 10),
        ("person replaced", "sum", 60),
        ("row", "mean", WIDTH),
        ("person", "mean", 3 * WIDTH),
    ],
)
def test_the_noise_of_grouped_answers_covers_all_rows_of_a_unit(many, unit, word, scale):
    report = many[unit].table("visits").group_by("group").agg(value=EXACT[word][0])
    (measure,) = report.asked(epsilon=1).measures
    assert {noise.scale / measure.grain for noise, _ in measure.statistic.noises} == {scale}
    assert measure.grain == (GRAIN if unit.startswith("person") and word != "people" else 1)


def test_the_scale_falls_as_the_price_rises_and_weights_shift_it(many):
    table = many["row"].table("visits").group_by("group")
    report = table.agg(n=dp.count("group"), m=dp.count("x")).weighted(n=1, m=3)
    n, m = report.asked(epsilon=2).measures
    assert [each.statistic.noises[0][0].scale for each in (n, m)] == [2, Fraction(2, 3)]


def test_a_median_has_the_distribution_of_its_mechanism(many):
    report = many["row"].table("visits").group_by("group").agg(value=dp.median("x"))
    asked = report.asked(epsilon=3)
    with seeded(5):
        (answer,) = answered(asked)
    found = [quantity.value for quantity in answer.columns[0].quantities]
    mechanism = Quantile(low=LOW, high=HIGH, step=1, epsilon=1)
    chances = mechanism.chances(list(VALUES))
    expected = [float(chances[point][0]) for point in range(LOW, HIGH + 1)]
    assert fit([found.count(point) for point in range(LOW, HIGH + 1)], expected) > FALSE_ALARM


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return {name: opened(tmp_path_factory.mktemp("small"), unit=unit) for name, unit in UNITS.items()}


def exactly(report, **price):
    """Answer at a price so high that the noise of integers is zero."""
    with seeded(1):
        (answer,) = answered(report.asked(**(price or {"epsilon": 10**12})))
    return answer


def test_nulls_nan_infinities_and_values_out_of_bounds_count_as_declared(small):
    visits = small["row"].table("visits")
    answer = exactly(visits.agg(n=dp.count(), ages=dp.count("age"), costs=dp.count("cost"), cost=dp.sum("cost")))
    # 1e308 counts as 450, -80 as -50; NaN is null; 0.24 is rounded to a step of a half, 99.75 to the one above.
    truth = 10 + 20.5 - 50 + 0 + 450 + 450 + 3 - 0.5 + 100
    assert [cell["n"] for cell in answer] == [10]
    assert (answer.value("ages"), answer.value("costs"), answer.value("cost")) == (9, 9, pytest.approx(truth, abs=1))


def test_declared_keys_appear_when_empty_and_undeclared_or_null_ones_never(small):
    visits = small["row"].table("visits")
    few = visits.where(visits.ward.fill_null("C") != "C").group_by("ward").agg(n=dp.count())
    assert [(row["ward"], row["n"]) for row in exactly(few)] == [("A", 5), ("B", 3), ("C", 0)]


def test_keys_that_a_condition_rules_out_are_not_shown_in_python_nor_in_sql(small):
    session = small["row"]
    visits = session.table("visits")
    python = exactly(visits.where(visits.ward != "C").group_by("ward").agg(n=dp.count()))
    sql = session.sql("SELECT ward, COUNT(*) AS n FROM visits WHERE ward <> 'C' GROUP BY ward", epsilon=10**6)
    assert [(row["ward"], row["n"]) for row in python] == [("A", 5), ("B", 3)]
    assert [row["ward"] for row in sql] == ["A", "B"]


def test_flags_and_products_of_keys_are_groups_in_order(small):
    visits = small["row"].table("visits")
    answer = exactly(visits.group_by("urgent", "ward").agg(n=dp.count()))
    assert [row[:2] for row in answer.rows] == [(flag, ward) for flag in (False, True) for ward in "ABC"]
    assert [row["n"] for row in answer] == [3, 0, 0, 2, 2, 0]


def test_a_person_counts_for_at_most_the_declared_rows(tmp_path):
    data = {"id": [7] * 500 + [8], "x": [10] * 500 + [2], "g": [i % 5 for i in range(500)] + [0]}
    columns = {"x": between(0, 10), "g": between(0, 4)}
    table = opened(tmp_path, data, unit=person("id", max_rows=4), columns=columns).table("visits")
    whole = exactly(table.agg(n=dp.count(), who=dp.people(), x=dp.sum("x"), h=dp.mean("x")))
    # Each of 500 rows weighs 4/500, rounded down in parts of 2^-20; one person has the other row alone.
    assert whole.value("n") == 1 + 500 * Fraction(4 * GRAIN // 500, GRAIN)
    assert whole.value("who") == 2
    assert whole.value("x") == 2 + 500 * 10 * Fraction(4 * GRAIN // 500, GRAIN)
    assert whole.value("h") == pytest.approx(42 / 5, abs=0.01)
    groups = exactly(table.group_by("g").agg(n=dp.count()))
    assert [row["n"] for row in groups][1:] == [100 * Fraction(4 * GRAIN // 500, GRAIN)] * 4
    assert sum(row["n"] for row in groups) == whole.value("n")
    histogram = exactly(table.agg(h=dp.histogram("g")))
    assert sum(row["h"] for row in histogram) == whole.value("n")


def test_a_question_may_lower_the_rows_of_a_person(small):
    visits = small["person"].table("visits")
    found = [exactly_with(visits, most) for most in (1, 2, 3)]
    # One person has three rows: thirds are rounded down.
    assert found == [6 - Fraction(1, GRAIN), 9 - Fraction(2, GRAIN), 10]


def exactly_with(visits, most):
    with seeded(1):
        (answer,) = answered(visits.count().asked(epsilon=10**12, max_rows=most))
    return answer.value()


@pytest.mark.parametrize("unit", UNITS)
def test_an_empty_table_is_answered_like_any_other(tmp_path, unit):
    empty = pd.DataFrame(ROWS).iloc[:0]
    visits = opened(tmp_path, empty, unit=UNITS[unit], columns=COLUMNS).table("visits")
    report = visits.group_by("ward").agg(n=dp.count(), who=dp.people(), cost=dp.mean("cost"), age=dp.median("age"))
    answer = exactly(report)
    assert [(row["n"], row["who"]) for row in answer] == [(0, 0)] * 3
    assert all(-50 <= row["cost_low"] <= row["cost_high"] <= 450 for row in answer)
    assert [row["h"] for row in exactly(visits.agg(h=dp.histogram("age", edges=[0, 50, 110])))] == [0, 0]
    assert len(exactly(visits.agg(c=dp.cdf("age", [18, 65])))) == 3
    assert exactly(visits.group_by("city").agg(n=dp.count()), epsilon=10, delta=1e-3).rows == ()


@pytest.mark.parametrize("unit", ["row", "person"])
def test_unicode_keys_are_selected_and_counted(tmp_path, unit):
    cities = ["Zürich", "東京", "naïve 'quote'", 'double "quote"', "🜁"]
    data = {"id": range(500), "city": [cities[i % 5] for i in range(500)]}
    table = opened(tmp_path, data, unit=UNITS[unit], columns={"city": text()}).table("visits")
    answer = exactly(table.group_by("city").agg(n=dp.count()), epsilon=100, delta=1e-3)
    assert [(row["city"], round(row["n"])) for row in answer] == [(city, 100) for city in sorted(cities)]


def test_a_key_of_few_people_is_selected_rarely_and_one_of_nobody_never(tmp_path):
    data = {"id": [1, 1, 1, 2], "city": ["Bern"] * 3 + ["Basel"]}
    table = opened(tmp_path, data, unit=person("id", max_rows=1), columns={"city": text()}).table("visits")
    asked = table.group_by("city").agg(n=dp.count()).asked(epsilon=1, delta=1e-9)
    with seeded(3):
        assert all(answer.rows == () for answer in answered(asked, 50))


def test_a_histogram_of_selected_groups_has_all_bins_of_each(tmp_path):
    data = {"id": range(400), "city": ["Bern", "Basel"] * 200, "x": [0, 1, 2, 3] * 100}
    table = opened(tmp_path, data, columns={"city": text(), "x": between(0, 3)}).table("visits")
    answer = exactly(table.group_by("city").agg(h=dp.histogram("x")), epsilon=1000, delta=1e-3)
    assert [round(row["h"]) for row in answer] == [0, 100, 0, 100, 100, 0, 100, 0]
    assert exactly(table.where(table.x > 5).group_by("city").agg(h=dp.histogram("x")), epsilon=1, delta=1e-9).rows == ()


def test_the_entry_in_the_ledger_is_the_loss_of_the_question(tmp_path):
    session = opened(tmp_path)
    report = session.table("visits").group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"), age=dp.median("age"))
    answer = report.release(epsilon=0.5)
    asked = report.asked(epsilon=0.5)
    assert answer.loss == asked.loss
    assert answer.loss.epsilon(0) <= 0.5
    (entry,) = [each for each in curator_of(session).ledger.entries() if each.kind == "charge"]
    assert json.loads(entry.body)["losses"] == {"visits": asked.loss.record()}


def test_the_same_question_is_replayed_without_charge_and_fresh_pays_again(tmp_path):
    session = opened(tmp_path, budget=PURE)
    report = session.table("visits").group_by("ward").agg(n=dp.count())
    first = report.release(epsilon=0.5)
    before = head(session)
    again = report.release(epsilon=0.5)
    assert (again.columns, again.receipt["replayed"], head(session)) == (first.columns, True, before)
    paid = report.release(epsilon=0.5, fresh=True)
    assert paid.receipt["replayed"] is False
    assert paid.columns != first.columns
    assert spent(session) == 2 * Fraction(1, 2)


def spent(session):
    return Fraction(curator_of(session).ledger.spent("visits").texts()[0].split()[0])


def test_another_analyst_with_access_gets_the_same_answer_and_one_without_gets_none(tmp_path):
    session = opened(tmp_path, budget=PURE)
    curator = curator_of(session)
    curator.register(
        "other", pd.DataFrame({"x": [1]}), unit=row(), columns={"x": between(0, 1)}, budget=dp.Budget(epsilon=1)
    )
    first = session.table("visits").count().release(epsilon=0.5)
    before = spent(session)
    with_access = curator.session(curator.grant("bob", "visits")).table("visits").count().release(epsilon=0.5)
    assert (with_access.columns, with_access.receipt["replayed"]) == (first.columns, True)
    without = curator.session(curator.grant("eve", "other"))
    with pytest.raises(Refusal, match="there is no table of that name"):
        without.table("visits")
    assert spent(session) == before


def test_who_asks_again_gets_the_columns_in_their_own_order(tmp_path):
    visits = opened(tmp_path).table("visits")
    asked = {"n": dp.count(), "cost": dp.mean("cost"), "age": dp.quantile("age", 0.25, 0.5), "many": dp.count()}
    first = visits.group_by("ward").agg(**asked).release(epsilon=1)
    again = visits.group_by("ward").agg(**dict(reversed(asked.items()))).release(epsilon=1)
    assert again.receipt["replayed"]
    assert [column.name for column in again.columns] == ["many", "age_25", "age_50", "cost", "n"]
    assert sorted(again.columns, key=str) == sorted(first.columns, key=str)


def test_a_revoked_grant_is_told_nothing_not_even_what_was_paid(tmp_path):
    session = opened(tmp_path)
    visits = session.table("visits")
    visits.count().release(epsilon=0.5)
    curator_of(session).revoke("alice")
    with pytest.raises(Refusal) as refused:
        visits.count().release(epsilon=0.5)
    assert "revoked" in str(refused.value)


def test_a_changed_source_is_refused_until_it_is_refreshed(tmp_path):
    from discreet.curator.curator import Curator

    file = tmp_path / "visits.csv"
    file.write_text("id,age\n1,41\n2,7\n")
    curator = Curator(tmp_path / "changed.discreet")
    budget = dp.Budget(epsilon=10)
    curator.register("visits", file, unit=person("id", max_rows=1), columns={"age": between(0, 110)}, budget=budget)
    visits = curator.session(curator.grant("alice", "visits")).table("visits")
    visits.count().release(epsilon=1)
    file.write_text("id,age\n1,41\n2,7\n3,9\n")
    with pytest.raises(SourceChanged):
        visits.count().release(epsilon=1)
    with pytest.raises(SourceChanged):
        visits.count().release(epsilon=2)
    curator.refresh("visits")
    assert visits.count().release(epsilon=1).receipt["replayed"] is False
    assert curator.ledger.spent("visits").loss == 2


def test_work_that_fails_is_settled_so_and_done_again_for_a_new_price_alone(tmp_path, monkeypatch):
    session = opened(tmp_path, budget=PURE)
    report = session.table("visits").count()
    good = Programme.run

    def broken(programme, runner, draws):
        raise EngineFailed

    monkeypatch.setattr(Programme, "run", broken)
    with pytest.raises(QuestionFailed):
        report.release(epsilon=1)
    ledger = curator_of(session).ledger
    assert (spent(session), ledger.unsettled()) == (1, ())
    monkeypatch.setattr(Programme, "run", good)
    with pytest.raises(QuestionFailed):
        report.release(epsilon=1)
    assert spent(session) == 1
    found = report.preview(epsilon=1)
    assert (found.failed, found.answered, "charged and failed" in str(found)) == (True, False, True)
    report.release(epsilon=1, fresh=True)
    assert spent(session) == 2


def test_a_table_declared_anew_between_price_and_release_is_refused_before_it_is_charged(tmp_path):
    session = opened(tmp_path, columns={"age": between(0, 10)})
    asked = session.table("visits").agg(age=dp.sum("age")).asked(epsilon=1)
    unit = person("id", max_rows=3)
    curator_of(session).declare("visits", unit=unit, columns={"age": between(0, 10**6)})
    with pytest.raises(Refusal, match="declared or refreshed it while the question was being asked"):
        release.release(asked)
    assert spent(session) == 0


def test_a_table_declared_anew_while_the_engine_works_gives_no_answer(tmp_path, monkeypatch):
    session = opened(tmp_path, columns={"age": between(0, 10)})
    good = Programme.run

    def meanwhile(programme, runner, draws):
        curator_of(session).declare("visits", unit=person("id", max_rows=3), columns={"age": between(0, 99)})
        return good(programme, runner, draws)

    monkeypatch.setattr(Programme, "run", meanwhile)
    with pytest.raises(QuestionFailed):
        session.table("visits").agg(age=dp.sum("age")).release(epsilon=1)
    assert curator_of(session).ledger.unsettled() == ()


def test_a_thousand_operations_on_an_answer_leave_the_ledger_as_it_was(tmp_path):
    session = opened(tmp_path, budget=PURE)
    answer = session.table("visits").group_by("ward").agg(n=dp.count(), cost=dp.mean("cost")).release(epsilon=1)
    before = head(session)
    for number in range(200):
        value = (round(answer["n"] / 3 + number) * 2).clip(0, 100)
        assert value.column().cells[0].low <= value.column().cells[0].high
    assert answer["cost"].to_json()
    assert head(session) == before


def test_a_differencing_pair_pays_twice(tmp_path):
    session = opened(tmp_path, budget=PURE)
    visits = session.table("visits")
    visits.where(visits.age <= 41).count().release(epsilon=1)
    visits.where(visits.age < 41).count().release(epsilon=1)
    assert spent(session) == 2


def test_a_union_is_charged_to_the_account_of_both_tables(tmp_path):
    session = opened(tmp_path, budget=PURE, columns={"ward": one_of("A", "B", "C")})
    curator = curator_of(session)
    other = pd.DataFrame({"id": [1, 9], "ward": ["A", "A"]})
    curator.register(
        "more", other, unit=person("id", max_rows=3), columns={"ward": one_of("A", "B", "C")}, group="visits"
    )
    both = curator.session(curator.grant("bob", ["visits", "more"]))
    report = both.table("visits").union(both.table("more")).agg(n=dp.count(), who=dp.people())
    answer = exactly(report)
    # Person 1 has three rows in one table and one in the other: each weighs three quarters.
    assert (answer.value("n"), answer.value("who")) == (11, 7)
    report.release(epsilon=1)
    assert spent(session) == 1


def test_an_answer_that_was_replayed_is_kept_until_something_happens_in_the_vault(tmp_path):
    session = opened(tmp_path, budget=dp.Budget(epsilon=3, delta=1e-6))
    report = session.table("visits").count()
    first = report.release(epsilon=1)
    again = report.release(epsilon=1)
    assert again.receipt["replayed"]
    assert report.release(epsilon=1) is again
    assert session.table("visits").count().release(epsilon=1) is again  # found by its question
    assert report.release(epsilon=Fraction(1, 2)) is not again
    later = report.release(epsilon=1)
    assert (later.value(), later.remaining) == (
        first.value(),
        "50% of the budget of visits (1 more question like this one)",
    )
    curator_of(session).revoke("alice")
    with pytest.raises(Refusal, match="revoked"):
        report.release(epsilon=1)


def test_a_kept_answer_is_not_that_of_a_question_which_only_looks_alike(tmp_path):
    table = opened(tmp_path).table("visits")
    for one, other in ((1, 1.5), (41, 42)):
        kept = table.where(table.age >= one).count()
        assert kept.release(epsilon=1).receipt["key"] == kept.release(epsilon=1).receipt["key"]
        assert (
            table.where(table.age >= other).count().release(epsilon=1).receipt["key"]
            != kept.release(epsilon=1).receipt["key"]
        )
    assert table.count().release(epsilon=1, max_rows=1) is not table.count().release(epsilon=1, max_rows=2)


def test_a_kept_answer_of_a_source_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("id,age\n1,41\n2,42\n")
    curator = dp.Curator(tmp_path / "vault.discreet")
    curator.register(
        "visits",
        str(path),
        unit=person("id", max_rows=3),
        columns={"age": between(0, 110)},
        budget=dp.Budget(epsilon=9),
    )
    report = curator.session(curator.grant("alice", "visits")).table("visits").count()
    for _ in range(3):
        report.release(epsilon=1)
    path.write_text("id,age\n1,41\n2,42\n3,43\n")
    with pytest.raises(SourceChanged):
        report.release(epsilon=1)


def test_a_preview_is_kept_until_something_happens_in_the_vault(tmp_path):
    session = opened(tmp_path, budget=dp.Budget(epsilon=3, delta=1e-6))
    report = session.table("visits").count()
    before = report.preview(epsilon=1)
    assert report.preview(epsilon=1) is before
    assert report.preview(epsilon=1, rows=7) is not before
    left = "66.6% would remain (of epsilon=3, delta=1e-06), enough for 2 more questions like this one"
    assert before.remaining == (f"the budget of visits: {left}",)
    report.release(epsilon=1)
    assert report.preview(epsilon=1).answered
    wide = session.table("visits").agg(m=dp.count()).preview(epsilon=Fraction(5, 2))
    assert "no more questions like this one" in wide.remaining[0]
