"""discreet fit: a model is previewed, paid, saved and replayed; what cannot be is refused before it is paid."""

import json

import pytest

from discreet import learn
from discreet.cli.shared.exits import Exit

PRICE = ("--epsilon", "1", "--delta", "1e-9")


@pytest.fixture
def token(vault, result, monkeypatch):
    found = result("grant", "alice", "visits")["token"]
    monkeypatch.setenv("DISCREET_TOKEN", found)
    return found


def test_a_model_is_paid_saved_and_replayed(token, run, folder):
    code, out, err = run("fit", "visits", "--target", "ward", *PRICE, "--out", "ward.json")
    assert (code, err) == (Exit.DONE, "")
    assert "paid" in out
    assert "ward" in learn.load(folder / "ward.json").target.name
    assert "replayed, free" in run("fit", "visits", "--target", "ward", *PRICE)[1]


def test_json_has_the_weights_and_the_receipt(token, result):
    found = result("fit", "visits", "--target", "age", "--model", "squared", "--scale", *PRICE)
    assert "ward=A" in found["coefficients"]
    assert not found["receipt"]["replayed"]
    assert json.dumps(found["words"])


def test_a_preview_is_free(token, run, result):
    before = result("budget")
    code, out, _ = run("fit", "visits", "--target", "ward", *PRICE, "--preview")
    assert code == Exit.DONE
    assert "would remain" in out
    assert result("fit", "visits", "--target", "ward", *PRICE, "--preview")["objective"] == "softmax"
    assert result("budget") == before


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--target", "wards"), "column"),
        (("--target", "age"), "target"),
        (("--target", "ward", "--model", "magic"), "model"),
        (("--target", "ward", "--column", "ages"), "column"),
        (("--target", "ward", "--bins", "0"), "bins"),
        (("--target", "ward", "--out", "nowhere/model.json"), "out"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_paid(token, result, words, what):
    before = result("budget")
    assert what in result("fit", "visits", *PRICE, *words)["what"]
    assert result("budget") == before


def test_a_budget_refuses(token, run):
    assert run("fit", "visits", "--target", "ward", "--epsilon", "100")[0] == Exit.BUDGET
