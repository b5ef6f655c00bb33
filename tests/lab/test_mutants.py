"""Mutants: every planted bug is found by the layers that should see it; without the bug, nothing is accused."""

import pytest

from discreet.lab import audit, examine
from discreet.testing import seeded
from tests.lab.mutants import MUTANTS

# Each audit accuses an honest mechanism with probability at most 1e-6; seeds make a run repeat itself.
BUGS = [pytest.param(mutant, id=mutant.bug.replace(" ", "-")) for mutant in MUTANTS]


def test_there_are_at_least_twenty_four_mutants_and_no_two_share_a_bug():
    assert len({mutant.bug for mutant in MUTANTS}) == len(MUTANTS) >= 24


@pytest.mark.parametrize("mutant", BUGS)
def test_every_mutant_is_flagged(mutant):
    with seeded(1):
        findings = examine(mutant.broken, mutant.d0, mutant.d1, mutant.claim, mutant.samples)
    flagged = {finding.layer for finding in findings if finding.violated}
    assert flagged >= set(mutant.caught), findings


@pytest.mark.parametrize("mutant", BUGS)
def test_the_same_mechanism_without_the_bug_is_not_accused(mutant):
    with seeded(2):
        finding = audit(mutant.mended, mutant.d0, mutant.d1, mutant.claim, min(mutant.samples, 100_000))
    assert not finding.violated, finding
