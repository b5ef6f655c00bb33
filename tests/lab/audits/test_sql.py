"""The auditor for questions in SQL: honest ones pass, planted bugs are found, no real row is read."""

import json
from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet.answers.quantity import BracketedValue
from discreet.ask.programme import KeyStep, MeasureStep, Programme, SharedStep
from discreet.core import doors
from discreet.core.errors import BadParameter, Refusal
from discreet.core.schema import Table
from discreet.lab.audits.finding import AuditFailed
from discreet.lab.audits.question import AuditedQuestion
from discreet.lab.audits.sql import audit_sql
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.parts.integer_noise import Noise
from discreet.plan.keys import Tally, TallyQuery
from discreet.plan.to_sql import statement, weights
from discreet.plan.to_sql.cells import CellRequest
from discreet.plan.whole import Whole
from discreet.testing import seeded

# An honest question is accused with probability at most 1e-6 (the audit's own `alarm`), and seeds are fixed, so that
# what passes once passes always.

COLUMNS = {
    "cost": dp.between(0, 100),
    "age": dp.between(0, 110),
    "ward": dp.one_of("A", "B", "C"),
    "city": dp.text(),
    "day": dp.date("2024-01-01", "2024-12-31"),
    "urgent": dp.flag(),
}
PEOPLE = dp.person("pid", max_rows=3, max_groups=2)


def visits(unit=PEOPLE, rows=None):
    return Table("visits", unit, COLUMNS, rows)


def audited(text, tables=None, seed=1, **given):
    """Audit a question quickly: no noise is drawn unless it is asked for."""
    with seeded(seed):
        return audit_sql(text, tables or visits(), **{"samples": 10_000, "runs": 0, **given})


def share(found, way="integers"):
    """Return the largest part of its promise that was seen in one way."""
    return max(each.finding.lower / each.finding.claimed for each in found.tried if each.way == way)


HONEST = {
    "count": ("SELECT COUNT(*) AS n FROM visits WHERE age >= 65 AND urgent", {"epsilon": 1}),
    "sum": ("SELECT SUM(cost) AS s FROM visits WHERE day >= '2024-06-01'", {"epsilon": 1}),
    "mean": ("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward", {"epsilon": 1}),
    "variance": ("SELECT VARIANCE(cost) AS v FROM visits", {"epsilon": 1}),
    "distinct": ("SELECT COUNT(DISTINCT pid) AS p FROM visits", {"epsilon": 1}),
    "totals": ("SELECT SUM(cost - 50, contribution_bounds_per_group => (-20, 70)) AS s FROM visits", {"epsilon": 1}),
    "people": ("SELECT SUM(t) AS s FROM (SELECT pid, SUM(cost) AS t FROM visits GROUP BY pid) AS p", {"epsilon": 1}),
    "gaussian": ("SELECT ward, COUNT(age) AS n, SUM(cost) AS s FROM visits GROUP BY ward", {"rho": 0.1}),
    "shared": (
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS m, VARIANCE(cost) AS v FROM visits GROUP BY ward",
        {"epsilon": 1},
    ),
    "approximate": ("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", {"epsilon": 1, "delta": 1e-6}),
    "rollup": ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward)", {"epsilon": 1}),
    "selected": ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", {"epsilon": 1, "delta": 1e-4}),
    "derived": ("SELECT AVG(c) AS m FROM (SELECT cost + 1 AS c FROM visits WHERE ward <> 'B') AS q", {"epsilon": 1}),
}


# What `make test` audits; `make check` audits the others too.
SHORT = ("count", "totals", "people", "gaussian")


@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow) for name in HONEST]
)
def test_all_but_the_noise_of_an_honest_question_is_bounded_and_its_integers_use_all_of_the_promise(name):
    text, price = HONEST[name]
    found = audited(text, **price)
    assert found.verdict == "not shown"
    assert found.open == ()
    assert share(found) == pytest.approx(1, rel=1e-4)  # weights are rounded down
    assert {each.way for each in found.tried} >= {"price", "release", "integers", "debit"}


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "text", ["SELECT MEDIAN(cost) AS m FROM visits", pytest.param("SELECT MIN(age) AS a FROM visits", marks=SLOW)]
)
def test_a_ranked_question_is_bounded_by_its_exact_chances(text):
    found = audited(text, epsilon=1)
    assert (found.verdict, found.open) == ("not shown", ())
    assert 0.3 < share(found, "choices") <= 1
    assert {each.finding.layer for each in found.tried if each.way == "choices"} == {"exact"}


