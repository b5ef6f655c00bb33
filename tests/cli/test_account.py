"""discreet account: expressions, tables, conversions, calibration and plots, as a user types them."""

import json
import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Pure,
    RandomizedResponse,
    Renyi,
    Zcdp,
)
from discreet.account.budgets.compose import advanced, optimal, strong
from discreet.cli.main import main
from discreet.cli.shared.accounting_methods import METHODS
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.loss_expression import EVENTS, BadExpression, parse

TENTH = Fraction(1, 10)


def run(capsys, *words):
    code = main(["account", *words, "--json"])
    envelope = json.loads(capsys.readouterr().out)
    return code, envelope.get("result") or envelope["error"]


def methods(capsys, *words):
    code, result = run(capsys, "compose", *words)
    assert code == Exit.DONE
    return {name: row["epsilon"] for name, row in result["methods"].items()}


# Expressions.


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("laplace:10", Laplace(10)),
        ("laplace:scale=10", Laplace(10)),
        ("laplace:epsilon=0.1", Laplace(10)),
        ("LAPLACE:1/3", Laplace(Fraction(1, 3))),
        ("gaussian:1.1", Gaussian(Fraction(11, 10))),
        ("discrete-laplace:10,3", DiscreteLaplace(10, 3)),
        ("discrete_laplace:epsilon=0.1,sensitivity=3", DiscreteLaplace(30, 3)),
        ("discrete_gaussian:sigma=2,sensitivity=2", DiscreteGaussian(2, 2)),
        ("randomized_response:1e-1", RandomizedResponse(TENTH)),
        ("exponential:.5", Exponential(Fraction(1, 2))),
        ("pure:1", Pure(1)),
        ("approx:0.1,1e-9", Approx(TENTH, Fraction(1, 10**9))),
        ("zcdp:0.1", Zcdp(TENTH)),
        ("renyi:2=0.1,8=0.5", Renyi({2: TENTH, 8: Fraction(1, 2)})),
        ("gaussian_dp:1", GaussianDP(1)),
        ("laplace:10*1000", Laplace(10) * 1000),
        ("laplace:10x1000", Laplace(10) * 1000),
        ("gaussian:1.1@0.01*10000", Gaussian(Fraction(11, 10)).sampled(Fraction(1, 100)) * 10000),
        ("laplace:10^3", Laplace(10).group(3)),
        ("laplace:10 gaussian:2", Laplace(10) + Gaussian(2)),
        ("laplace:10 + gaussian:2", Laplace(10) + Gaussian(2)),
        ("(laplace:10 gaussian:2)*5", (Laplace(10) + Gaussian(2)) * 5),
        ("((pure:1))", Pure(1)),
    ],
)
def test_an_expression_stands_for_the_loss_it_names(text, loss):
    assert parse(text) == loss


def test_sampling_without_replacement_is_said_with_of():
    loss = parse("gaussian:2@50of1000", relation="replace")
    assert loss == Gaussian(2, relation="replace").sampled(50, of=1000)


def test_the_relation_reaches_every_part():
    assert parse("pure:1 laplace:2", relation="replace").relation == "replace"


@pytest.mark.parametrize(
    ("text", "pointed_at", "message"),
    [
        ("lapace:10*2", "lapace", "did you mean 'laplace'"),
        ("laplace:10 gausian:2", "gausian", "did you mean 'gaussian'"),
        ("laplace", "laplace", "needs its scale"),
        ("laplace:-1", "-", "means nothing here"),
        ("laplace:", None, "a number was expected"),
        ("laplace:0", "laplace:0", "scale=0"),
        ("laplace:width=2", "width", "no parameter of that name"),
        ("laplace:1,2", "2", "takes scale and no more"),
        ("laplace:10*2.5", "2.5", "an integer"),
        ("laplace:10*0", "*0", "0"),
        ("pure:1@1.5", "@1.5", "between 0 and 1"),
        ("(laplace:10", None, "a bracket is still open"),
        ("laplace:10)", ")", "does not belong"),
        ("laplace:10 5", "5", "does not belong"),
        ("10", "10", "an event was expected"),
        ("", None, "an event was expected"),
        ("renyi:2", None, "epsilon of this order is missing"),
        ("pure:1 %", "%", "means nothing"),
    ],
)
def test_an_expression_that_cannot_be_read_is_refused_with_its_span(text, pointed_at, message):
    with pytest.raises(BadExpression) as refusal:
        parse(text)
    assert message in f"{refusal.value.why} {refusal.value.fix}"
    start, end = refusal.value.span
    if pointed_at is None:
        assert start == len(text)
    else:
        assert text[start:end] == pointed_at
    shown, marks = refusal.value.what.split("\n")
    assert marks.index("^") == len("expression  ") + start + len("refused  ")
    assert shown.endswith(text)


