"""discreet budget: bars of what is spent, for life always; an analyst sees what is theirs."""

import pytest

from discreet.account.losses.pure import Pure
from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator
from discreet.ledger.charge import Charge


@pytest.fixture
def spent(folder, run, result):
    """A vault of pure epsilon 2, of which alice has spent 1/2 and someone without a cap 1/4."""
    run("init")
    words = ("--unit", "person:patient_id", "--max-rows", "5", "--column", "age=0..110", "--epsilon", "2")
    run("register", "visits", "visits.csv", *words, "--group", "patients")
    token = result("grant", "alice", "visits", "--epsilon", "1", "--monthly-epsilon", "0.6")["token"]
    bob = result("grant", "bob", "visits")["token"]
    with Curator("vault.discreet", create=False) as curator:
        for who, amount in ((token, "0.5"), (bob, "0.25")):
            grant = curator.ledger.authenticate(who)
            charge = Charge(amount, {"patients": Pure(float(amount))}, {"visits": 1}, grant.analyst, grant.id)
            curator.ledger.charge(charge)
    return token, bob


def test_the_custodian_sees_everything(spent, run):
    code, out, _ = run("budget")
    assert code == Exit.DONE
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "patients pays for visits"
    assert any(line.startswith("lifetime ") and line.endswith("62.5% left of epsilon=2") for line in lines)
    assert any(line.startswith("alice, lifetime ") and line.endswith("50% left of epsilon=1") for line in lines)
    assert any(line.startswith("alice, 20") and line.endswith("16.6% left of epsilon=0.6") for line in lines)


def test_json_has_exact_amounts(spent, result):
    limits = {(each["scope"], each["analyst"]): each for each in result("budget")["limits"]}
    assert limits["account", None]["spent"] == {"loss": "3/4", "delta": "0"}
    assert limits["account", None]["remaining"]["loss"] == "5/4"
    assert limits["account", None]["budget"] == {"epsilon": "2", "delta": None, "rho": None}
    assert (limits["grant", "alice"]["share"], limits["window", "alice"]["left"]) == (0.5, "16.6%")
    assert limits["window", "alice"]["tables"] == ["visits"]


def test_an_analyst_sees_their_own_limits_and_the_lifetime(spent, result, monkeypatch):
    token, bob = spent
    found = result("budget", "--token", bob)
    assert [(each["scope"], each["analyst"]) for each in found["limits"]] == [("account", None)]
    monkeypatch.setenv("DISCREET_TOKEN", token)
    found = result("budget")
    assert found["analyst"] == "alice"
    assert {(each["scope"], each["analyst"]) for each in found["limits"]} == {
        ("account", None),
        ("grant", "alice"),
        ("window", "alice"),
    }


def test_a_custodians_token_sees_everything(spent, result):
    with Curator("vault.discreet", create=False) as curator:
        token = curator.grant("root", role="custodian")
    assert len(result("budget", "--token", token)["limits"]) == 3


def test_a_bad_token_is_refused(spent, run):
    code, out, err = run("budget", "--token", "x_y")
    assert (code, out) == (Exit.REFUSED, "")
    assert "it is not valid here" in err


def test_an_empty_vault_says_so(folder, run):
    run("init")
    assert run("budget")[1] == "There are no budgets yet: register a table first.\n"


@pytest.mark.parametrize("width", [36, 60, 120])
def test_no_line_is_wider_than_the_screen_and_none_is_torn(spent, run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("budget")[1]
    assert max(map(len, out.splitlines())) <= width
    assert "of epsilon=0.6" in out
    assert "62.5% left" in out


def test_a_budget_of_epsilon_and_delta_is_a_share_with_the_exact_figures_explained_below(vault, run):
    lines = [" ".join(line.split()) for line in run("budget")[1].splitlines()]
    assert lines[1].endswith("100% left of epsilon=3, delta=1e-06")
    assert lines[2].startswith("lifetime: counted in 5 sums, of which one has to hold: 3 of 3 epsilon left;")
