"""discreet attack fingerprinting: coalitions, pirates and targets."""

import json

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.testing import seeded

FEW = ["attack", "fingerprinting", "--users", "20", "--coalition", "3"]


def test_pirates_are_caught_and_a_private_answer_is_not(capsys, tmp_path):
    plot = tmp_path / "scores.svg"
    with seeded(53):
        assert main([*FEW, "--json", "--plot", str(plot)]) == Exit.DONE
    outcomes = json.loads(capsys.readouterr().out)["result"]["outcomes"]
    verdicts = {outcome["target"]: outcome["verdict"] for outcome in outcomes}
    assert verdicts.pop("Discreet, epsilon 1 in all") == "bounded"
    assert {*verdicts.values()} == {"succeeds"}
    assert len(verdicts) == 7
    assert plot.exists()


def test_people_read_who_is_given_away(capsys):
    with seeded(54):
        assert main([*FEW, "--pirate", "coin", "--target", "exact"]) == Exit.DONE
    shown = " ".join(capsys.readouterr().out.split())
    assert "3 of 3 members of the coalition who are accused" in shown
    assert "A demonstration" in shown
    assert "no innocent users" in shown


def test_a_coalition_of_more_than_all_is_refused(capsys):
    assert main(["attack", "fingerprinting", "--users", "5", "--coalition", "6"]) != Exit.DONE
    assert "at most all 5 users" in capsys.readouterr().err