@given(st.text(alphabet="laplcegusin:10.*@^x()+,= /of-", max_size=25))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_the_reader_stumble(text):
    try:
        parse(text)
    except BadExpression as refusal:
        start, end, fix = *refusal.span, refusal.fix
    else:
        start, end, fix = 0, len(text), "none is needed"
    assert 0 <= start <= end <= len(text) + 1
    assert fix


def test_every_event_can_be_written():
    assert len(EVENTS) == 11


# Compose.


def test_compose_shows_every_method_side_by_side(capsys):
    found = methods(capsys, "pure:0.1*100", "--delta", "1e-6")
    assert list(found) == list(METHODS)
    assert found["basic"] == 10
    assert found["strong"] == strong(100, TENTH, slack=Fraction(1, 10**6)).epsilon
    assert found["advanced"] == advanced(100, TENTH, slack=Fraction(1, 10**6)).epsilon
    assert found["optimal"] == optimal(100, TENTH, slack=Fraction(1, 10**6)).epsilon
    assert found["optimal"] <= found["tight"] <= found["optimal"] * 1.0001
    assert found["tight"] <= found["renyi"] <= found["zcdp"] < found["advanced"]


def test_the_exponential_mechanism_is_cheaper_than_any_pure_one(capsys):
    pure, bounded = methods(capsys, "pure:0.1*500"), methods(capsys, "exponential:0.1*500")
    assert bounded["zcdp"] < pure["zcdp"] / 1.5
    assert bounded["tight"] < pure["tight"]


def test_what_does_not_apply_says_why(capsys):
    _, result = run(capsys, "compose", "gaussian:2*10", "pure:0.1")
    rows = result["methods"]
    assert rows["basic"]["epsilon"] is None
    assert "Gaussian" in rows["basic"]["note"]
    assert rows["optimal"]["epsilon"] is None
    assert rows["tight"]["epsilon"] > 0


def test_unlike_pure_losses_have_a_sum_but_no_homogeneous_theorem(capsys):
    _, result = run(capsys, "compose", "pure:0.1", "pure:0.2")
    rows = result["methods"]
    assert rows["basic"]["epsilon"] == pytest.approx(0.3, rel=1e-15)
    assert rows["advanced"]["epsilon"] is None
    assert "equal epsilon" in rows["advanced"]["note"]


def test_deltas_of_the_parts_come_out_of_the_delta_asked_for(capsys):
    found = methods(capsys, "approx:0.1,1e-9*100", "--delta", "1e-6")
    slack = Fraction(1, 10**6) - 100 * Fraction(1, 10**9)
    assert found["basic"] == 10
    assert found["advanced"] == advanced(100, TENTH, Fraction(1, 10**9), slack=slack).epsilon
    assert found["optimal"] <= found["advanced"]
    _, result = run(capsys, "compose", "approx:0.1,1e-9*100", "--delta", "1e-8")
    assert all(row["epsilon"] is None for row in result["methods"].values())


def test_a_person_reads_a_table(capsys):
    assert main(["account", "compose", "laplace:10*1000"]) == Exit.DONE
    shown = capsys.readouterr().out
    assert "laplace:10*1000 at delta 1e-06" in shown
    assert "not applicable" not in shown
    assert "18.950" in shown


def test_a_bad_event_is_pointed_at(capsys):
    assert main(["account", "compose", "lapace:10"]) == Exit.USAGE
    shown = capsys.readouterr().err
    lines = shown.splitlines()
    assert "did you mean 'laplace'" in shown
    assert lines[1].index("^^^^^^") == lines[0].index("lapace")


@pytest.mark.parametrize("delta", ["-1", "1", "2", "nan", "x"])
def test_a_delta_that_makes_no_sense_is_refused(capsys, delta):
    code, error = run(capsys, "compose", "pure:1", "--delta", delta)
    assert code == Exit.USAGE
    assert error["fix"]


def test_sampling_under_the_wrong_relation_is_refused(capsys):
    code, error = run(capsys, "compose", "gaussian:1@0.1", "--relation", "replace")
    assert code in (Exit.USAGE, Exit.REFUSED)
    assert "replace" in error["why"] + error["fix"] + error["what"]


# Convert.


def test_the_census_figure_is_the_naive_one(capsys):
    code, result = run(capsys, "convert", "--rho", "2.63", "--delta", "1e-5")
    assert code == Exit.DONE
    figures = {name: round(row["epsilon"], 2) for name, row in result["converted"].items()}
    assert figures == {"naive": 13.64, "tight": 12.69, "gaussian": 11.85}
    assert main(["account", "convert", "--rho", "2.63", "--delta", "1e-5"]) == Exit.DONE
    shown = capsys.readouterr().out
    assert all(figure in shown for figure in ("13.64", "12.69", "11.85", "Census"))


def test_rho_and_epsilon_give_delta_back(capsys):
    _, there = run(capsys, "convert", "--rho", "0.1", "--delta", "1e-5")
    for name, row in there["converted"].items():
        _, back = run(capsys, "convert", "--rho", "0.1", "--epsilon", repr(row["epsilon"]))
        assert back["converted"][name]["delta"] == pytest.approx(1e-5, rel=1e-6)


