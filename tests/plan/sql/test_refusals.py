"""Refusals of SQL: golden texts, on the page that people read; each underlines what it speaks of."""

import pytest

from discreet.core.errors import Refusal
from discreet.plan.sql.refusals import SqlRefused, excerpt
from tests.plan.sql.refusals import QUESTIONS, refusal, shown, written
from tests.plan.sql.tables import read

TEXTS = [text for texts in QUESTIONS.values() for text in texts]


def test_the_page_shows_every_refusal_as_it_is():
    # After a change that is meant: `python -c "from tests.plan.sql.refusals import rewrite; rewrite()"`.
    assert shown() == written()
    assert "NOT REFUSED" not in shown()


def test_there_are_thirty_of_them():
    assert len(set(TEXTS)) >= 30


@pytest.mark.parametrize("text", TEXTS)
def test_a_refusal_has_a_place_a_reason_and_a_rewrite(text):
    found = refusal(text)
    assert isinstance(found, Refusal)
    start, end = found.span
    assert 0 <= start < end <= len(text)
    assert (found.text, found.value) == (text, text[start:end])
    assert found.why
    assert found.fix
    line, marks = str(found).splitlines()[1:3]
    assert line[marks.index("^") : marks.rindex("^") + 1] == text[start:end]


def test_the_line_of_a_longer_text_is_shown():
    text = "SELECT ward,\n  COUNT(*) -- how many\nFROM\tvisits WHERE agee > 3\nGROUP BY ward"
    with pytest.raises(SqlRefused) as refused:
        read(text)
    assert str(refused.value).splitlines()[:3] == [
        "SQL, line 3, column 19",
        "    FROM visits WHERE agee > 3",
        "                      ^^^^",
    ]
    assert text[slice(*refused.value.span)] == "agee"


def test_a_long_line_is_cut_around_the_place():
    text = "SELECT COUNT(*) FROM visits WHERE " + "age > 1 AND " * 30 + "agee > 2" + " AND age > 3" * 30
    with pytest.raises(SqlRefused) as refused:
        read(text)
    _, line, marks = str(refused.value).splitlines()[:3]
    assert len(line) < 120
    assert line.startswith("    ...")
    assert line.endswith("...")
    assert line[marks.index("^") :].startswith("agee")


@pytest.mark.parametrize(
    ("text", "span", "marks"),
    [
        ("a 東京 b", (2, 4), "      ^^^^"),  # each fills two cells
        ("東京 b", (3, 4), "         ^"),
        ("e\u0301 b", (3, 4), "      ^"),  # an accent fills none
        ("ab", (2, 2), "      ^"),
        ("", (0, 0), "    ^"),
    ],
)
def test_marks_stand_below_what_they_mark(text, span, marks):
    assert excerpt(text, span).splitlines()[2] == marks


def test_control_characters_are_not_shown():
    shown = excerpt("SELECT \x1b[31m\u202e x", (7, 8))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
