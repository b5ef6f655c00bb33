"""Synthesize: paid once before a row is read, bounded by person, replayed for free, and refused with the fix."""

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.budgets.price import Price
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.ask import synthesize as module
from discreet.ask.synthesize import synthesis
from discreet.core import doors
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between, flag, one_of, text
from discreet.core.unit import person, row
from discreet.engines.engine import EngineFailed
from discreet.ledger import QuestionFailed
from discreet.publish.code_table import Coded
from discreet.testing import seeded
from tests.curator.questions import COLUMNS, ROWS, UNITS, curator_of, head, opened
from tests.publish.worlds import made

RHO = Price.of(rho=1)
MANY = {"ward": one_of("A", "B", "C"), "age": between(0, 110), "urgent": flag(nullable=False), "note": text()}


def many(rows=3000):
    chance = made(7)
    age = chance.integers(0, 100, rows)
    return {
        "id": np.arange(rows) // 2,
        "ward": np.where(age < 40, "A", chance.choice(["B", "C"], rows)),
        "age": age,
        "urgent": chance.random(rows) < age / 100,
        "note": "x",
    }


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("synth"), many(), unit=person("id", max_rows=2), columns=MANY, rows=3000)


def exact(asked):
    """Return what the engine would count for synthetic data: the tables of all pairs."""
    found = []

    def made(measure, *_):
        places = range(len(asked.domain))
        cliques = [*((one,) for one in places), *((one, other) for one in places for other in places if one < other)]
        found.extend(zip(cliques, map(doors.opened, measure(cliques)), strict=True))
        raise Refusal("enough", why="it was counted", fix="look")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "synthesized", made)
        with pytest.raises(QuestionFailed):
            asked.release(fresh=True)
    return dict(found)


def spent_of(session):
    """Return what every account has spent, in the currency of its filter."""
    return [found.filter.spent.loss for found in curator_of(session).ledger.standing() if found.scope == "account"]


@pytest.mark.parametrize("method", ["auto", "aim", "mst", "independent"])
def test_a_synthetic_of_a_table_is_near_it(session, method):
    with seeded(1):
        synthetic = session.table("visits").synthesize(method, epsilon=20, delta=1e-9, workload=2, bins=11)
    data = many()
    assert synthetic.domain.names == ("ward", "age", "urgent")
    assert synthetic.rows == pytest.approx(3000, rel=0.02)
    assert synthetic.answer({"ward": "A"}).value == pytest.approx((data["ward"] == "A").sum(), rel=0.05)
    if method != "independent":
        young = synthetic.answer({"ward": "A", "age": range(33)}).value
        assert young == pytest.approx((data["age"] < 33).sum(), rel=0.1)
    sample = synthetic.sample(100).to_pandas()
    assert [*sample.columns] == ["ward", "age", "urgent"]
    assert any("note is left out" in word for word in synthetic.words)


def test_the_same_synthetic_data_is_replayed_for_free(tmp_path):
    session = opened(tmp_path, many(), unit=person("id", max_rows=2), columns=MANY, rows=3000)
    visits = session.table("visits")
    first, receipt = synthesis(visits, "auto", RHO, workload=2).release()
    spent = head(session)
    again, replayed = synthesis(visits, first.method, RHO, workload=2).release()
    assert (receipt.replayed, replayed.replayed) == (False, True)
    assert head(session) == spent
    np.testing.assert_array_equal(again.marginal("age"), first.marginal("age"))
    other, paid = synthesis(visits, "auto", RHO, workload=2).release(fresh=True)
    assert not paid.replayed
    assert (other.marginal("age") != first.marginal("age")).any()
    for change in ({"bins": 5}, {"columns": ["age", "ward"]}, {"zeros": [{"ward": "A", "urgent": True}]}):
        assert (
            synthesis(visits, "mst", RHO, workload=2, **change).question
            != synthesis(visits, "mst", RHO, workload=2).question
        )


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}])
@pytest.mark.parametrize("unit", UNITS)
def test_what_is_charged_is_what_the_noise_is_made_for(tmp_path, price, unit):
    asked = synthesis(opened(tmp_path, unit=UNITS[unit]).table("visits"), "mst", Price.of(**price))
    rows = 3 if "person" in unit else 1
    replaced = "replaced" in unit
    assert asked.allowance.rows == rows * (2 if replaced else 1)
    assert asked.loss.relation == ("replace" if replaced else "add_remove")
    assert isinstance(asked.loss, Pure if price == {"epsilon": 1} else Zcdp)
    assert asked.loss.epsilon(1e-6) <= 1.0001 or "rho" in price
    synthetic, _ = asked.release()
    assert synthetic.loss == asked.loss
    (spent,) = spent_of(asked.query.desk)
    assert spent > 0


