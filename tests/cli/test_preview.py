"""discreet preview: what a question in SQL would cost, without paying."""

import re

import pytest

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator

TEXT = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


@pytest.fixture
def token(vault, result, monkeypatch):
    found = result("grant", "alice", "visits")["token"]
    monkeypatch.setenv("DISCREET_TOKEN", found)
    return found


def test_a_preview_shows_errors_and_prices(token, run):
    code, out, _ = run("preview", TEXT, "--epsilon", "1", "--rows", "100")
    assert code == Exit.DONE
    assert "price: epsilon 1" in out
    assert "would remain" in out


def test_a_preview_costs_nothing(token, run, folder):
    with Curator("vault.discreet", create=False) as curator:
        before = curator.ledger.head
    run("preview", TEXT, "--epsilon", "1")
    with Curator("vault.discreet", create=False) as curator:
        assert curator.ledger.head == before


def test_json_has_the_half_widths(token, result):
    found = result("preview", TEXT, "--epsilon", "1", "--rows", "100")
    assert [column["column"] for column in found["columns"]] == ["n", "age"]
    assert all(column["half_width"] > 0 for column in found["columns"])


def test_refusals_are_those_of_the_question(token, run):
    code, _, err = run("preview", "SELECT ward FROM visits", "--epsilon", "1")
    assert code == Exit.REFUSED
    assert "^^^^" in err


def test_a_question_that_was_answered_before_is_free_and_says_so(token, run, result):
    assert result("preview", TEXT, "--epsilon", "1")["answered"] is False
    run("ask", TEXT, "--epsilon", "1")
    assert result("preview", TEXT, "--epsilon", "1")["answered"] is True
    out = run("preview", TEXT, "--epsilon", "1")[1]
    assert "answered before: free (its price was epsilon 1)" in out
    assert "would remain" not in out
    assert result("preview", TEXT, "--epsilon", "0.9")["answered"] is False


def test_a_price_that_would_fit_is_said_as_it_is_typed(token, run, result):
    assert "would fit" not in run("preview", TEXT, "--epsilon", "1")[1]
    assert any(line.endswith("would fit") for line in result("preview", TEXT, "--epsilon", "50")["remaining"])
    code, _, err = run("ask", TEXT, "--epsilon", "50")
    assert code == Exit.BUDGET
    assert re.search(r"fix  --epsilon \S+ would fit", err)


def test_a_preview_speaks_of_options(token, run):
    _, out, _ = run("preview", "SELECT AVG(age) AS age FROM visits", "--epsilon", "1")
    assert "pass --rows to see figures" in " ".join(out.split())
    assert "rows=" not in out
