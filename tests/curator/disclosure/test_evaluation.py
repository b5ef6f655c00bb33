"""Evaluations: what a reviewer must see is there, nothing of a row is, and no row is read for it."""

import re

import pytest

import discreet as dp
from discreet.account.losses.gaussian import Gaussian
from discreet.curator.curator import Curator
from discreet.mechanisms import registry

ROWS = {"id": ["1", "2", "3"], "age": ["31", "42", "57"]}
OTHER = {"id": ["4711"], "age": ["99"]}
TERMS = {"unit": dp.person("id", max_rows=2), "columns": {"age": dp.between(0, 99)}}


def made(place, rows=ROWS):
    curator = Curator(place)
    curator.register("visits", rows, budget=dp.Budget(epsilon=4, delta=1e-6), group="patients", **TERMS)
    curator.work(pace=0.001)
    curator.charging(alerts=[0.5])
    session = curator.session(curator.grant("zoe", "visits", budget=dp.Budget(epsilon=3, delta=1e-7)))
    session.table("visits").agg(n=dp.count()).release(epsilon=0.5)
    curator.bill("visits", Gaussian(9).sampled(0.01) * 10, "training")
    return curator


@pytest.fixture
def curator(tmp_path):
    with made(tmp_path / "vault.discreet") as found:
        yield found


def said(evaluation):
    return {what: words for _, rows in evaluation.sections for what, words in rows}


def test_a_reviewer_sees_whom_it_protects_at_which_budget_by_which_theorem(curator):
    found = said(curator.evaluate())
    assert "one person (id), at most 2 rows, added or removed" in found["visits"]
    assert "bounded in each question" in found["visits"]
    assert found["patients"].startswith("epsilon=4, delta=1e-06, under add_remove; ")
    assert found["patients pays for"] == "visits"
    assert found["charges"] == "2, of which 2 were answered and 0 failed; 0 refusals"
    assert found["losses charged so far, by kind"].count("(1)") == 2
    assert "of whom have a cap of their own" in found["grants"]
    assert found["grants"].startswith("1 of 1 are open, to 1 analysts, 1 of")
    assert found["pace"] == "responses take multiples of 0.001 s"
    assert found["public key"] == curator.ledger.public_key
    assert found["head"].endswith(curator.ledger.head[1])
    assert "1 tables are copies" in found["rows"]


def test_every_mechanism_is_there_with_a_test_that_exists(curator):
    from tests.mutants.mutant import TESTS

    found = said(curator.evaluate())
    for name in registry:
        (place,) = re.findall(r"tests/(\S+[.]py)", found[name])
        assert (TESTS / place).exists()


def test_all_sections_that_a_reviewer_asks_for_are_there(curator):
    titles = [title for title, rows in curator.evaluate().sections if rows]
    assert titles == [
        "Units and relations",
        "Budgets and filters",
        "Composition",
        "Mechanisms",
        "Samplers",
        "Access control",
        "Time and side channels",
        "Retention",
        "What was looked at, and when",
        "What the promise rests on",
    ]


def test_what_was_looked_at_is_told_with_its_time(curator):
    assert said(curator.evaluate())["the ledger"].startswith("verified whole at")
    curator.verify()
    assert said(curator.evaluate())["the ledger"].endswith(f"up to entry {curator.ledger.head[0]}")
    curator.rotate()
    curator.rotate_secret()
    curator.rotate_secret()
    assert said(curator.evaluate())["keys exchanged"] == "1 that sign, 2 secrets"


def test_it_is_the_same_whatever_the_rows_are_and_reads_none(curator, tmp_path, monkeypatch):
    def read(*_, **__):
        raise AssertionError("a row was read")

    with made(tmp_path / "other.discreet", OTHER) as neighbour:
        monkeypatch.setattr("discreet.engines.duckdb.engine.DuckDBEngine.__enter__", read)
        monkeypatch.setattr("discreet.engines.duckdb.engine.connect", read)
        one, other = (each.evaluate() for each in (curator, neighbour))
    own = {"public key", "head", "the ledger", "ledger", "released from patients"}
    assert {k: v for k, v in said(one).items() if k not in own} == {
        k: v for k, v in said(other).items() if k not in own
    }


def test_it_names_no_analyst_no_path_and_no_question(curator, tmp_path):
    for text in (str(curator.evaluate()), curator.evaluate().html()):
        assert "zoe" not in text
        assert str(tmp_path) not in text
        assert "training" not in text


def test_text_record_and_page_say_the_same_and_the_page_fetches_nothing(curator):
    found = curator.evaluate()
    record = [(row["what"], row["is"]) for section in found.record()["sections"] for row in section["rows"]]
    assert record == [row for _, rows in found.sections for row in rows]
    page = found.html()
    assert all(words in str(found) for _, words in record)
    assert page.count("<section>") == len(found.sections)
    assert not re.search(r"(src|href)=|http", page)


def test_an_empty_vault_is_evaluated_too(tmp_path):
    with Curator(tmp_path / "vault.discreet") as empty:
        assert said(empty.evaluate())["tables"] == "none is registered"


def test_how_charges_are_counted_is_that_of_the_filters_and_running_releases_and_bills_are_told(tmp_path):
    budgets = {"pure": dp.Budget(epsilon=1), "union": dp.Budget(epsilon=1, delta=1e-6)}
    for name, budget in budgets.items():
        with dp.Curator(tmp_path / f"{name}.discreet") as curator:
            rows = {"id": [1, 2], "n": [3, 4]}
            curator.register("t", rows, unit=dp.row(), columns={"n": dp.between(0, 9)}, budget=budget)
            found = said(curator.evaluate())
            assert ("counted in every sum" in found["adaptivity"]) == (name == "union")
            curator.bill("t", dp.Pure(0.1), "training")
            session = curator.session(curator.grant("zoe", "t"))
            session.watch(session.table("t"), "above_threshold", threshold=9, epsilon=0.5).look()
            found = said(curator.evaluate())
            assert found["running releases"] == "1, with 1 parts: each is one of the charges"
            assert found["bills for work done elsewhere"] == "1 to t"
            assert found["charges"].startswith("2, of which 1 were answered")
