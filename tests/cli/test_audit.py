"""discreet audit: mechanisms by name or all at once, a table or JSON, a plot, and an exit code for a broken claim."""

import json
from fractions import Fraction

import pytest

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.core.unit import Relation
from discreet.mechanisms import registry
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.mechanism import Trial


class HalfScale(Laplace):
    """Claims the loss of noise twice as wide as what it draws."""

    relation: Relation

    @property
    def loss(self):
        return DiscreteLaplace(2 * self.scale, relation=self.relation)


@pytest.fixture
def broken(monkeypatch):
    """Let the trials of laplace include a mechanism that is broken."""
    trials = [Trial("half the scale", HalfScale(scale=Fraction(1, 2)), 0, 1)]
    monkeypatch.setattr("discreet.mechanisms.laplace.trials", lambda: iter(trials))


def test_a_mechanism_is_audited_by_name(capsys):
    assert main(["audit", "laplace", "--samples", "1e4"]) == Exit.DONE
    shown = capsys.readouterr().out
    for word in ("neighbours", "laplace", "exact", "black box", "replay", "claimed", "bounded", "not shown"):
        assert word in shown
    assert "a violation is not shown" in shown


def test_json_holds_every_finding(capsys):
    assert main(["audit", "laplace", "--samples", "2000", "--json"]) == Exit.DONE
    result = json.loads(capsys.readouterr().out)["result"]
    assert {audit["layer"] for audit in result["audits"]} == {"exact", "black_box", "replay"}
    assert {"mechanism", "trial", "claimed", "lower", "delta", "event", "verdict"} <= set(result["audits"][0])
    assert result["violated"] == []


def test_all_are_audited_at_once(capsys):
    assert (
        main(["audit", "--all", "--samples", "100", "--layer", "replay", "--layer", "black-box", "--json"]) == Exit.DONE
    )
    audits = json.loads(capsys.readouterr().out)["result"]["audits"]
    assert {audit["mechanism"] for audit in audits} == set(registry)


def test_a_broken_claim_has_an_exit_code_and_says_why(capsys, broken):
    assert main(["audit", "laplace", "--samples", "1e4"]) == Exit.REFUSED
    shown = capsys.readouterr()
    assert "violated" in shown.out
    assert "1 of 1 pairs of neighbours refute the claim" in shown.out
    assert "the claim of laplace" in shown.err
    assert "fix" in shown.err


def test_a_broken_claim_in_json_is_one_document(capsys, broken):
    assert main(["audit", "laplace", "--samples", "1e4", "--json"]) == Exit.REFUSED
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["violated"] == ["laplace"]


def test_the_most_telling_point_is_plotted(capsys, tmp_path):
    path = tmp_path / "audit.png"
    assert main(["audit", "laplace", "--samples", "2000", "--plot", str(path)]) == Exit.DONE
    assert path.stat().st_size > 5000
    assert "The plot is in" in capsys.readouterr().out


def test_a_replay_alone_leaves_nothing_to_plot(capsys, tmp_path):
    path = tmp_path / "audit.png"
    assert main(["audit", "laplace", "--layer", "replay", "--plot", str(path)]) == Exit.DONE
    assert not path.exists()
    assert "nothing to plot" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["laplace", "--all"],
        ["laplase"],
        ["laplace", "--samples", "1/2"],
        ["laplace", "--samples", "many"],
        ["laplace", "--samples", "5"],
        ["laplace", "--layer", "magic"],
        ["permute-and-flip", "--layer", "replay"],
    ],
)
def test_what_makes_no_sense_is_refused_with_the_fix(capsys, words):
    assert main(["audit", *words]) == Exit.USAGE
    assert "fix" in capsys.readouterr().err
