"""Reports: rows, JSON and the tables written into the page."""

import json

from bench.harness.bar import at_most, faster
from bench.harness.case import Task
from bench.harness.report import SCHEMA, markdown, rows, table, to_json, write_markdown
from bench.harness.result import AreaResult, Outcome, Samples
from rich.console import Console

from tests.bench.helpers import outcome, reported

TASK = Task("series")
BARRED = reported("draws", ours=TASK, peers={"a": TASK, "b": TASK}, bars=(faster("a", 10), faster("b", 3)))


def result(*outcomes: Outcome, **settings) -> AreaResult:
    return AreaResult("fake", outcomes, **settings)


def test_each_peer_has_a_row_with_its_ratio_its_bar_and_a_verdict():
    first, second = rows(result(outcome(BARRED, discreet=1e-9, a=2e-8, b=2e-9)))
    assert first.cells() == ("draws", "1.00 ns", "a", "20.0 ns", "20.0x", ">= 10.0x", "pass")
    assert second.cells() == ("", "", "b", "2.00 ns", "2.00x", ">= 3.00x", "MISS")


def test_a_case_without_peers_has_one_row():
    case = reported("memory", ours=TASK, unit="B", bars=(at_most(64e6),))
    (row,) = rows(result(outcome(case, discreet=48e6)))
    assert row.cells() == ("memory", "48.0 MB", "", "", "", "<= 64.0 MB", "pass")


def test_a_bar_of_its_own_stands_before_the_peers():
    case = reported("both", ours=TASK, peers={"a": TASK}, bars=(at_most(1.0), faster("a", 2)))
    alone, against = rows(result(outcome(case, discreet=2.0, a=8.0)))
    assert (alone.case, alone.bar, alone.verdict) == ("both", "<= 1.00 s", "MISS")
    assert (against.case, against.compared, against.verdict) == ("", "4.00x", "pass")


def test_a_row_without_a_bar_informs():
    case = reported("start", ours=TASK, peers={"a": TASK}, compared="difference")
    (row,) = rows(result(outcome(case, discreet=0.025, a=0.02)))
    assert (row.compared, row.bar, row.verdict) == ("+5.00 ms", "", "")


def test_absence_and_failure_are_verdicts():
    samples = {"discreet": Samples((1.0,)), "a": Samples((), failure="gone"), "b": Samples((), failure="ValueError")}
    first, second = rows(result(Outcome(BARRED, samples), absent={"a": "gone"}))
    assert (first.theirs, first.compared, first.verdict) == ("-", "", "absent")
    assert (second.theirs, second.compared, second.verdict) == ("-", "", "failed")


def test_the_spread_is_shown_as_a_share_of_the_median():
    case = reported("draws", ours=TASK)
    (row,) = rows(result(Outcome(case, {"discreet": Samples((0.9, 1.0, 1.1, 1.2, 0.8))})))
    assert row.ours == "1.00 s ±10%"


def test_a_miss_is_told_with_what_was_measured():
    misses = result(outcome(BARRED, discreet=1.0, a=8.0, b=3.0)).misses
    assert misses == ["fake: draws: 8.00x vs a (bar >= 10.0x)"]


def test_the_table_holds_every_row_and_the_versions():
    console = Console(width=140)
    with console.capture() as captured:
        console.print(table(result(outcome(BARRED, discreet=1.0, a=20.0, b=1.0), versions={"a": "a 1.0"})))
    text = captured.get()
    assert "20.0x" in text
    assert "MISS" in text
    assert "a: a 1.0" in text


def test_json_is_versioned_and_holds_every_sample_and_verdict():
    samples = {"discreet": Samples((2.0, 1.0, 3.0), items=5), "a": Samples((4.0,), items=7)}
    case = reported("draws", ours=TASK, peers={"a": TASK}, bars=(faster("a", 3),))
    document = json.loads(json.dumps(to_json([result(Outcome(case, samples), versions={"a": "a 1.0"})])))
    assert document["schema"] == SCHEMA == "discreet-bench/1"
    assert set(document) == {"schema", "machine", "areas", "misses"}
    assert set(document["machine"]) == {"python", "cpus", "platform"}
    (area,) = document["areas"]
    assert set(area) == {"name", "versions", "absent", "cases"}
    (found,) = area["cases"]
    assert found["participants"]["discreet"] == {
        "items": 5,
        "per_item": 2.0,
        "quartiles": [1.5, 2.5],
        "samples": [2.0, 1.0, 3.0],
        "failure": None,
    }
    assert found["ratios"] == {"a": 2.0}
    assert found["bars"] == [{"text": ">= 3.00x", "peer": "a", "measured": 2.0, "cleared": False}]
    assert document["misses"] == ["fake: draws: 2.00x vs a (bar >= 3.00x)"]


def test_markdown_replaces_only_what_stands_between_the_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench:fake -->\nold\n<!-- /bench:fake -->\nafter\n", encoding="utf-8")
    measured = result(outcome(BARRED, discreet=1.0, a=20.0, b=3.0))
    write_markdown(measured, page)
    text = page.read_text(encoding="utf-8")
    assert text == f"before\n<!-- bench:fake -->\n{markdown(measured)}<!-- /bench:fake -->\nafter\n"
    write_markdown(measured, page)
    assert page.read_text(encoding="utf-8") == text


def test_markdown_adds_markers_for_a_new_area(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Benchmarks\n", encoding="utf-8")
    write_markdown(result(outcome(BARRED, discreet=1.0, a=20.0, b=3.0)), page)
    assert "### fake\n\n<!-- bench:fake -->\n| case |" in page.read_text(encoding="utf-8")
