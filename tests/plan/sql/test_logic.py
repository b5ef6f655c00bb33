"""Patterns: LIKE on declared keys, by every wildcard and escape, as DuckDB matches them."""

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.plan.expressions import Call, Compare, Name
from discreet.plan.from_sql import from_sql
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.sql.scope import Catalogue

KEYS = ("a", "ab", "A", "aXb", "a%b", "a_b", "", "Ä", "ä", "100%", "\\", "a\\b", "aa", "aab", "abab")


def condition(text, column=None):
    """The predicate that a condition becomes."""
    table = dp.Table("t", dp.row(), {"x": column or dp.one_of(*KEYS)})
    plan = from_sql(f"SELECT COUNT(*) FROM t WHERE {text}", Catalogue(["t"], lambda _: table, {}, {})).plan
    return plan.predicate


def matched(text):
    """The keys that a condition picks."""
    found = condition(text)
    if isinstance(found, Compare):
        assert found.order == "!="
        assert found.left.same_as(found.right)
        return []
    assert isinstance(found, Call)
    assert found.function == "is_in"
    return [each.value for each in found.of[1:]]


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        yield connection


@given(st.text(st.sampled_from("aAbX%_\\Ä"), max_size=5), st.sampled_from(["LIKE", "ILIKE"]))
def test_a_pattern_matches_the_keys_that_an_engine_matches(engine, pattern, word):
    if word == "ILIKE" and "Ä" in pattern:
        return  # engines fold more letters than A to Z
    wanted = [key for key in KEYS if engine.execute(f"SELECT ? {word} ?", [key, pattern]).fetchone()[0]]
    assert matched(f"x {word} '{pattern}'") == wanted


@given(st.text(st.sampled_from("ab%_!"), max_size=5))
def test_an_escape_takes_the_meaning_from_a_wildcard(engine, pattern):
    if re.sub("!.", "", pattern).endswith("!"):
        with pytest.raises(SqlRefused, match="nothing follows"):
            matched(f"x LIKE '{pattern}' ESCAPE '!'")
        return
    wanted = [key for key in KEYS if engine.execute("SELECT ? LIKE ? ESCAPE '!'", [key, pattern]).fetchone()[0]]
    assert matched(f"x LIKE '{pattern}' ESCAPE '!'") == wanted


def test_folding_is_of_ascii_letters_alone():
    assert matched("x ILIKE 'AB'") == ["ab"]
    assert matched("x ILIKE 'Ä'") == ["Ä"]


def test_text_without_keys_is_asked_for_beginnings_and_for_itself():
    assert condition("x LIKE 'ab%'", dp.text()).same_as(Name("x").starts_with("ab"))
    assert condition("x LIKE 'a!%' ESCAPE '!'", dp.text()).same_as(Name("x") == "a%")


@pytest.mark.parametrize("text", ["x LIKE 'a_'", "x ILIKE 'a%'", "x LIKE '%a!%b%' ESCAPE '!'", "x LIKE '%a%b%c%d%e%'"])
def test_other_patterns_need_keys(text):
    with pytest.raises(SqlRefused, match="without declared keys"):
        condition(text, dp.text())


@pytest.mark.parametrize(
    ("text", "why"), [("x LIKE x", "a pattern is a text"), ("x LIKE 'a' ESCAPE 'ab'", "one character")]
)
def test_what_is_no_pattern_is_refused(text, why):
    with pytest.raises(SqlRefused, match=why):
        condition(text)


def test_numbers_have_no_patterns():
    with pytest.raises(SqlRefused, match="patterns match texts"):
        condition("x LIKE '1%'", dp.between(0, 9))
