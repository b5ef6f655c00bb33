"""discreet explain: a saved answer as a table, and in words."""

import io
import json

import pytest

import discreet as dp
from discreet.cli.shared.exits import Exit


@pytest.fixture
def saved(vault, folder):
    """An answer about the table of the vault, saved as JSON."""
    with dp.Curator(vault) as curator:
        token = curator.grant("alice", "visits")
        visits = curator.session(token).table("visits")
        answer = visits.group_by("ward").agg(n=dp.count(), age=dp.mean("age")).release(epsilon=1)
    (folder / "answer.json").write_text(answer.to_json(), encoding="utf-8")
    return answer


def test_it_draws_the_table_and_says_what_it_means(saved, run):
    code, out, err = run("explain", "answer.json")
    assert (code, err) == (Exit.DONE, "")
    words = " ".join(out.split())
    for row in ("ward", "A", "B", "C"):
        assert row in words
    for paragraph in saved.explain().split("\n\n"):
        assert " ".join(paragraph.split())[:60] in words


def test_a_saved_answer_is_drawn(saved, run, result, folder):
    out = run("explain", "answer.json", "--plot", "answer.png")[1]
    assert out.splitlines()[-1] == "The plot is in answer.png."
    assert (folder / "answer.png").read_bytes().startswith(b"\x89PNG")
    assert result("explain", "answer.json", "--plot", "nowhere/a.png")["why"] == "there is no such folder"


def test_json_has_the_rows_and_the_paragraphs(saved, result):
    found = result("explain", "answer.json")
    assert found["rows"] == [dict(row) for row in saved]
    assert found["explanation"] == saved.explain().split("\n\n")
    assert found["receipt"]["sequence"] == saved.receipt["sequence"]
    assert [column["kind"] for column in found["columns"]] == ["count", "mean"]


def test_it_reads_standard_input(saved, run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(saved.to_json()))
    code, out, _ = run("explain", "-")
    assert code == Exit.DONE
    assert "Protected" in out


def test_an_interval_without_an_end_is_json_still(saved, folder, result):
    endless = saved["age"] / (saved["n"] - saved["n"])
    (folder / "endless.json").write_text(endless.to_json(), encoding="utf-8")
    found = result("explain", "endless.json")
    assert all(row["ward"] in "ABC" for row in found["rows"])
    json.dumps(found, allow_nan=False)


def test_nothing_is_charged(saved, vault, run):
    with dp.Curator(vault) as curator:
        before = curator.verify().head
    assert run("explain", "answer.json")[0] == Exit.DONE
    with dp.Curator(vault) as curator:
        assert curator.verify().head == before


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("missing.json", None, "no such file"),
        ("binary.json", b"\xff\xfe", "cannot be read as text"),
        ("text.json", b"hello", "not JSON"),
        ("other.json", b'{"discreet": 1, "column": {}}', "exactly the fields"),
        ("empty.json", b'{"discreet": 1, "answer": {}}', "exactly the fields"),
        ("newer.json", b'{"discreet": 99, "answer": {}}', "reads format"),
    ],
)
def test_what_is_no_answer_is_refused_without_quoting_it(folder, run, name, content, why):
    if content is not None:
        (folder / name).write_bytes(content)
    code, out, err = run("explain", name)
    assert (code, out) == (Exit.USAGE, "")
    assert why in " ".join(err.split())
    assert "to_json" in err
    assert "hello" not in err


def test_a_changed_answer_is_refused(saved, folder, run):
    record = json.loads(saved.to_json())
    record["answer"]["columns"][0] = 7
    (folder / "changed.json").write_text(json.dumps(record), encoding="utf-8")
    code, _, err = run("explain", "changed.json")
    assert code == Exit.USAGE
    assert "changed.json" in err


def test_a_file_that_nests_without_end_is_refused(folder, run):
    (folder / "deep.json").write_text("[" * 100_000)
    assert run("explain", "deep.json")[0] == Exit.USAGE
