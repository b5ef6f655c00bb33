"""Tests of `discreet attack all`."""

import json

from discreet.cli.main import main


def test_one_page_is_written_and_the_table_says_what_falls(tmp_path, capsys):
    out = tmp_path / "attacks.html"
    assert main(["attack", "all", "--only", "differencing", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "differencing" in printed
    for word in ("succeeds", "bounded", "not shown", "attacks that read the table", "at least"):
        assert word in printed
    assert out.read_text().startswith("<!doctype html>")


def test_programs_get_the_figures(tmp_path, capsys):
    table = tmp_path / "people.csv"
    table.write_text("id,town,ill\n" + "".join(f"{n},{'AB'[n % 2]},{n % 3 == 0}\n" for n in range(40)))
    words = ["attack", "all", "--table", str(table), "--identifier", "id", "--only", "unhash", "--json"]
    assert main([*words, "--out", str(tmp_path / "found.json")]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["rows"] == 40
    assert [section["attack"] for section in result["attacks"]] == ["unhash"]
    assert json.loads((tmp_path / "found.json").read_text())["table"] == "people"


def test_what_cannot_be_written_or_read_is_refused_before_anything_runs(tmp_path, capsys):
    assert main(["attack", "all", "--out", str(tmp_path / "page.pdf")]) != 0
    assert main(["attack", "all", "--table", str(tmp_path / "absent.csv")]) != 0
    assert main(["attack", "all", "--only", "nothing"]) != 0
    assert capsys.readouterr().err.count("refused") == 3
