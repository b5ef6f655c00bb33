"""Limits: whatever is written is read or refused within a second and 200 MB, and nothing recurses too deep."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.plan.sql.parse import MOST_TEXT
from discreet.plan.sql.refusals import SqlRefused
from tests.plan.sql.tables import read

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def measured():
    words = [sys.executable, "-m", "tests.plan.sql.limits"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(ran.stdout)


def test_every_text_is_read_or_refused_within_a_second(measured):
    slow = {name: seconds for name, (_, seconds) in measured["texts"].items() if seconds > 1}
    assert slow == {}
    assert {ended for ended, _ in measured["texts"].values()} == {"read", "SqlRefused"}


def test_all_of_them_fit_200_megabytes(measured):
    assert measured["peak"] < 200


def test_what_people_write_is_within_the_limits(measured):
    read_ = {name for name, (ended, _) in measured["texts"].items() if ended == "read"}
    assert {"28 subqueries", "28 brackets", "a pattern of 40,000", "a long text"} <= read_


def test_the_first_character_too_many_is_refused():
    text = "SELECT COUNT(*) FROM visits"
    assert read(text + " " * (MOST_TEXT - len(text)))
    with pytest.raises(SqlRefused, match="at most 100,000 characters"):
        read(text + " " * (MOST_TEXT - len(text) + 1))


@pytest.mark.parametrize("text", ["", "   ", None, 3, b"SELECT 1"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(SqlRefused, match="there is no question"):
        read(text)


def test_a_parser_that_recurses_too_deep_is_refused_too(monkeypatch):
    limit = sys.getrecursionlimit()

    def deeper(depth):
        return (
            read("SELECT COUNT(*) FROM visits WHERE " + "(" * 25 + "age = 1" + ")" * 25)
            if not depth
            else deeper(depth - 1)
        )

    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    with pytest.raises(SqlRefused, match="nested too deeply"):
        deeper(limit - depth - 220)