@pytest.mark.parametrize("bound", ["query", "table"])
def test_one_person_moves_each_marginal_by_no_more_than_their_rows(tmp_path, bound):
    frame = pd.DataFrame(ROWS)
    unit = person("id", max_rows=3, bound=bound)
    whole = exact(synthesis(opened(tmp_path, frame, unit=unit).table("visits"), "mst", RHO))
    for who in range(1, 7):
        less = exact(synthesis(opened(tmp_path, frame[frame.id != who], unit=unit).table("visits"), "mst", RHO))
        # Another vault has another secret, which chooses other rows of people with more than three: here nobody has.
        for clique, table in whole.items():
            assert 0 < abs(table - less[clique]).sum() <= 3


@pytest.mark.parametrize("most", [1, 4])
def test_a_person_with_many_rows_counts_for_a_few_and_for_the_same_ones_everywhere(tmp_path, most):
    rows = {"id": [1] * 50 + [2], "ward": ["A"] * 25 + ["B"] * 26, "age": [*range(50), 7]}
    columns = {"ward": COLUMNS["ward"], "age": between(0, 110)}
    tables = exact(
        synthesis(opened(tmp_path, rows, unit=person("id", max_rows=most), columns=columns).table("visits"), "mst", RHO)
    )
    assert {int(table.sum()) for table in tables.values()} == {most + 1}
    np.testing.assert_array_equal(tables[0, 1].sum(axis=1), tables[(0,)])
    np.testing.assert_array_equal(tables[0, 1].sum(axis=0), tables[(1,)])


def test_the_engine_counts_what_the_coding_says(tmp_path):
    """Nulls, values outside the keys and beyond the bounds, and numbers that are none."""
    asked = synthesis(opened(tmp_path, unit=row()).table("visits"), "mst", RHO, bins=7)
    kept = pd.DataFrame(ROWS).astype(object).where(pd.DataFrame(ROWS).notna(), None)
    coded = asked.coding.coded({name: kept[name].tolist() for name in asked.domain.names})
    assert isinstance(coded, Coded)
    for clique, table in exact(asked).items():
        np.testing.assert_array_equal(table, doors.opened(coded.measure([clique])[0]))


def test_synthetic_data_can_have_all_of_an_account(tmp_path):
    session = opened(tmp_path, many(), columns=MANY, unit=row(), budget=dp.Budget(epsilon=1, delta=1e-6))
    synthetic = session.table("visits").synthesize("mst", epsilon=1, delta=1e-6)
    assert 0.94 < synthetic.loss.epsilon(1e-6) <= 1
    with pytest.raises(BudgetExceeded):
        session.table("visits").synthesize("independent", epsilon=0.1, delta=1e-6)


def test_nothing_is_read_before_it_is_paid_for(tmp_path, monkeypatch):
    session = opened(tmp_path, many(), columns=MANY, unit=row(), budget=dp.Budget(epsilon=1))
    with pytest.raises(BudgetExceeded):
        session.table("visits").synthesize("mst", epsilon=2)
    seen = []

    def failing(*_, **__):
        seen.append(spent_of(session))
        raise EngineFailed

    monkeypatch.setattr(module, "marginals", failing)
    for _ in range(2):  # what has drawn is never begun again
        with pytest.raises(QuestionFailed):
            session.table("visits").synthesize("mst", epsilon=1)
    assert seen == [[1]]
    monkeypatch.undo()
    with pytest.raises(QuestionFailed):
        session.table("visits").synthesize("mst", epsilon=1)
    with pytest.raises(BudgetExceeded):
        session.table("visits").synthesize("mst", epsilon=0.01, bins=5)


def test_a_preview_is_free_and_says_what_to_expect(session):
    before = head(session)
    shown = session.table("visits").preview_synthesize(epsilon=0.001)
    assert "too little to be useful" in str(shown)
    assert "would remain" in str(shown)
    assert "chosen automatically" in str(shown)
    assert shown.record()["expected"]["rows"] == 3000
    assert head(session) == before