@pytest.mark.parametrize(
    "unit",
    [
        dp.row(),
        pytest.param(dp.row(relation="replace"), marks=pytest.mark.slow),
        dp.person("pid", max_rows=2, relation="replace"),
        dp.person("pid", max_rows=2, bound="table"),
    ],
)
@pytest.mark.slow
def test_every_unit_has_neighbours_of_its_own(unit):
    found = audited("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward", visits(unit), epsilon=1)
    assert (found.verdict, found.open) == ("not shown", ())
    assert share(found) == pytest.approx(1)


@pytest.mark.slow
def test_a_person_is_in_both_tables_of_a_join():
    people = Table("people", dp.person("pid", max_rows=1), {"kind": dp.one_of("x", "y")})
    text = "SELECT kind, AVG(cost) AS m FROM visits JOIN people ON visits.pid = people.pid GROUP BY kind"
    found = audited(text, [visits(), people], epsilon=1)
    assert (found.verdict, found.open) == ("not shown", ())
    assert share(found) == pytest.approx(1)


def test_a_verdict_says_which_noise_it_would_have_seen():
    found = audited("SELECT COUNT(*) AS n FROM visits", epsilon=1, samples=50_000, runs=300)
    (drawn,) = [each for each in found.tried if each.way == "noise"]
    assert (drawn.finding.verdict, drawn.finding.samples) == ("not shown", 300)
    assert found.sees.startswith("noise of one integer narrower by a factor of 0.")


