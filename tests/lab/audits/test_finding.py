"""Findings: frozen values that can be shown, stored and drawn."""

import json
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.gaussian import Gaussian
from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter, MissingExtra
from discreet.lab import ClaimViolated, Finding, audit
from discreet.lab.audits.finding import worst
from discreet.lab.audits.plot import claim_words
from discreet.mechanisms.laplace import Laplace

FINDING = Finding(0.9, 1.0, "output > 0", "not shown", "black_box", samples=1000, point=(0.3, 0.3), claim=Pure(1))


def test_a_finding_is_frozen():
    with pytest.raises(FrozenInstanceError):
        FINDING.lower = 0.0


def test_the_most_telling_finding_is_a_violated_one_then_the_nearest_to_its_claim():
    weak, strong = replace(FINDING, lower=0.1), replace(FINDING, claimed=0.5, lower=0.6, verdict="violated")
    assert worst((weak, FINDING)) is FINDING
    assert worst((FINDING, strong, weak)) is strong
    assert strong.violated
    assert not weak.violated


def test_a_finding_reads_as_a_sentence():
    assert str(FINDING) == (
        "not shown (black box, 1,000 samples): epsilon 0.9 or more is spent at delta 0, where 1 is allowed: output > 0"
    )
    broken = replace(FINDING, lower=float("inf"), verdict="violated", layer="exact", samples=0, delta=1e-6, event="")
    assert repr(broken) == "violated (exact): epsilon infinity or more is spent at delta 1e-06, where 1 is allowed"


def test_a_record_is_plain_json_also_when_epsilon_is_infinite():
    record = replace(FINDING, lower=float("inf"), point=None).record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["lower"] == "infinity"


def test_a_violated_claim_is_refused_with_its_figures_and_a_fix():
    text = str(ClaimViolated("laplace", replace(FINDING, lower=2.5)))
    assert "epsilon 1 at delta 0" in text
    assert "2.5 or more: output > 0" in text
    assert "Fix: publish nothing with it" in text


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_curve_of_the_claim_and_the_point_are_drawn(tmp_path, ending):
    path = tmp_path / "new" / f"audit.{ending}"
    audit(Laplace(epsilon=1), 0, 1, samples=1000, layers=["black_box"]).plot(path)
    assert path.stat().st_size > 5000


def test_a_replay_has_no_rates_to_draw(tmp_path):
    with pytest.raises(BadParameter, match="no rates to draw"):
        audit(Laplace(epsilon=1), 0, 1, layers=["replay"]).plot(tmp_path / "audit.png")


def test_a_claim_is_written_over_its_plot_as_one_would_type_it():
    assert claim_words(DiscreteLaplace(Fraction(10), 1)) == "DiscreteLaplace(scale=10, sensitivity=1)"
    several = Pure(Fraction(1, 3)) * 3 + Gaussian(Fraction(11, 10)).sampled(Fraction(1, 100))
    assert claim_words(several) == "3 * Pure(epsilon=1/3) + Sampled(loss=Gaussian(sigma=1.1), rate=0.01)"


def test_without_matplotlib_the_plot_refuses_with_the_pip_line(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match="discreet\\[plot\\]"):
        FINDING.plot(tmp_path / "audit.png")
