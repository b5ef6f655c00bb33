"""Asked: the price is split over the parts, and what is charged is never more than was asked."""

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.account.budgets.conversion import zcdp_budget
from discreet.ask.programme import Programme
from discreet.core.errors import BadParameter
from discreet.core.schema import between, text
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.plan.nodes import public
from tests.curator.questions import UNITS, curator_of, opened

AGGREGATES = {
    "n": dp.count(),
    "ages": dp.count("age"),
    "who": dp.people(),
    "total": dp.sum("cost"),
    "mean": dp.mean("cost"),
    "variance": dp.variance("age"),
    "std": dp.std("age"),
    "covariance": dp.covariance("age", "cost"),
    "correlation": dp.correlation("age", "cost"),
    "median": dp.median("age"),
    "quantiles": dp.quantile("age", 0.25, 0.5, 0.9),
    "least": dp.min("age"),
    "most": dp.max("cost"),
}
ALONE = {
    "bins": dp.histogram("age", edges=[0, 18, 65, 110]),
    "by_key": dp.histogram("ward"),
    "below": dp.cdf("age", [18, 65]),
    "top": dp.top_k("ward", 2),
}


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    return {name: opened(tmp_path_factory.mktemp("asked"), unit=unit).table("visits") for name, unit in UNITS.items()}


questions = st.one_of(
    st.sets(st.sampled_from(sorted(AGGREGATES)), min_size=1, max_size=4).map(
        lambda names: {name: AGGREGATES[name] for name in sorted(names)}
    ),
    st.sampled_from(sorted(ALONE)).map(lambda name: {name: ALONE[name]}),
)
amounts = st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50)
deltas = st.sampled_from([Fraction(1, 10**6), Fraction(1, 1000)])


def test_people_are_counted_in_no_more_groups_than_the_conditions_leave_keys(tmp_path):
    unit, columns = person("id", max_rows=10), {"urgent": dp.flag(), "ward": dp.one_of(*"ABCDEF")}
    curator = Curator(tmp_path / "vault.discreet")
    frame = {"id": [1], "urgent": [True], "ward": ["A"]}
    curator.register("visits", frame, unit=unit, columns=columns, budget=dp.Budget(epsilon=3))
    table = curator.session(curator.grant("alice", "visits")).table("visits")
    narrowed = table.where(table.ward.is_in(["A", "B", "C"]))
    for query, groups in ((table, ["urgent"]), (narrowed, ["ward"]), (narrowed, ["ward", "urgent"]), (table, ["ward"])):
        (measure,) = query.group_by(*groups).agg(who=dp.people()).asked(epsilon=1).measures
        assert measure.times == {"urgent": 2, "ward": 3 if query is narrowed else 6}[groups[0]] * (len(groups) or 1)


@settings(max_examples=80)
@given(questions, amounts, st.sampled_from(sorted(UNITS)), st.sampled_from([(), ("ward",)]), st.data())
def test_a_price_in_epsilon_is_never_exceeded(visits, aggregates, epsilon, unit, by, data):
    query = visits[unit].group_by(*by) if by else visits[unit]
    report = query.agg(**aggregates)
    name = data.draw(st.sampled_from(sorted(aggregates)))
    report = report.weighted(**{name: data.draw(st.fractions(min_value=Fraction(1, 9), max_value=9))})
    loss = report.asked(epsilon=epsilon).loss
    assert loss.relation == UNITS[unit].relation
    assert loss.epsilon(0) <= float(epsilon) * (1 + 1e-9)


@settings(max_examples=50)
@given(questions, amounts, st.sampled_from(sorted(UNITS)), st.sampled_from([(), ("ward",)]))
def test_a_price_in_rho_is_never_exceeded(visits, aggregates, rho, unit, by):
    query = visits[unit].group_by(*by) if by else visits[unit]
    assert query.agg(**aggregates).asked(rho=rho).loss.zcdp() <= float(rho) * (1 + 1e-9)


