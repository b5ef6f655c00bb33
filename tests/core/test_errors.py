"""Refusals: what, why, fix and value, in every class."""

import pickle

import pytest

from discreet.core.errors import BadParameter, MissingExtra, Refusal, UnknownName, show


@pytest.mark.parametrize(
    ("refusal", "kind", "value"),
    [
        (BadParameter("scale", -1, why="noise is wide", fix="use 1"), ValueError, -1),
        (UnknownName("command", "dmo", ["demo", "noise"]), KeyError, "dmo"),
        (MissingExtra("the plot", "plot", "matplotlib"), ImportError, "matplotlib"),
    ],
)
def test_every_refusal_has_what_why_fix_and_value(refusal, kind, value):
    assert isinstance(refusal, Refusal)
    assert isinstance(refusal, kind)
    assert refusal.value == value
    assert str(refusal) == f"{refusal.what}: {refusal.why}. Fix: {refusal.fix}.".replace("?.", "?")


def test_a_missing_extra_gives_the_pip_line():
    assert MissingExtra("the plot", "plot", "matplotlib").fix == "pip install 'discreet[plot]'"


def test_an_unknown_name_is_answered_with_the_nearest():
    assert UnknownName("column", "aeg", ["age", "ward"]).fix == "did you mean 'age'?"


def test_a_name_near_to_nothing_is_answered_with_all_there_are():
    assert UnknownName("column", "zzz", ["age", "ward"]).fix == "use one of age, ward"
    assert "no column" in UnknownName("column", "zzz", []).fix


def test_a_long_value_is_cut_short_in_the_text_and_whole_in_the_value():
    value = "x" * 1000
    refusal = BadParameter("name", value, why="too long", fix="shorten it")
    assert len(refusal.what) < 100
    assert refusal.value == value
    assert show("short") == "'short'"


def test_a_number_too_long_to_write_out_still_gets_its_refusal():
    refusal = BadParameter("scale", 10**5000, why="it is too large", fix="use less")
    assert "thousands of digits" in str(refusal)
    assert refusal.value == 10**5000


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("a question", why="it is too dear", fix="offer more", value=3),
        BadParameter("epsilon", -1, why="a price is positive", fix="use 1"),
        UnknownName("column", "coast", ["cost", "ward"]),
        MissingExtra("plots", "plot", "matplotlib"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_refusal_crosses_to_another_process_as_it_is(refusal):
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is type(refusal)
    assert (str(again), vars(again), again.args) == (str(refusal), vars(refusal), refusal.args)
