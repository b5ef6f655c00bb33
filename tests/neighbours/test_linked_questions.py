"""Questions about random linked schemas: a person moves what reaches the mechanisms by no more than is claimed."""

from collections import Counter

import pytest

from tests.engines.subjects import ENGINES, Opened
from tests.neighbours.linked_questions import check

# What a slow engine is asked is few: that all of them have the same integers is tested elsewhere.
SEEDS = {"duckdb": 14, "postgres": 4}
LONG = 3000


@pytest.fixture(scope="module")
def opened():
    found = Opened()
    yield found
    found.close()


def asked(subject, first, many):
    seen = Counter()
    for seed in range(first, first + many):
        check(subject, seed, seen, repeated=seed % 5 == 4)
    return seen


@pytest.mark.parametrize("engine", ENGINES)
def test_a_person_moves_a_question_by_no_more_than_its_mechanisms_claim(opened, engine):
    if engine not in SEEDS:
        pytest.skip("it is asked by the long form")
    seen = asked(opened[engine], 0, SEEDS[engine])
    assert seen["answered"] > 0.8 * SEEDS[engine]
    assert seen["moved"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("engine", ENGINES)
def test_in_many_questions_a_person_moves_no_more_than_is_claimed(opened, engine):
    seen = asked(opened[engine], 10_000, LONG // opened[engine].one_in)
    assert seen["moved"] > 100
