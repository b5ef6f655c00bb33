"""discreet noise: every distribution of the library, parameters read exactly as written."""

import json

import pytest

import discreet.noise
from discreet.cli.main import main
from discreet.cli.noise import command

DRAWS = [
    ("laplace", "--scale", "2"),
    ("gaussian", "--sigma", "0.5"),
    ("geometric", "--scale", "1/3"),
    ("uniform", "--n", "6"),
    ("bernoulli", "--p", "1e-3"),
    ("bernoulli-exp", "--x", "1/2"),
]


def test_there_is_a_command_for_every_distribution():
    assert {name.replace("-", "_") for name in command.commands} == set(discreet.noise.__all__)


@pytest.mark.parametrize("words", DRAWS, ids=lambda words: words[0])
def test_it_draws_one_number_or_many_one_a_line(capsys, words):
    assert main(["noise", *words]) == 0
    assert len([int(line) for line in capsys.readouterr().out.split()]) == 1
    assert main(["noise", *words, "--size", "300"]) == 0
    assert len([int(line) for line in capsys.readouterr().out.splitlines()]) == 300


@pytest.mark.parametrize("words", DRAWS, ids=lambda words: words[0])
def test_json_repeats_the_parameter_exactly(capsys, words):
    assert main(["noise", *words, "--size", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert len(result["values"]) == 2
    assert result["distribution"] == words[0].replace("-", "_")


def test_a_decimal_is_the_fraction_it_reads_as(capsys):
    assert main(["noise", "laplace", "--scale", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["scale"] == "1/10"


def test_a_sure_thing_is_drawn_surely(capsys):
    assert main(["noise", "uniform", "--n", "1", "--size", "50"]) == 0
    assert capsys.readouterr().out == "0\n" * 50


def test_no_numbers_are_no_lines(capsys):
    assert main(["noise", "uniform", "--n", "6", "--size", "0"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "words",
    [
        ["laplace", "--scale", "0"],
        ["gaussian", "--sigma", "-1"],
        ["bernoulli", "--p", "3/2"],
        ["uniform", "--n", "1/2"],
        ["laplace", "--scale", "nan"],
        ["laplace", "--scale", "2", "--size", "-1"],
    ],
)
def test_parameters_that_make_no_sense_are_refused(capsys, words):
    assert main(["noise", *words]) == 2
    assert "fix" in capsys.readouterr().err


def test_a_number_longer_than_a_line_stays_on_its_line(capsys):
    assert main(["noise", "uniform", "--n", f"1{'0' * 200}", "--size", "5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