def test_synthetic_data_is_made_of_the_rows_that_a_question_has(session):
    visits = session.table("visits")
    old = visits.where(visits.age >= 60).derive(decade=visits.age.round(10)).select("ward", "decade", wanted="urgent")
    with seeded(3):
        synthetic = old.synthesize("mst", rho=5)
    assert synthetic.domain.names == ("ward", "decade", "wanted")
    assert synthetic.rows == pytest.approx((many()["age"] >= 60).sum(), rel=0.05)
    assert synthetic.answer({"ward": "A"}).value < 20


def test_zeros_are_values_and_hold(session):
    zeros = [{"age": range(33), "ward": ["B", "C"]}]
    synthetic = session.table("visits").synthesize("mst", rho=1, zeros=zeros)
    found = synthetic.sample(3000).columns
    assert not any(
        age is not None and age < 33 and ward in "BC"
        for age, ward in zip(found["age"], found["ward"], strict=True)
        if ward
    )


def test_progress_names_each_step_once_and_never_how_many_rounds_there_are(session):
    said = []
    session.table("visits").synthesize("mst", rho=1, bins=3, progress=said.append)
    assert [stage.name for stage in said][::3] == ["measure single attributes", "fit the model"]
    said.clear()
    session.table("visits").synthesize("aim", rho=1, bins=3, progress=said.append)
    assert [str(stage) for stage in said] == [
        "1 of 4: measure single attributes",
        "2 of 4: count the workload",
        "3 of 4: choose and measure, round by round",
        "4 of 4: fit the model",
    ]


@pytest.mark.parametrize(
    ("change", "refusal", "words"),
    [
        ({"columns": ["note"]}, BadParameter, "free text"),
        ({"columns": ["ages"]}, UnknownName, "age"),
        ({"columns": "age"}, BadParameter, "list of names"),
        ({"columns": ["id"]}, BadParameter, "identifies people"),
        ({"bins": 0}, BadParameter, "bins"),
        ({"workload": 9}, BadParameter, "workload"),
        ({"zeros": [{"wards": "A"}]}, UnknownName, "ward"),
        ({"method": "ami"}, UnknownName, "aim"),
        ({"epsilon": 0}, BadParameter, "epsilon"),
        ({"rho": 1}, BadParameter, "exactly one"),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_is_paid(session, change, refusal, words):
    before = head(session)
    with pytest.raises(refusal, match=words):
        session.table("visits").synthesize(**{"method": "mst", "epsilon": 1, **change})
    assert head(session) == before


def test_groups_have_no_synthetic_data_and_too_many_cells_are_refused(session, tmp_path):
    with pytest.raises(BadParameter, match="grouped"):
        session.table("visits").group_by("ward").synthesize("mst", epsilon=1)
    wide = {name: between(0, 999) for name in "abc"}
    table = opened(tmp_path, {name: [1, 2] for name in "abc"}, columns=wide, unit=row()).table("visits")
    with pytest.raises(BadParameter, match="are the most"):
        table.synthesize("aim", epsilon=1, bins=1000)
    assert table.synthesize("mst", epsilon=1, bins=100).domain.sizes == (101, 101, 101)


def test_what_a_method_promises_stays_with_the_synthetic_data(session):
    flags = session.table("visits").select("urgent")
    for _ in range(2):  # made, and then replayed
        synthetic = flags.synthesize("smalldb", epsilon=1)
        assert synthetic.words[0].startswith("protects one person")
        assert any("no cell of the workload is off by more than" in word for word in synthetic.words)
        assert len({*synthetic.words}) == len(synthetic.words)


@pytest.mark.xdist_group("postgres")
def test_a_synthetic_of_a_table_in_a_database_is_made_there(tmp_path):
    import psycopg

    from tests.postgres import shared

    url = shared().database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i / 2 AS id, (ARRAY['A', 'B', 'C'])[1 + i % 3] AS ward, i % 90 AS age"
            " FROM generate_series(0, 999) AS i"
        )
        connection.execute("SELECT pg_stat_force_next_flush()")
    curator = dp.Curator(tmp_path / "vault.discreet")
    columns = {"ward": one_of("A", "B", "C"), "age": between(0, 110)}
    unit = person("id", max_rows=2)
    curator.register("visits", dp.postgres("visits", url), unit=unit, columns=columns, budget=dp.Budget(epsilon=100))
    visits = curator.session(curator.grant("alice", "visits")).table("visits")
    with seeded(1):
        synthetic = visits.synthesize("mst", epsilon=50, bins=4)
    assert synthetic.marginal("ward").round().tolist() == pytest.approx([334, 333, 333, 0], abs=3)
    assert synthetic.sample(20).columns["ward"]
