"""Tests of `discreet attack`: the folder is the list of attacks."""

import json

import pytest

from discreet.cli.attack import attacks
from discreet.cli.main import main


def test_the_help_lists_every_attack_with_what_it_does(capsys):
    assert main(["attack", "--help"]) == 0
    printed = capsys.readouterr().out
    for name in attacks:
        assert f"  {name} " in printed
    assert "Exit codes" not in printed


def test_an_unknown_attack_is_refused_with_the_nearest(capsys):
    assert main(["attack", "reconstruct", "--json"]) != 0
    refused = json.loads(capsys.readouterr().out)["error"]
    assert "reconstruction" in refused["fix"] + refused["why"]


@pytest.mark.parametrize("name", list(attacks))
def test_every_attack_has_help_and_json(name, capsys):
    assert main(["attack", name, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_a_target_that_is_none_is_refused_before_anything_runs(capsys):
    assert main(["attack", "differencing", "--target", "round:5"]) != 0
    assert "rounded" in capsys.readouterr().err
