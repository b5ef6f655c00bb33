"""Planted bugs die: each still applies to the source, each package has some, and each is noticed."""

from collections import Counter

import pytest

from tests.mutants.mutant import SOURCE, Rotten, SourceMutant, node
from tests.mutants.runner import ALIVE, BROKEN, CAUGHT
from tests.mutants.table import all_mutants, lines

MUTANTS = all_mutants()


def test_every_mutant_applies_to_the_source_and_every_package_has_at_least_two():
    for mutant in MUTANTS:
        mutant.check()
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"cli"}  # what it does is done below it
    counts = Counter(mutant.package for mutant in MUTANTS)
    assert all(counts[package] >= 2 for package in packages), counts


def test_a_mutant_that_no_longer_fits_is_refused():
    text = "a = 1\nb = 1\n"
    assert SourceMutant("x.py", "a = 1", "a = 2", "").mutated(text) == "a = 2\nb = 1\n"
    for old, new in (("= 1", "= 2"), ("c", "d"), ("a = 1", "a = "), ("a = 1", "a  = 1")):
        with pytest.raises(Rotten):
            SourceMutant("x.py", old, new, "").mutated(text)
    with pytest.raises(Rotten, match="name the tests"):
        SourceMutant("core/rational.py", "_LONG = 10**16", "_LONG = 10**17", "nothing is said to notice").check()


def test_a_mutant_and_its_tests_are_found_where_they_have_moved_to():
    moved = SourceMutant("core/gone.py", "_LONG = 10**16", "_LONG = 10**17", "", ("gone/test_gone.py::test_node",))
    assert moved.place == "core/rational.py"
    with pytest.raises(Rotten, match="nowhere"):
        moved.check()
    assert node("gone/test_rational.py") == "core/test_rational.py"
    (test,) = SourceMutant("", "", "", "", (f"gone.py::{test_a_mutant_that_no_longer_fits_is_refused.__name__}",)).nodes
    assert test == "mutants/test_mutants.py::test_a_mutant_that_no_longer_fits_is_refused"
    with pytest.raises(Rotten, match=r"in [0-9]+ other files"):
        assert SourceMutant("core/gone.py", "import", "", "").place


@pytest.mark.soak
def test_the_runner_tells_caught_from_alive_from_broken(runner):
    file, old = "core/rational.py", "from fractions import Fraction\n"
    test = ("core/test_rational.py",)
    assert runner.verdict(SourceMutant(file, old, old + "UNUSED = 1\n", "", test)).word == ALIVE
    assert runner.verdict(SourceMutant(file, old, old + "import no_such_module\n", "", test)).word == BROKEN
    rounded = SourceMutant(file, "return Fraction(float.__repr__(value))", "return Fraction(value)", "", test)
    assert runner.verdict(rounded).word == CAUGHT
    soaked = SourceMutant(file, old, old + "UNUSED = 1\n", "", ("mutants/test_mutants.py::test_a_soak_alone",))
    assert runner.verdict(soaked).word == ALIVE
    unknown = SourceMutant(file, old, old + "UNUSED = 1\n", "", ("core/__init__.py",))
    assert runner.verdict(unknown).word == BROKEN  # no test at all


@pytest.mark.soak
def test_a_soak_alone():
    assert MUTANTS


@pytest.mark.soak
def test_the_tests_of_the_table_pass_without_a_mutant(runner):
    tests = sorted({test for mutant in MUTANTS for test in mutant.nodes})
    word, seen = runner.tested(tests, longest=3600)
    assert word == ALIVE, seen


@pytest.mark.soak
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_caught(runner, mutant, record_property):
    verdict = runner.verdict(mutant)
    record_property("mutant", *lines([(mutant, verdict)]))
    assert verdict.fine, verdict.seen
