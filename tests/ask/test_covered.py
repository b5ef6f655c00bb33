"""What a price covers: every part of a question, for every row and key of a unit, and every account that it reads."""

from fractions import Fraction

import pandas as pd
import pytest

import discreet as dp
from discreet.account.budgets.budget import Budget
from discreet.account.losses.composition import total
from discreet.core.schema import between, text
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.measures.measure import drawn_once
from tests.curator.questions import answered, opened

UNITS = {
    "add_remove": person("id", max_rows=4, max_groups=3),
    "replace": person("id", max_rows=4, max_groups=3, relation="replace"),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("covered")
    return {relation: opened(folder, unit=unit).table("visits") for relation, unit in UNITS.items()}


@pytest.mark.parametrize("relation", UNITS)
def test_keys_are_selected_for_all_groups_of_a_unit_under_its_relation(tables, relation):
    """Under replace one person leaves three keys and another joins three."""
    asked = tables[relation].group_by("city").agg(n=dp.count()).asked(epsilon=1, delta=Fraction(1, 10**6))
    selection = asked.selection
    assert selection.moved == {"add_remove": 3, "replace": 6}[relation] == asked.reach.groups
    assert (selection.groups, selection.relation) == (3, relation)
    epsilon, delta = selection.share
    assert (epsilon * selection.moved, delta * selection.moved) == (selection.epsilon, selection.delta)


@pytest.mark.parametrize("relation", UNITS)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": Fraction(1, 10)}])
def test_selected_keys_and_their_counts_are_paid_together(tables, relation, price):
    delta = Fraction(1, 10**6)
    asked = tables[relation].group_by("city").agg(n=dp.count(), x=dp.sum("age")).asked(**price, delta=delta)
    assert asked.loss.relation == relation
    assert asked.loss.slack == asked.selection.delta <= delta
    if "epsilon" in price:
        assert asked.loss.epsilon(delta) <= 1
    else:
        paid = sum(Fraction(part.rho) * count for part, count in asked.loss.parts)
        assert price["rho"] / 2 < paid <= price["rho"]


def test_the_delta_of_a_selection_is_not_spent_again_by_gaussian_noise(tmp_path):
    """Of many columns, for which Gaussian noise is the lesser one."""
    visits = opened(tmp_path, unit=person("id", max_rows=60)).table("visits")
    delta = Fraction(1, 10**6)
    asked = (
        visits.group_by("city")
        .agg(**{f"x{place}": dp.sum(visits.age + place) for place in range(30)})
        .asked(epsilon=1, delta=delta)
    )
    assert {noise.law for each in asked.measures for noise, _ in each.statistic.noises} == {"gaussian"}
    assert asked.selection.delta == delta / 2
    noise = total(each.loss for each in asked.measures)
    assert noise.epsilon(delta / 2) + float(asked.selection.epsilon) <= 1 + 1e-9
    assert asked.loss.epsilon(delta) <= 1


@pytest.mark.parametrize("relation", UNITS)
def test_a_bound_that_is_bought_is_part_of_the_price(tables, relation):
    asked = tables[relation].agg(n=dp.count(), x=dp.sum("age")).asked(epsilon=1, max_rows="auto")
    parts = [alike[0].most_loss.peak for alike in drawn_once(asked.measures)]
    assert len(parts) == 1
    assert asked.bound.loss.peak > 0
    assert asked.loss.peak == sum(parts) + asked.bound.loss.peak
    assert Fraction(99, 100) < asked.loss.peak <= 1


@pytest.mark.parametrize("relation", UNITS)
def test_a_lower_bound_on_rows_is_the_one_that_rows_are_kept_by(tables, relation):
    for rows in (1, 2, 4):
        asked = tables[relation].agg(n=dp.count()).asked(epsilon=1, max_rows=rows)
        assert (asked.unit.max_rows, asked.unit.max_groups) == (rows, min(3, rows))
        assert asked.reach.rows == rows * (1 if relation == "add_remove" else 2)
        (noise, _), *_ = asked.measures[0].statistic.noises
        assert noise.scale >= asked.reach.rows


def test_every_account_that_a_question_reads_pays_for_it(tmp_path):
    """Tables of single rows with budgets of their own may be united: a row may lie in either."""
    curator = Curator(tmp_path / "two.discreet")
    for name, values in (("one", [1, 2, 3]), ("other", [7, 8])):
        frame = pd.DataFrame({"x": values})
        curator.register(name, frame, unit=row(), columns={"x": between(0, 10)}, budget=Budget(epsilon=3))
    session = curator.session(curator.grant("alice", ["one", "other"]))
    both = session.table("one").union(session.table("other"))
    both.agg(n=dp.count()).release(epsilon=1)
    assert {name: curator.ledger.spent(name).loss for name in ("one", "other")} == {"one": 1, "other": 1}
    both.agg(n=dp.count(), x=dp.sum("x")).release(epsilon=Fraction(1, 2))
    assert {curator.ledger.spent(name).loss for name in ("one", "other")} == {Fraction(3, 2)}


@pytest.mark.parametrize("counts", [(60, 40), (40, 60)])
def test_selected_keys_come_in_their_own_order_whatever_their_counts(tmp_path, counts):
    data = {"id": range(100), "city": ["Bern"] * counts[0] + ["Aarau"] * counts[1]}
    visits = opened(tmp_path, data, unit=row(), columns={"city": text()}).table("visits")
    (answer,) = answered(visits.group_by("city").agg(n=dp.count()).asked(epsilon=50, delta=0.1))
    assert answer.rows == (("Aarau",), ("Bern",))