@settings(max_examples=25)
@given(questions, amounts, deltas, st.sampled_from(["row", "person"]), st.sampled_from([(), ("ward",), ("city",)]))
def test_a_price_in_epsilon_and_delta_is_never_exceeded(visits, aggregates, epsilon, delta, unit, by):
    query = visits[unit].group_by(*by) if by else visits[unit]
    asked = query.agg(**aggregates).asked(epsilon=epsilon, delta=delta)
    # The way back from rho to delta is computed on a grid of orders, which is a little looser than the way there.
    assert asked.loss.delta(float(epsilon) * (1 + 1e-9)) <= float(delta) * (1 + 1e-3)
    if asked.selection is None and asked.measures[0].price.rho is not None:
        assert asked.loss.zcdp() <= zcdp_budget(epsilon, delta) * (1 + 1e-9)


@settings(max_examples=40)
@given(questions, amounts, st.sampled_from(["person", "person replaced"]), st.sampled_from(["epsilon", "rho"]))
def test_whatever_bound_is_bought_costs_no_more_than_was_charged(visits, aggregates, amount, unit, currency):
    asked = visits[unit].group_by("ward").agg(**aggregates).asked(**{currency: amount}, max_rows="auto")
    spent = asked.loss.epsilon(0) if currency == "epsilon" else asked.loss.zcdp()
    assert spent <= float(amount) * (1 + 1e-9)
    for most in (1, 2, 3):
        settled = asked.at_bound(most)
        assert settled.unit.max_rows == most
        assert settled.loss == asked.loss
        for part, charged in zip(settled.measures, asked.measures, strict=True):
            cost = part.loss.epsilon(0) if currency == "epsilon" else part.loss.zcdp()
            limit = charged.price.epsilon if currency == "epsilon" else charged.price.rho
            assert cost <= float(limit) * (1 + 1e-9)


def test_the_shares_of_the_parts_sum_to_the_price(visits):
    report = visits["row"].agg(n=dp.count(), cost=dp.mean("cost"), age=dp.median("age")).weighted(cost=3)
    asked = report.asked(epsilon=1)
    assert [part.price.epsilon for part in asked.measures] == [Fraction(4, 5), Fraction(4, 5), Fraction(1, 5)]
    assert asked.measures[0].pool == ("cost", "n")
    assert asked.loss.epsilon(0) == pytest.approx(1)


def test_one_measurement_answers_several_columns_and_is_charged_once(visits):
    asked = (
        visits["person"].agg(n=dp.count(), m=dp.mean("cost"), v=dp.variance("cost"), age=dp.sum("age")).asked(epsilon=2)
    )
    assert [each.pool for each in asked.measures] == [("age", "n"), ("m", "v"), ("m", "v"), ("age", "n")]
    assert {each.price.epsilon for each in asked.measures} == {1}
    assert asked.loss.epsilon(0) == pytest.approx(2)
    assert [each.label for each in Programme(asked).claims()] == ["column age/noise", "column m/noise"]


def test_the_order_of_aggregates_changes_no_noise_and_no_price(visits):
    given = {"n": dp.count(), "m": dp.mean("cost"), "age": dp.sum("age"), "v": dp.variance("cost")}
    found = set()
    for names in (list(given), list(given)[::-1], sorted(given)):
        asked = visits["person"].agg(**{name: given[name] for name in names}).asked(epsilon=1, delta=1e-6)
        found.add((asked.question, tuple(sorted((each.name, each.label, str(each.price)) for each in asked.measures))))
    assert len(found) == 1


def test_selection_takes_its_share_of_epsilon_and_a_stated_part_of_delta(visits):
    asked = visits["person"].group_by("city").agg(n=dp.count()).weighted(keys=3).asked(epsilon=1, delta=1e-6)
    assert (asked.selection.epsilon, asked.selection.delta) == (Fraction(3, 4), Fraction(1, 2 * 10**6))
    assert asked.selection.groups == 3


def test_a_column_is_not_called_as_the_share_of_selection(visits):
    with pytest.raises(BadParameter, match="their share of the price"):
        visits["row"].group_by("city").agg(keys=dp.count())
    assert visits["row"].group_by("ward").agg(keys=dp.count()).asked(epsilon=1)


def test_keys_that_a_join_multiplies_are_not_selected_for_rows(visits):
    wards = public("wards", {"ward": ["A", "A"], "floor": [1, 2]})
    joined = visits["row"].join(wards, on="ward").group_by("city").agg(n=dp.count())
    with pytest.raises(BadParameter, match="one row becomes several"):
        joined.asked(epsilon=1, delta=1e-6)