def test_epsilon_and_delta_give_what_suffices(capsys):
    _, result = run(capsys, "convert", "--epsilon", "1", "--delta", "1e-5")
    found = {name: row["value"] for name, row in result["converted"].items()}
    assert found["sigma"] == pytest.approx(3.7306, rel=1e-4)
    assert found["mu"] == pytest.approx(1 / found["sigma"], rel=1e-9)
    assert Zcdp(found["rho"]).epsilon(delta=1e-5) == pytest.approx(1, rel=1e-5)


def test_pure_epsilon_gives_rho(capsys):
    _, result = run(capsys, "convert", "--epsilon", "1")
    found = {name: row["rho"] for name, row in result["converted"].items()}
    assert found["naive"] == 0.5
    assert found["tight"] == pytest.approx(math.tanh(0.5), rel=0.2)
    assert found["tight"] <= found["naive"]
    assert found["bounded range"] == pytest.approx(0.125)


def test_mu_gives_epsilon(capsys):
    _, result = run(capsys, "convert", "--mu", "1", "--delta", "1e-6")
    assert result["converted"]["gaussian"]["epsilon"] == pytest.approx(4.88655, rel=1e-5)


@pytest.mark.parametrize("words", [(), ("--delta", "1e-5"), ("--rho", "1"), ("--rho", "1", "--mu", "1")])
def test_what_cannot_be_converted_is_refused_with_what_can(capsys, words):
    code, error = run(capsys, "convert", *words)
    assert code == Exit.USAGE
    assert "--rho and --delta" in error["fix"]


@pytest.mark.parametrize(
    "words", [("--rho", "-1", "--delta", "1e-5"), ("--rho", "1", "--delta", "0"), ("--rho", "1", "--epsilon", "-1")]
)
def test_a_figure_out_of_range_is_refused(capsys, words):
    assert run(capsys, "convert", *words)[0] == Exit.USAGE


# Calibrate.


def test_calibrated_noise_reaches_its_epsilon_from_below(capsys):
    _, gaussian = run(capsys, "calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-5")
    assert Gaussian(gaussian["sigma"]).epsilon(delta=1e-5) <= 1
    assert gaussian["sigma"] == pytest.approx(3.7306, rel=1e-4)
    _, laplace = run(capsys, "calibrate", "laplace", "--epsilon", "0.1")
    assert laplace["scale"] == 10
    words = ("noise-multiplier", "--epsilon", "2", "--delta", "1e-6", "--rate", "0.01", "--steps", "100")
    _, sampled = run(capsys, "calibrate", *words)
    found = (Gaussian(sampled["sigma"]).sampled(Fraction(1, 100)) * 100).epsilon(delta=1e-6)
    assert found == pytest.approx(2, rel=1e-4)


def test_calibration_is_told_to_a_person_in_a_line(capsys):
    assert main(["account", "calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-5"]) == Exit.DONE
    assert "sigma 3.73" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("gaussian", "--epsilon", "1"),
        ("laplace", "--epsilon", "1", "--delta", "1e-6"),
        ("noise-multiplier", "--epsilon", "1", "--delta", "1e-6", "--rate", "0.1"),
        ("gaussian", "--epsilon", "0", "--delta", "1e-6"),
    ],
)
def test_calibration_says_what_it_needs(capsys, words):
    code, error = run(capsys, "calibrate", *words)
    assert code == Exit.USAGE
    assert error["fix"]


# Plot.


def test_epsilon_is_plotted_against_k(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "deep" / "account.png"
    _, result = run(capsys, "plot", "pure:0.1", "--most", "50", "--out", str(out))
    assert out.read_bytes().startswith(b"\x89PNG")
    tight = result["curves"]["tight"]
    assert tight["k"][0] == 1
    assert tight["k"][-1] == 50
    assert tight["epsilon"] == sorted(tight["epsilon"])
    assert all(a <= b for a, b in zip(tight["epsilon"], result["curves"]["basic"]["epsilon"], strict=True))


def test_the_trade_off_curve_is_plotted(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "tradeoff.svg"
    _, result = run(capsys, "plot", "gaussian:1", "--tradeoff", "--out", str(out))
    assert "<svg" in out.read_text(encoding="utf-8")
    curve = result["curves"]["tradeoff"]
    assert curve["false_negative_rate"][0] == pytest.approx(1)
    assert curve["false_negative_rate"][-1] == pytest.approx(0, abs=1e-12)
    half = curve["false_negative_rate"][curve["false_positive_rate"].index(0.5)]
    assert half == pytest.approx(0.158655, abs=1e-5)


def test_a_missing_plot_package_is_named_with_the_pip_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, error = run(capsys, "plot", "pure:0.1", "--most", "3", "--out", str(tmp_path / "no.png"))
    assert code == Exit.EXTRA
    assert "pip install" in error["fix"]
