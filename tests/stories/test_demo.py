"""The first five minutes: the demonstration, and everything it says to try next, word for word."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


def run(*words, cwd):
    ran = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A newcomer's folder after the demonstration, and what it said to try next."""
    if not (BIN / "discreet").exists():
        pytest.skip("the command discreet is not installed beside this Python")
    folder = tmp_path_factory.mktemp("a newcomer")
    out = run(BIN / "discreet", "demo", "--json", cwd=folder)
    return folder, json.loads(out)["result"]


def test_every_line_it_says_to_try_works_as_it_stands(folder):
    place, result = folder
    shown = [run(*shlex.split(line), cwd=place) for line in result["next"]]
    explained, budget, played = shown
    assert "Protected: one person (zper)" in " ".join(explained.split())
    assert "rand" in budget
    assert "of epsilon=3" in " ".join(budget.split())
    assert "coinsurance" in played


def test_the_vault_is_in_order_when_all_is_done(folder):
    place, result = folder
    head = result["budget"]["entry"]["hash"]
    out = run(BIN / "discreet", "verify", "--vault", result["vault"], "--head", head, cwd=place)
    assert "The vault is in order." in out
    assert "the given head: on the chain" in out


def test_what_is_left_can_be_asked_for_and_no_more(folder):
    place, result = folder
    script = (
        "import discreet as dp\n"
        f"session = dp.connect({result['vault']!r}, open({result['token']!r}).read().strip())\n"
        "rand = session.table('rand')\n"
        "try:\n"
        "    rand.group_by('site').agg(n=dp.people()).release(epsilon=2)\n"
        "except dp.BudgetExceeded as refusal:\n"
        "    print(refusal.requested, refusal.remaining < 2, refusal.difference > 0)\n"
    )
    assert run(sys.executable, "-c", script, cwd=place) == "2 True True\n"