def test_people_of_two_accounts_are_not_united(tmp_path):
    curator = Curator(tmp_path / "two.discreet")
    columns, unit = {"x": between(-5, 5)}, person("id", max_rows=1)
    for name in ("one", "other"):
        frame = pd.DataFrame({"id": [len(name), 2], "x": [len(name), 5]})
        curator.register(name, frame, unit=unit, columns=columns, budget=dp.Budget(epsilon=1), people="distinct")
    session = curator.session(curator.grant("alice", ["one", "other"]))
    both = session.table("one").union(session.table("other")).agg(x=dp.sum("x"))
    with pytest.raises(BadParameter, match="different accounts"):
        both.asked(epsilon=1)


@pytest.mark.parametrize(
    ("aggregates", "by"),
    [
        ({"x": dp.quantile("age", 0.25, 0.75), "x_25": dp.count()}, ()),
        ({"n": dp.count(), "n_low": dp.count()}, ()),
        ({"bin": dp.histogram("age", edges=[0, 50, 110])}, ()),
        ({"rank": dp.top_k("ward", 1)}, ()),
    ],
)
def test_two_columns_of_one_name_are_refused_before_anything_is_paid(visits, aggregates, by):
    with pytest.raises(BadParameter, match="would have this name"):
        visits["row"].agg(**aggregates).asked(epsilon=1)


def test_what_is_too_wide_to_add_up_is_refused_before_anything_is_paid(tmp_path):
    wide = {"x": between(-(10**17), 10**17, step=Fraction(1, 10))}
    session = opened(tmp_path, {"x": [1], "id": [1]}, columns=wide)
    with pytest.raises(dp.Refusal) as refused:
        session.table("visits").agg(v=dp.variance("x")).release(epsilon=1)
    assert refused.value.fix
    assert curator_of(session).ledger.unsettled() == ()


def test_the_better_law_is_taken_where_both_may_be_had(visits):
    few, many = visits["row"], visits["person"]
    laws = {
        "few": few.agg(n=dp.count()).asked(epsilon=1, delta=1e-6),
        "many": many.agg(**{f"n{i}": dp.sum(many.cost + i) for i in range(40)}).asked(epsilon=1, delta=1e-6),
    }
    found = {name: asked.measures[0].statistic.noises[0][0].law for name, asked in laws.items()}
    assert found == {"few": "laplace", "many": "gaussian"}


def test_a_price_at_which_noise_vanishes_is_no_error(visits):
    assert visits["row"].count().asked(epsilon=10**5, delta=1e-6).measures[0].spread == 0


def test_the_question_is_known_by_what_is_asked_and_not_by_how_it_was_written(visits):
    table = visits["row"]
    one = table.where(table.age > 3).agg(n=dp.count(), m=dp.mean("age")).asked(epsilon=0.5)
    same = table.where(table["age"] > 3).agg(m=dp.mean(table.age), n=dp.count()).asked(epsilon=Fraction(1, 2))
    assert one.question == same.question
    others = [
        table.where(table.age >= 3).agg(n=dp.count(), m=dp.mean("age")).asked(epsilon=0.5),
        table.where(table.age > 3).agg(n=dp.count(), m=dp.mean("age")).asked(epsilon=0.6),
        table.where(table.age > 3).agg(n=dp.count(), m=dp.mean("age")).weighted(n=2).asked(epsilon=0.5),
    ]
    assert len({one.question, *(each.question for each in others)}) == 4


def test_units_without_people_have_no_max_rows(visits):
    with pytest.raises(BadParameter, match="each counts once"):
        visits["row"].count().asked(epsilon=1, max_rows=1)
    single = opened_single(visits)
    with pytest.raises(BadParameter, match="may lower the declared bound"):
        single.count().asked(epsilon=1, max_rows="auto")


def opened_single(visits):
    """A table whose people have one row each, in a vault beside the others."""
    folder = curator_of(visits["row"].desk).path.parent
    data = {"id": [1], "city": ["Bern"]}
    return opened(folder, data, unit=person("id", max_rows=1), columns={"city": text()}).table("visits")


def test_a_row_unit_is_a_row(visits):
    assert visits["row"].count().asked(epsilon=1).unit == row()
