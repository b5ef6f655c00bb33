"""Every attack on odd tables: what it says is what its numbers say, on the page, in the record and in words."""

import json
import re
from functools import cache
from html import escape

import pytest

from discreet.lab.attacks import attacks
from discreet.lab.outcome import CONFIDENCE, VACUOUS, Verdict, percent
from discreet.lab.report import report
from discreet.lab.report_page import report_page
from discreet.lab.table_copy import TableCopy
from discreet.testing import seeded

_SEXES, _TOWNS = ["f", "m"], ["A", "B", "C", "D"]


def people(identifiers):
    many = len(identifiers)
    return {
        "id": identifiers,
        "age": [20 + 7 * at % 50 for at in range(many)],
        "sex": [_SEXES[at * at % 7 % 2] for at in range(many)],
        "town": [_TOWNS[at * 5 % 11 % 4] for at in range(many)],
        "pay": [900 + 37 * at % 1000 for at in range(many)],
    }


ODD = {
    "normal": people(list(range(200))),
    "two rows": people([1, 2]),
    "constant": {"id": list(range(200)), "age": [40] * 200, "sex": ["f"] * 200, "pay": [900] * 200},
    "all null": {"id": list(range(200)), "age": [None] * 200, "sex": [None] * 200, "pay": [float("nan")] * 200},
    "one group": {**people(list(range(200))), "sex": ["f"] * 200, "town": ["A"] * 200},
    "huge identifiers": people([2**63 + at for at in range(200)]),
    "one column": {"id": [1, 2, 3]},
    "one row": people([1]),
    "no rows": people([]),
}
# These look at nothing but the size of a table, and take a while: see the test of demonstrations.
SIZED = ("fingerprinting", "hardness", "traitor")
# Long attacks on the normal table and on those that are much like it are for the slow tests.
LONG = ("averaging", "census", "reconstruction")
LIKE = ("normal", "one group", "huge identifiers")


def cases(tables):
    """Every attack there is, on tables of which some are for the slow tests."""
    pairs = [(attack, table) for attack in attacks for table in tables if attack not in SIZED or table == "one row"]
    slow = [(attack, table) for attack, table in pairs if attack in LONG and table in LIKE]
    return [pytest.param(*pair, marks=pytest.mark.slow if pair in slow else ()) for pair in pairs]


@cache
def exposed(attack, table):
    with seeded(1):
        copied = TableCopy.read(ODD[table], name="odd", identifier="id")
        return report(copied, only=[attack])


@pytest.mark.parametrize(("attack", "table"), cases(ODD))
def test_what_every_attack_says_of_an_odd_table_is_what_its_numbers_say(attack, table):
    found = exposed(attack, table)
    (section,) = found.sections
    page = re.sub(r"\s+", " ", report_page(found))
    check(section.outcomes, attack, page)
    # An attack without outcomes is not silent: it says what it needs, and that this is no promise.
    assert bool(section.outcomes) != bool(section.skipped)
    assert not section.skipped or (section.skipped.startswith("it needs ") and "promises nothing" in section.skipped)
    assert escape(section.skipped) in page
    assert section.record()["skipped"] == section.skipped
    assert sum(found.record()["verdicts"].values()) + found.record()["demonstrations"] == len(section.outcomes)


def check(outcomes, attack, page):
    """Compare the words, the record and the page of outcomes with their numbers."""
    for outcome in outcomes:
        record = json.loads(json.dumps(outcome.record(), allow_nan=False))
        assert record["attack"] == attack
        assert 0 <= record["least"] <= record["success"] <= 1
        assert 0 <= record["chance"] <= (1 if record["ceiling"] is None else record["ceiling"]) <= 1
        bound = None if record["ceiling"] is None or record["ceiling"] >= VACUOUS else record["ceiling"]
        beyond = record["least"] > (record["chance"] if bound is None else bound)
        assert record["verdict"] == ("succeeds" if beyond else "not shown" if bound is None else "bounded")
        if record["trials"] is not None:
            assert record["confidence"] == CONFIDENCE
            assert record["success"] == (record["right"] / record["trials"] if record["trials"] else 0)
        assert record["sentence"].count(f"chance is {percent(record['chance'])}") == 1
        # No word of an attack's own beside the verdict that follows from its numbers.
        assert not re.search(r"broken|resist|nobody learns|tell little|the guarantee holds", outcome.told)
        assert not re.search(r"succeeds|not shown|bounded", outcome.told, re.IGNORECASE)
        assert escape(outcome.sentence) in page
        assert not outcome.demonstration or "(demonstration)" in page


@pytest.mark.parametrize(("attack", "table"), cases(["constant", "all null", "one row", "no rows"]))
def test_no_attack_succeeds_where_there_is_nothing_to_learn(attack, table):
    assert not [
        (outcome.target, outcome.sentence)
        for outcome in exposed(attack, table).outcomes
        if outcome.succeeds and not outcome.demonstration and attack != "unhash"  # identifiers are there to be read
    ]


@pytest.mark.parametrize("attack", list(attacks))
def test_an_attack_that_reads_the_size_of_a_table_alone_is_marked_as_a_demonstration(attack):
    with seeded(2):
        found = report(TableCopy.read({"a": [None] * 8, "b": [None] * 8}, name="odd"), only=[attack])
    assert all(outcome.demonstration for outcome in found.outcomes if outcome.succeeds)
    assert attack not in SIZED or (found.outcomes and all(outcome.demonstration for outcome in found.outcomes))
    check(found.outcomes, attack, re.sub(r"\s+", " ", report_page(found)))


@pytest.mark.slow
@pytest.mark.parametrize("attack", [name for name in attacks if name not in SIZED])
def test_huge_identifiers_are_attacked_as_small_ones_are(attack):
    small, huge = (exposed(attack, table) for table in ("normal", "huge identifiers"))
    assert huge.people == small.people == 200
    if attack != "unhash":  # texts of other lengths
        assert [each.verdict for each in huge.outcomes] == [each.verdict for each in small.outcomes]


def test_a_normal_table_shows_what_succeeds_and_what_is_bounded():
    assert {Verdict.SUCCEEDS, Verdict.BOUNDED} <= {each.verdict for each in exposed("differencing", "normal").outcomes}
