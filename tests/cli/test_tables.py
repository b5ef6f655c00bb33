"""discreet tables: what there is to ask about, for a custodian and for the holder of a token."""

import pytest

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator
from tests.cli.vaults import TERMS


@pytest.fixture
def tables(folder, run, result):
    """Tables of two accounts, of which alice has asked one, and may ask that one alone."""
    run("init")
    (folder / "more.csv").write_text("n\n1\n")
    run("register", "visits", "visits.csv", *TERMS, "--epsilon", "2", "--rows", "1200")
    run("register", "more", "more.csv", "--unit", "row", "--column", "n=0..9", "--epsilon", "1")
    token = result("grant", "alice", "visits", "--epsilon", "1")["token"]
    result("grant", "bob", "visits", "--epsilon", "0.5")
    with Curator("vault.discreet", create=False) as curator:
        curator.session(token).table("visits").count().release(epsilon=0.5)
    return token


def lines(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def test_a_custodian_sees_all_tables_and_what_is_left_of_their_budgets(tables, run):
    code, out, _ = run("tables")
    assert code == Exit.DONE
    assert "more single rows n 100%" in lines(out)
    assert "visits people (patient_id) age, ward 75%" in lines(out)
    assert "See what a column may contain with discreet tables more." in out


def test_an_analyst_sees_the_tables_of_the_grant_and_the_tightest_limit(tables, run, monkeypatch):
    monkeypatch.setenv("DISCREET_TOKEN", tables)
    out = run("tables")[1]
    assert "visits people (patient_id) age, ward 50%" in lines(out)
    assert "more" not in out


def test_one_table_is_shown_with_its_columns_and_limits(tables, run):
    out = run("tables", "visits", "--token", tables)[1]
    assert lines(out)[:4] == [
        "visits, 1,200 rows declared",
        "protects one person (patient_id), at most 5 rows, added or removed",
        "75% left of the budget of visits, epsilon=2",
        "50% left of your cap of visits, epsilon=1",
    ]
    assert "age number 0 to 110 in steps of 1" in lines(out)
    assert "ward category A, B, C" in lines(out)


def test_json_has_the_declaration_and_the_shares_and_nothing_of_the_source_or_of_others(tables, run, result):
    (found,) = result("tables", "--token", tables)["tables"]
    assert (found["name"], found["rows"], found["version"], found["left"]) == ("visits", 1200, 1, 0.5)
    assert found["unit"]["identifier"] == "patient_id"
    assert [column["name"] for column in found["columns"]] == ["age", "ward"]
    assert [(each["scope"], each["own"], each["left"]) for each in found["limits"]] == [
        ("account", False, 0.75),
        ("grant", True, 0.5),
    ]
    out = run("tables", "--token", tables, "--json")[1]
    assert not any(word in out for word in ("csv", "bob", "VARCHAR", "digest", "more"))
    assert [each["left"] for each in result("tables")["tables"]] == [1.0, 0.75]


def test_a_table_outside_the_grant_is_as_unknown_as_one_that_does_not_exist(tables, result):
    texts = [result("tables", name, "--token", tables) for name in ("more", "mode")]
    assert {each["kind"] for each in texts} == {"UnknownName"}
    assert texts[0]["fix"] == texts[1]["fix"]
    assert result("tables", "mor")["fix"] == "did you mean 'more'?"


def test_a_bad_token_is_refused(tables, run):
    code, out, err = run("tables", "--token", "x_y")
    assert (code, out) == (Exit.REFUSED, "")
    assert "it is not valid here" in err


def test_a_custodians_token_sees_everything(tables, result):
    with Curator("vault.discreet", create=False) as curator:
        token = curator.grant("root", role="custodian")
    assert [each["name"] for each in result("tables", "--token", token)["tables"]] == ["more", "visits"]


def test_an_empty_vault_says_so(folder, run):
    run("init")
    assert run("tables")[1] == "There are no tables yet: register one with discreet register.\n"


def test_a_share_is_never_shown_larger_than_it_is(tables, run, capsys):
    with Curator("vault.discreet", create=False) as curator:
        session = curator.session(curator.grant("eve", ["visits", "more"]))
        session.table("visits").count().release(epsilon=1.4999)
        session.table("more").count().release(epsilon=1)
    assert main(["tables"]) == 0
    shown = lines(capsys.readouterr().out)
    assert "more single rows n 0%" in shown
    assert "visits people (patient_id) age, ward less than 0.1%" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("words", [(), ("visits",)])
def test_no_line_is_wider_than_the_screen(tables, run, monkeypatch, width, words):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run("tables", *words)[1].splitlines())) <= width
