"""discreet attack hardness: synthesizers against signatures."""

import json

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.testing import seeded


def test_copies_leak_and_apart_columns_are_worth_nothing(capsys, tmp_path):
    plot = tmp_path / "valid.svg"
    words = ["attack", "hardness", "--rows", "20", "--method", "copy", "--method", "shuffle"]
    with seeded(57):
        assert main([*words, "--plot", str(plot), "--json"]) == Exit.DONE
    copied, shuffled = json.loads(capsys.readouterr().out)["result"]["outcomes"]
    assert copied["verdict"] == "succeeds"
    assert copied["figures"]["valid"] == 20
    assert copied["figures"]["leaked"] > 0
    assert shuffled["verdict"] == "not shown"
    assert shuffled["figures"]["valid"] == 0
    assert plot.exists()


def test_people_read_that_discreet_keeps_no_signature(capsys):
    with seeded(58):
        assert main(["attack", "hardness", "--rows", "10", "--method", "independent", "--epsilon", "1/2"]) == Exit.DONE
    shown = " ".join(capsys.readouterr().out.split())
    assert "epsilon 0.5" in shown
    assert "cannot both be had" in shown


def test_an_unknown_method_is_refused(capsys):
    assert main(["attack", "hardness", "--rows", "3", "--method", "magic"]) != Exit.DONE
    assert "there is no method of that name" in capsys.readouterr().err
