"""Refusals on the way from a file to an answer: what, why and the fix, as the page shows them."""

import re

import pytest

import discreet as dp
from tests.stories import refusals
from tests.stories.desks import remote


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("refusals").resolve()


@pytest.fixture(scope="module")
def names(place):
    return refusals.world(place)


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


EXAMPLES = [(step, line) for step, lines in refusals.STEPS.items() for line in lines]


@pytest.mark.parametrize(("step", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_every_refusal_says_what_why_and_the_fix_in_sentences_that_end_once(names, step, line):
    refusal = refusals.refused(line, names, step)
    assert refusal is not None
    assert all(part and part == part.strip() for part in (refusal.what, refusal.why, refusal.fix))
    text = str(refusal)
    assert "Fix: " in text
    assert not re.search(r"\.\.$|\?\.$|  | at 0x|Traceback|SELECT |duckdb|sqlite", text)


def test_the_page_shows_every_refusal_as_it_is(names, place):
    # After a change of words: python -c "from tests.stories import refusals; refusals.rewrite(folder)".
    assert refusals.shown() == refusals.written(place, names).strip()


# What an analyst meets once connected; the rest is the custodian's, at the vault itself.
REMOTE = [(step, line) for step, line in EXAMPLES if step in ("Asking", "Paying", "Reading the answer")]


@pytest.fixture(scope="module")
def served_names(names):
    curator = names["curator"]
    with remote(curator, names["token"], names["bobs"]) as (session, bob):
        visits = session.table("visits")
        yield {
            **names,
            "session": session,
            "visits": visits,
            "sales": session.table("sales"),
            "changed": session.table("changed"),
            "bob": bob.table("visits"),
            "wards": session.public("wards", {"ward": ["A", "B"], "floor": [1, 2]}),
            "answer": visits.group_by("ward").agg(n=dp.count()).release(epsilon=0.1),
        }


@pytest.mark.parametrize(("step", "line"), REMOTE, ids=[line for _, line in REMOTE])
def test_a_server_refuses_in_the_same_words(names, served_names, step, line):
    here, there = (refusals.refused(line, each, step) for each in (names, served_names))
    assert (type(there), str(there)) == (type(here), str(here))


def test_no_refusal_depends_on_a_record(tmp_path, monkeypatch):
    texts = []
    for number, more in enumerate(["", "9,A,1000,-3,Ghent,maybe\n9,Q,,,,\n"]):
        folder = tmp_path / f"world{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        texts.append(refusals.written(folder, refusals.world(folder, more)))
    assert texts[0] == texts[1]


def test_a_budget_that_refuses_gives_the_amounts_and_what_would_fit(names):
    refusal = refusals.refused("visits.count().release(epsilon=5)", names)
    assert isinstance(refusal, dp.BudgetExceeded)
    assert (float(refusal.requested), float(refusal.remaining), float(refusal.difference)) == (5, 2.9, 2.1)
    assert "2.9" in refusal.fits
    assert refusals.refused("visits.count().release(epsilon=2.9)", names) is None