@pytest.mark.slow
def test_a_bound_that_is_bought_is_audited_in_every_way():
    found = audited("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5, max_rows="auto", runs=100)
    assert not found.violated
    assert {each.way for each in found.tried} == {"price", "release", "integers", "choices", "debit", "noise"}
    assert {each.finding.layer for each in found.tried if each.way == "choices"} == {"exact"}


@pytest.mark.parametrize(
    "text", ["SELECT MEDIAN(cost) AS m FROM visits", "SELECT city, COUNT(*) FROM visits GROUP BY city"]
)
@pytest.mark.slow
def test_an_audit_runs_the_programme_that_answers(monkeypatch, text):
    ran, honest = [], Programme.run

    def heard(self, engine, draws):
        ran.append(self.asked.question)
        return honest(self, engine, draws)

    monkeypatch.setattr(Programme, "run", heard)
    found = audited(text, epsilon=1, delta=1e-4)
    assert len(ran) >= 2 * len({each.pair for each in found.tried} - {"any"})
    assert len(set(ran)) == 1


# Planted bugs ---------------------------------------------------------------------------------------------------------


def test_noise_that_is_too_small_by_four_is_found(monkeypatch):
    honest = Noise.draw
    monkeypatch.setattr(Noise, "draw", lambda self, size: np.asarray(honest(self, size)) // 4)
    found = audited("SELECT SUM(cost) AS s FROM visits", epsilon=0.5)
    assert {each.way for each in found.tried if each.finding.violated} == {"release"}
    assert "is added where" in found.worst.event


def test_rows_that_are_not_bounded_are_found(monkeypatch):
    monkeypatch.setattr(weights, "MOST_ROWS", 0)  # nobody is taken for one of too many rows
    found = audited("SELECT COUNT(*) AS n FROM visits", visits(dp.person("pid", max_rows=3)), epsilon=0.5)
    (most,) = {
        each.finding.lower
        for each in found.tried
        if (each.pair, each.way) == ("all rows at the top, nobody else", "integers")
    }
    assert most == pytest.approx(0.5 * 7 / 3)  # seven rows where three may count
    assert found.violated


def test_people_whose_sums_are_not_clamped_are_found(monkeypatch):
    monkeypatch.setattr(Whole, "clamped", lambda self, *_: self)
    found = audited("SELECT SUM(t) AS s FROM (SELECT pid, SUM(cost) AS t FROM visits GROUP BY pid) AS p", epsilon=0.5)
    assert max(each.finding.lower for each in found.tried) == pytest.approx(0.5 * 7 / 3)  # seven rows where three count
    assert found.violated


def test_groups_that_are_not_bounded_are_found(monkeypatch):
    honest = statement.allotted
    monkeypatch.setattr(statement, "allotted", lambda *given: honest(*given[:-1], None))
    found = audited("SELECT ward, COUNT(*) AS n, COUNT(DISTINCT pid) AS p FROM visits GROUP BY ward", epsilon=0.5)
    broken = [each for each in found.tried if each.finding.violated]
    assert "a row in each of too many groups" in {each.pair for each in broken}
    assert max(each.finding.lower for each in broken) == pytest.approx(0.25 + 0.375)  # three groups where two may count


@pytest.mark.slow
def test_a_group_that_shows_by_being_there_is_found(monkeypatch):
    honest = MeasureStep.run

    def leaky(self, at, engine, draws):
        found = doors.opened(engine.tallies(TallyQuery(at.scope.plan, at.keys, (Tally("rows"),)), at.asked.unit))
        kept = at.keys.chosen([at.keys.listed()[row[0]] for row in found])
        return honest(self, replace(at, keys=kept), engine, draws)

    monkeypatch.setattr(MeasureStep, "run", leaky)
    found = audited("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
    assert "release" in {each.way for each in found.tried if each.finding.violated}


def test_an_error_that_one_person_causes_is_found(monkeypatch):
    honest = SharedStep.parts

    def raising(self, at, found):
        if any(map(any, doors.opened(found))):
            raise OverflowError("a value out of range")
        return honest(self, at, found)

    monkeypatch.setattr(SharedStep, "parts", raising)
    found = audited("SELECT COUNT(*) AS n FROM visits WHERE urgent", epsilon=0.5)
    events = {each.way: each.finding.event for each in found.tried if each.finding.violated}
    assert events["release"] == "one neighbour raises an exception, the other does not"


@pytest.mark.slow
def test_people_who_count_twice_in_a_selected_group_are_found(monkeypatch):
    monkeypatch.setattr("discreet.ask.programme.Tally", lambda _: Tally("rows"))
    found = audited(HONEST["selected"][0], epsilon=1, delta=1e-4)
    assert any(each.finding.violated and "groups have other people" in each.finding.event for each in found.tried)


@pytest.mark.parametrize("measure", ["s", "m"])
@pytest.mark.slow
def test_noise_that_one_measure_leaves_out_is_found(monkeypatch, measure):
    honest = {kind: kind.noisy for kind in (SumMeasure, QuantileMeasure)}

    def silent(self, found, groups, mark):
        if self.name != measure:
            return honest[type(self)](self, found, groups, mark)
        if isinstance(self, SumMeasure):
            exact = [self.statistic.inner(self.exact(row)) for row in doors.opened(found)]
            return [self.quantities(self.statistic.supposed(exact), mark)]
        (cells,) = doors.opened(found([CellRequest(0, 0, 101, 1)]))
        return [[BracketedValue(cells.get(0, 0), 0, 100)]]

    for kind in honest:
        monkeypatch.setattr(kind, "noisy", silent)
    found = audited("SELECT COUNT(age) AS n, SUM(cost) AS s, MEDIAN(cost) AS m FROM visits", epsilon=1)
    events = " ".join(each.finding.event for each in found.tried)
    assert "with the same draws the answers differ" in events or "nothing is drawn at" in events
    assert found.violated


def test_a_bound_of_rows_that_is_ignored_is_found(monkeypatch):
    honest = SharedStep.request
    monkeypatch.setattr(SharedStep, "request", lambda self, at: replace(honest(self, at), unit=PEOPLE))
    found = audited("SELECT COUNT(*) AS n FROM visits", epsilon=0.5, max_rows=1)
    assert share(found) == pytest.approx(3)


@pytest.mark.slow
def test_a_selection_of_keys_that_is_left_out_is_found(monkeypatch):
    monkeypatch.setattr(
        KeyStep, "drawn", lambda _, at, found, draws: replace(at, keys=at.keys.chosen(doors.opened(found)))
    )
    found = audited(HONEST["selected"][0], epsilon=1, delta=1e-4)
    assert found.violated
    assert any("differ" in each.finding.event or "one neighbour uses" in each.finding.event for each in found.tried)


def test_a_mechanism_that_nobody_promised_is_found(monkeypatch):
    honest = Programme.claims
    monkeypatch.setattr(
        Programme, "claims", lambda self: [each for each in honest(self) if each.label != "column s/noise"]
    )
    found = audited("SELECT COUNT(age) AS n, SUM(cost) AS s FROM visits", epsilon=1)
    assert any("where nothing was promised" in each.finding.event for each in found.tried)


# What it says, and what it refuses ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_declarations_of_a_vault_are_read(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("pid," + ",".join(COLUMNS) + "\n1,50,40,A,Bern,2024-05-05,true\n")
    with dp.Curator(tmp_path / "vault.discreet") as curator:
        curator.register("visits", path, unit=PEOPLE, columns=COLUMNS, budget=dp.Budget(epsilon=1))
        head = curator.ledger.head
        path.unlink()  # the rows are not needed, nor is the budget
        found = audited("SELECT COUNT(*) AS n FROM visits", curator, epsilon=5)
        assert curator.ledger.head == head
    assert isinstance(found, AuditedQuestion)
    assert found.unit == "one person (pid), at most 3 rows in at most 2 groups, added or removed"


@pytest.mark.slow
def test_a_finding_is_written_as_json():
    found = audited("SELECT COUNT(*) AS n FROM visits", rho=0.1)
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert (record["record_version"], record["verdict"], record["delta"]) == (2, "not shown", 1e-6)
    assert {"neighbours", "way", "lower", "claimed", "sees"} <= set(record["tried"][0])


def test_a_question_that_never_answers_fails_its_audit(monkeypatch):
    def run(self, engine, draws):
        raise TypeError("unsupported operand")

    monkeypatch.setattr(Programme, "run", run)
    with pytest.raises(AuditFailed, match=r"16 of 16 releases raised"):
        audited("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)


@pytest.mark.parametrize(
    ("text", "given", "kind"),
    [
        ("SELECT COUNT(*) FROM visits", {}, BadParameter),
        ("SELECT COUNT(*) FROM visitors", {"epsilon": 1}, Refusal),
        ("SELECT SUM(pay) FROM visits", {"epsilon": 1}, Refusal),
        ("SELECT city, COUNT(*) FROM visits GROUP BY city", {"epsilon": 1}, Refusal),
        ("SELECT COUNT(*) FROM visits", {"epsilon": 1, "samples": 10}, BadParameter),
    ],
)
def test_what_could_not_be_asked_is_refused_before_anything_is_made_up(text, given, kind):
    with pytest.raises(kind):
        audited(text, **given)


def test_no_table_is_refused_with_the_fix():
    with pytest.raises(BadParameter, match="declared"):
        audit_sql("SELECT COUNT(*) FROM visits", [], epsilon=1)


def test_the_cheapest_questions_are_audited_too():
    # A vault refuses prices that are too small a share of a budget; that of an audit is plenty, and is not refused for.
    found = audited("SELECT COUNT(*) FROM visits", rho=1e-5)
    assert found.verdict == "not shown"
    assert not found.open


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward,COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM stays WHERE id=v.id AND nights>age) GROUP BY 1",
        "SELECT COUNT(*) AS n FROM visits v LEFT JOIN stays s ON s.id = v.id",
    ],
    ids=["semi-join", "left join"],
)
def test_what_rows_of_the_same_person_decide_moves_no_integer_beyond_the_claim(text):
    unit = dp.person("id", max_rows=3)
    visits = dp.Table("visits", unit, {"ward": dp.one_of("A", "B"), "age": dp.between(0, 9)})
    stays = dp.Table("stays", unit, {"ward": dp.one_of("A", "B"), "nights": dp.between(0, 9)})
    with seeded(3):
        found = audit_sql(text, [visits, stays], epsilon=1, samples=1000, runs=0)
    integers = [each.finding for each in found.tried if each.way == "integers"]
    assert len(integers) > 4
    assert {each.verdict for each in integers} == {"bounded"}
    assert max(each.lower for each in integers) == pytest.approx(1, rel=1e-4)
