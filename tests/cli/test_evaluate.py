"""discreet evaluate: text, JSON and a page."""

from discreet.cli.shared.exits import Exit


def test_it_is_printed_or_written_as_a_page(vault, result, run, tmp_path):
    found = result("evaluate")
    assert "Units and relations" in [section["title"] for section in found["sections"]]
    code, out, _ = run("evaluate")
    assert code == Exit.DONE
    assert "BUDGETS AND FILTERS" in out
    place = tmp_path / "review.html"
    assert result("evaluate", "--html", str(place))["html"] == str(place)
    assert place.read_text().startswith("<!doctype html>")
