"""discreet demo: four steps on a public table, a page with pictures, and a vault to play with."""

import json
import re
import stat
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import discreet as dp
from discreet.answers.answer import Cell
from discreet.cli.demonstration import steps
from discreet.cli.demonstration.bars import block, whisker
from discreet.cli.demonstration.words import attacked_words, audited_words
from discreet.cli.main import main
from discreet.lab.audits.finding import Finding


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A demonstration, run once: its folder and what it printed at eighty columns."""
    folder = tmp_path_factory.mktemp("shown") / "demo"
    ran = subprocess.run(
        [sys.executable, "-m", "discreet", "demo", "--out", folder.name],
        cwd=folder.parent,
        env={"COLUMNS": "80", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return folder, ran.stdout


@pytest.fixture(scope="module")
def again(shown):
    """A second run in the same folder, for a program."""
    ran = subprocess.run(
        [sys.executable, "-m", "discreet", "demo", "--out", str(shown[0]), "--json"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return json.loads(ran.stdout)["result"]


def test_it_asks_attacks_audits_and_shows_the_budget(shown):
    _, out = shown
    assert re.findall(r"^(\d \w+)  ", out, re.MULTILINE) == ["1 ASK", "2 ATTACK", "3 AUDIT", "4 BUDGET"]
    for words in ("report.preview(epsilon=1)", "excellent", "dollars a year", "rounded to 10", "epsilon 1 of 3 spent"):
        assert words in out


def test_it_fits_eighty_columns(shown):
    before_the_paths, *_ = shown[1].partition("Done in")
    assert max(map(len, before_the_paths.splitlines())) <= 80


def test_the_last_lines_say_what_to_try_next(shown):
    *_, explain, budget, play = shown[1].splitlines()
    assert explain.endswith("discreet explain demo/answer.json")
    assert budget.endswith("discreet budget --vault demo/vault.discreet")
    assert play.endswith("python demo/play.py")


def test_everything_lands_in_the_folder_and_the_token_is_for_its_owner_alone(shown):
    folder, _ = shown
    names = {path.name for path in folder.iterdir()}
    assert names >= {"vault.discreet", "token", "rand.parquet", "answer.json", "demo.html", "play.py"}
    for private in ("token", "vault.discreet"):
        assert stat.S_IMODE((folder / private).stat().st_mode) == 0o600


def test_a_second_run_uses_the_vault_again_and_pays_nothing(shown, again):
    assert (again["reused"], again["ask"]["replayed"]) == (True, True)
    assert (again["budget"]["spent"], again["budget"]["budget"], again["budget"]["yours"]) == ("1", "3", "1")
    for row in again["ask"]["answer"]:
        assert row["visits_low"] <= row["visits"] <= row["visits_high"]
        assert row["health"] in shown[1]


def test_the_attack_wins_against_exact_and_rounded_counts_alone(again):
    guessed = again["attack"]["guessed"]
    assert guessed["exact"] == 1
    assert min(guessed["rounded to 5"], guessed["rounded to 10"]) > 0.9
    # 200 fair coins stray further than this once in a million runs (Hoeffding).
    assert abs(guessed["Discreet"] - 0.5) < 0.1905
    assert again["attack"]["epsilon"] == 1


def test_the_audit_measures_most_of_what_is_promised_and_no_more(again):
    finding = again["audit"]
    assert finding["verdict"] != "violated"
    assert 0.8 < finding["lower"] <= finding["claimed"] == 1


def test_the_entry_is_the_one_that_paid_and_its_hash_is_on_the_chain(shown, again):
    entry = again["budget"]["entry"]
    with dp.Curator(shown[0] / "vault.discreet", create=False) as curator:
        assert curator.verify(entry["hash"]).entries == again["budget"]["verified"]["entries"]
    assert entry["kind"] == "charge"
    assert entry["hash"] in shown[1]


def test_the_page_is_one_file_of_sound_pictures_that_fetches_nothing(shown):
    page = (shown[0] / "demo.html").read_text(encoding="utf-8")
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 6
    for picture in pictures:
        drawn = ET.fromstring(picture)
        assert drawn.get("aria-label")
        assert len(drawn) > 2
    assert not re.search(r"https?:|src=|@import|url\(|<script", page)
    assert "prefers-color-scheme: dark" in page


def test_the_question_that_is_shown_is_the_one_that_is_asked(shown):
    folder, _ = shown
    with dp.connect(folder / "vault.discreet", (folder / "token").read_text().strip()) as session:
        names = {"dp": dp, "rand": session.table("rand")}
        exec(steps.QUESTION, names)
        assert names["report"].release(epsilon=steps.EPSILON).receipt["replayed"]


def test_an_interrupted_run_is_taken_up_again(tmp_path, capsys):
    (tmp_path / "demo").mkdir()
    dp.Curator(tmp_path / "demo" / "vault.discreet").close()
    assert main(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["ask"]["replayed"] is False


@pytest.mark.parametrize(
    ("name", "content"), [("token", b"nonsense"), ("token", b"\xff"), ("vault.discreet", b"no vault")]
)
def test_a_spoiled_folder_is_refused_with_a_way_out(tmp_path, capsys, name, content):
    (tmp_path / name).write_bytes(content)
    assert main(["demo", "--out", str(tmp_path)]) == 5
    assert "choose another folder with --out" in " ".join(capsys.readouterr().err.split())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, capsys):
    (tmp_path / "demo").write_text("")
    assert main(["demo", "--out", str(tmp_path / "demo")]) == 2
    assert main(["demo", "--out", str(tmp_path / "demo" / "below")]) == 5
    assert "--out" in capsys.readouterr().err


def test_a_refuted_promise_ends_with_a_refusal(shown, capsys, monkeypatch):
    refuted = Finding(lower=2.0, claimed=1.0, event="output > 3", verdict="violated", layer="black_box")
    monkeypatch.setattr(steps, "audit", lambda _: refuted)
    assert main(["demo", "--out", str(shown[0])]) == 5
    out, err = capsys.readouterr()
    assert "The claim is refuted" in out
    assert "output > 3" in err


def test_the_sentences_hold_whatever_was_drawn():
    attacked = steps.Attacked(200, 800, 1.0, (("exact", 200), ("Discreet", 140)), 0.731)
    assert "140" not in " ".join(attacked_words(attacked))
    fine = Finding(lower=0.0, claimed=1.0, event="", verdict="not shown", layer="black_box")
    assert "Nothing against the guarantee" in audited_words(fine)[1]
    assert "refuted" in audited_words(replace(fine, verdict="violated"))[1]


def test_bars_stay_within_their_width():
    assert str(block(0.5, 10, "")) == "█████░░░░░"
    assert str(block(1.0, 4, "", mark=0.5)) == "██│█"
    assert len(block(7.0, 10, "")) == len(block(-1.0, 10, "")) == 10
    assert str(whisker(Cell(5.0, 2.5, 7.5), 10, 9)) == "··├─●─┤··"
    assert str(whisker(Cell(0.0, 0.0, 0.0), 10, 5)) == "●····"
    assert len(whisker(Cell(50.0, -9.0, 99.0), 10, 9)) == 9
