"""Functions: the folder is the list, and each is called by its words in SQL."""

from pathlib import Path

import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from discreet.plan.function import FUNCTIONS, function
from discreet.plan.sql import calls
from discreet.plan.sql.calls import words

ROOT = Path(__file__).parents[2]
COLUMNS = {"born": dp.date("1920-01-01", "2020-12-31"), "name": dp.text(), "age": dp.between(-5, 99)}


@pytest.fixture
def session(tmp_path):
    curator = dp.Curator(tmp_path / "vault")
    rows = {"born": ["1980-11-09"] * 3, "name": ["Ada"] * 3, "age": [40] * 3}
    curator.register("people", rows, unit=dp.row(), columns=COLUMNS, budget=dp.Budget(epsilon=1))
    yield curator.session(curator.grant("anna", "people"))
    curator.close()


def test_no_word_of_sql_calls_two_functions_and_each_is_on_the_page():
    listed = [word for name in FUNCTIONS for word in function(name).words]
    assert len(listed) == len(set(listed)) == len(words())
    page = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    assert [word for word in listed if f"{word}(" not in page and f"`{word}`" not in page] == []


@pytest.mark.parametrize("call", ["QUARTER(born)", "quarter(born)", "EXTRACT(QUARTER FROM born)"])
def test_a_function_is_called_by_its_words(session, call):
    text = f"SELECT SUM({call}) AS n FROM people"
    same = session.table("people").agg(n=dp.sum(Name("born").quarter()))
    assert session.preview_sql(text, epsilon=0.1).record() == same.preview(epsilon=0.1).record()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("QUARTER()", "something beside it is missing"),
        ("SEASON()", "SEASON takes 1 argument"),
        ("SEASON(born, 1)", "SEASON takes 1 argument"),
        ("SEASN(born)", "SEASON"),
    ],
)
def test_a_call_with_other_arguments_or_of_another_name_is_refused(session, monkeypatch, call, why):
    monkeypatch.setattr(calls, "words", lambda: {"SEASON": "quarter"})
    with pytest.raises(Refusal, match=why):
        session.preview_sql(f"SELECT SUM({call}) AS n FROM people", epsilon=0.1)


def test_a_word_that_the_parser_does_not_know_is_called_as_well(session, monkeypatch):
    monkeypatch.setattr(calls, "words", lambda: {"SEASON": "quarter"})
    found, same = (f"SELECT SUM({each}) AS n FROM people" for each in ("Season(born)", "QUARTER(born)"))
    assert session.preview_sql(found, epsilon=0.1).record() == session.preview_sql(same, epsilon=0.1).record()


def test_what_is_no_function_is_no_method():
    assert not hasattr(Name("age"), "quartr")
    assert not hasattr(Name("age"), "__array_interface__")
