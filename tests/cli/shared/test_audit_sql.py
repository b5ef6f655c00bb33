"""discreet audit "SELECT ...": a question about declared tables, from a vault or a policy, and what it refuses."""

import pytest

from discreet.cli.shared.exits import Exit
from discreet.plan.to_sql import weights

QUICK = ("--samples", "2000", "--runs", "0")
QUESTION = "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward"


def test_a_question_is_audited_with_the_declarations_of_a_vault(vault, run):
    (vault.parent / "visits.csv").unlink()  # no row of it is read
    code, out, _ = run("audit", QUESTION, "--epsilon", "0.5", *QUICK)
    assert code == Exit.DONE
    for words in (
        "one person (patient_id), at most 5 rows",
        "integers",
        "release",
        "debit",
        "not shown",
        "nothing against the guarantee",
    ):
        assert words in " ".join(out.split())


def test_the_ledger_of_the_vault_is_left_alone(vault, run, result):
    before = result("verify")
    assert run("audit", QUESTION, "--epsilon", "7", *QUICK)[0] == Exit.DONE  # far more than the vault has
    assert result("verify") == before


def test_json_has_what_is_promised_beside_what_was_measured(vault, result):
    found = result("audit", QUESTION, "--rho", "0.1", *QUICK)
    assert found["verdict"] == "not shown"
    assert found["claimed"] > 0.5
    assert {"neighbours", "way", "claimed", "lower", "verdict", "sees"} <= set(found["tried"][0])


def test_a_policy_is_enough_and_its_sources_need_not_be_there(folder, run):
    (folder / "discreet.toml").write_text(
        """
        [tables.stays]
        source = "nowhere.csv"
        unit = "row"
        budget = { epsilon = 1 }
        columns = { nights = "0..30" }
        """
    )
    words = ("audit", "SELECT SUM(nights) AS n FROM stays", "--policy", "discreet.toml", "--epsilon", "1")
    code, out, _ = run(*words, *QUICK, "--plot", "audit.png")
    assert code == Exit.DONE
    assert "one row, added or removed" in out
    assert "nothing to plot" in out  # what is compared without chance has no rates


def test_a_broken_engine_ends_with_exit_code_5(vault, run, monkeypatch):
    monkeypatch.setattr(weights, "GRAIN", 2 * weights.GRAIN)  # each row counts twice
    code, out, err = run("audit", QUESTION, "--epsilon", "0.5", *QUICK)
    assert code == Exit.REFUSED
    assert "refute the guarantee" in out
    assert "the claim of the question" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SELECT"], "quotes"),
        (["SELECT", "COUNT(*)", "FROM", "visits"], "quotes"),
        ([QUESTION], "epsilon"),
        ([QUESTION, "--epsilon", "1", "--all"], "for mechanisms alone"),
        ([QUESTION, "--epsilon", "1", "--layer", "exact"], "for mechanisms alone"),
        ([QUESTION, "--epsilon", "1", "--runs", "0.5"], "integers"),
        ([QUESTION, "--epsilon", "1", "--vault", "none.discreet"], "--policy discreet.toml"),
        (["laplace", "--epsilon", "1"], "for questions alone"),
        (["laplace", "--key", "ward=A"], "for questions alone"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_fix(vault, run, words, said):
    code, _, err = run("audit", *words)
    assert code == Exit.USAGE
    assert said in " ".join(err.split())
