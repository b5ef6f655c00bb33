"""Commands about a vault in PostgreSQL: --vault and init take its URL, and no output has its password."""

import pytest

from discreet import Budget
from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator
from discreet.ledger import Ledger
from tests.cli.vaults import PRICE, TERMS
from tests.ledger.stores import POSTGRES, homes, new_url

pytestmark = POSTGRES


@pytest.fixture
def url(folder, monkeypatch):
    for name, value in homes(folder).items():
        monkeypatch.setenv(name, value)
    return new_url().replace("postgres@", "postgres:hunter2@")


def test_a_vault_is_made_filled_and_verified_by_its_url(url, folder, run, result):
    made = result("init", url)
    assert made["policy"] == "discreet.toml"
    assert "hunter2" not in str(made) + (folder / "discreet.toml").read_text()
    assert made["vault"] in (folder / "discreet.toml").read_text()
    assert run("register", "visits", "visits.csv", *TERMS, *PRICE, "--vault", url)[0] == Exit.DONE
    assert result("grant", "alice", "visits", "--vault", url)["token"]
    assert result("budget", "--vault", url)
    found = result("verify", "--vault", url, "--head", made["head"])
    assert found["entries"] > 3
    assert "hunter2" not in "".join(map(str, run("lint", "--vault", url)))


def test_the_environment_and_the_policy_may_name_a_url(url, folder, run, monkeypatch):
    monkeypatch.setenv("DISCREET_VAULT", url)
    assert run("init")[0] == Exit.DONE
    assert run("verify")[0] == Exit.DONE
    monkeypatch.delenv("DISCREET_VAULT")
    assert run("register")[0] == Exit.DONE  # the policy that init wrote names the vault
    assert run("verify")[0] == Exit.REFUSED


def test_a_vault_that_is_there_is_not_made_again_and_one_that_fails_is_removed(url, folder, run):
    assert run("init", url)[0] == Exit.DONE
    code, out, err = run("init", url)
    assert code == Exit.REFUSED
    assert "it already exists" in err
    assert "hunter2" not in out + err
    other = new_url()
    table = 'source = "nowhere.csv"\nunit = "row"\nbudget = { epsilon = 1 }\ncolumns = { age = "0..110" }\n'
    (folder / "bad.toml").write_text(f"[tables.visits]\n{table}")
    code, _, err = run("init", other, "--from", "bad.toml")
    assert code != Exit.DONE
    assert "nowhere.csv" in err
    assert not Ledger.exists(other)


def test_the_first_look_from_another_machine_is_an_entry(url, folder, run, result, monkeypatch):
    assert run("init", url)[0] == Exit.DONE
    with Curator(url) as curator:
        curator.ledger.add_account("people", Budget(epsilon=1))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "other machine"))
    assert result("verify", "--vault", url)["absent"] == [4]
    assert "signed, and on the chain at entry 4" in run("verify", "--vault", url)[1]
    assert "an anchor was missing at entry 4" in run("verify", "--vault", url)[1]


def test_a_server_that_is_not_reached_is_a_refusal_in_our_words(folder, run):
    code, out, err = run("verify", "--vault", f"postgresql://ann:hunter2@/db?host={folder}")
    assert code == Exit.REFUSED
    assert "no connection can be made" in err
    assert "hunter2" not in out + err
