"""Tests of the report: every attack on any table, one page, and figures that programs can read."""

import json
import re

import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks import attacks
from discreet.lab.outcome import FORMAT, Verdict
from discreet.lab.report import report
from discreet.lab.report_page import report_page, save
from discreet.lab.table_copy import TableCopy
from discreet.testing import seeded


@pytest.fixture(scope="module")
def found():
    copied = TableCopy.read(rand.path(), identifier="zper", name="rand")
    with seeded(3):
        return report(copied, only=["differencing", "unhash"])


def test_every_outcome_is_on_the_page_with_its_words(found):
    page = report_page(found)
    assert page.count("<svg") >= 2
    assert not re.search(r"(src|href)=.http|url\(.?http|@import|<script", page)  # nothing is fetched
    for outcome in found.outcomes:
        assert outcome.sentence.split(",")[0].replace("'", "&#x27;") in page
    assert {each.verdict for each in found.outcomes} == set(Verdict)
    for meter in found.meters:
        assert meter.sentence in page


def test_what_an_attack_cannot_use_is_said_and_the_others_go_on(monkeypatch):
    def refuse(_copied, _say):
        raise BadParameter("table", "x", why="there is nothing in it", fix="bring another")

    monkeypatch.setattr("discreet.lab.attacks.unhash.expose", refuse)
    (section,) = report(TableCopy.read({"x": [1, 2]}), only=["unhash"]).sections
    assert "nothing in it" in section.skipped
    assert section.outcomes == ()


def test_a_report_is_saved_as_a_page_or_as_figures(found, tmp_path):
    save(found, tmp_path / "new" / "report.html")
    save(found, tmp_path / "report.json")
    record = json.loads((tmp_path / "report.json").read_text())
    assert sum(record["verdicts"].values()) + record["demonstrations"] == len(found.outcomes)
    assert record["format"] == FORMAT
    assert record["people"] == 5912
    with pytest.raises(BadParameter, match="ending"):
        save(found, tmp_path / "report.txt")


def test_an_unknown_attack_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="differencing"):
        report(TableCopy.read({"x": [1]}), only=["difference"])


@pytest.mark.soak
def test_all_attacks_on_the_shipped_table_succeed_and_are_bounded_as_they_should():
    found = report(TableCopy.read(rand.path(), identifier="zper", name="rand"))
    assert {section.attack for section in found.sections} == set(attacks)
    assert all(section.outcomes for section in found.sections)
    assert all(each.succeeds for each in found.outcomes if each.target == "exact")
    assert all(each.verdict is Verdict.BOUNDED for each in found.outcomes if each.target.endswith("in all"))
