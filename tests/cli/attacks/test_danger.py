"""discreet attack danger: the meter on the command line."""

import pytest

PLAN = ("attack", "danger", "--rows", "1000", "--questions", "4000")


@pytest.mark.parametrize(
    ("words", "verdict"),
    [(("--rounded", "5"), "succeeds"), (("--error", "3000"), "not shown"), (("--laplace", "1"), "bounded")],
)
def test_the_verdict_is_printed_and_in_the_record(run, result, words, verdict):
    code, out, _ = run(*PLAN, *words)
    assert code == 0
    assert verdict in out
    assert result(*PLAN, *words)["verdict"] == verdict


def test_the_record_has_the_share_and_the_epsilons(result):
    found = result(*PLAN, "--gaussian", "1/10")
    assert found["share"] == pytest.approx(0.5444, abs=1e-4)
    assert found["gaussian_epsilon"] == pytest.approx(found["promised"])
    assert "10%" not in found["sentence"]


def test_exact_answers_cost_an_infinite_epsilon(result):
    found = result(*PLAN, "--error", "0")
    assert found["laplace_epsilon"] == "infinity"
    assert found["share"] == 1


def test_the_picture_is_drawn(run, folder):
    code, out, _ = run(*PLAN, "--rounded", "10", "--plot", "danger.svg")
    assert code == 0
    assert "danger.svg" in out
    assert (folder / "danger.svg").exists()


@pytest.mark.parametrize("words", [(), ("--error", "1", "--rounded", "5"), ("--laplace", "none"), ("--rounded", "0")])
def test_what_makes_no_sense_is_refused(run, words):
    code, _, err = run(*PLAN, *words)
    assert code == 2
    assert "fix" in err
