"""RAPPOR's associations: joint distributions of two answers, from reports of the same people."""

import numpy as np
import pytest

from discreet import local, noise
from discreet.core.errors import BadParameter
from discreet.local.protocols.rappor.associations import Answers, associate
from discreet.testing import seeded

FIRST, SECOND = ("ale", "bun", "cod"), ("x", "y")
# Rows: ale, bun, cod, and a string that is no candidate; columns: x, y, and another such string.
JOINT = np.array([[24, 6, 2], [5, 20, 3], [10, 10, 4], [6, 4, 6]]) / 100


def people(joint, n):
    """Return two answers of n people, drawn from a joint distribution of hundredths."""
    cells = np.repeat(np.arange(joint.size), np.rint(100 * joint.reshape(-1)).astype(int))
    drawn = cells[noise.uniform(len(cells), n)]
    return drawn // joint.shape[1], drawn % joint.shape[1]


def answered(n, joint=JOINT):
    one = local.rappor(8, 2, 16, 0.25, 0.2, 0.8, topic="first")
    two = local.rappor(6, 1, 8, 0.25, 0.2, 0.8, topic="second")
    rows, columns = people(joint, n)
    first = one.encode([(*FIRST, "dab")[at] for at in rows])
    second = two.encode([(*SECOND, "z")[at] for at in columns])
    counted = np.bincount(rows * joint.shape[1] + columns, minlength=joint.size).reshape(joint.shape) / n
    return Answers(one, first, FIRST), Answers(two, second, SECOND), counted


def test_a_joint_distribution_is_recovered_with_its_other_strings():
    with seeded(951):
        first, second, truth = answered(30_000)
    found = associate(first, second)
    assert found.share.sum() == pytest.approx(1)
    assert found.share.shape == (4, 3)
    assert found.reports == 30_000
    assert np.abs(found.share - truth).max() < 0.035
    inner = np.abs(found.share - truth)[:3, :2] / found.error[:3, :2]
    assert inner.max() < 6
    assert found.counts.sum() == pytest.approx(30_000)
    assert found.pairs()[0][:2] == ("ale", "x")


def test_independence_is_told_from_dependence():
    independent = np.outer([0.4, 0.3, 0.2, 0.1], [0.5, 0.4, 0.1])
    with seeded(952):
        apart, joined = answered(20_000, independent), answered(20_000)
    assert associate(apart[0], apart[1]).independence > 1e-6  # the false-alarm rate
    assert associate(joined[0], joined[1]).independence < 1e-12


def test_people_with_a_malformed_report_are_left_out():
    with seeded(953):
        first, second, _ = answered(500)
    data = np.array(first.reports.data)
    data[0] = 255  # a cohort that does not exist
    broken = Answers(first.protocol, type(first.reports)(data, 500, first.reports.spec_hash), FIRST)
    found = associate(broken, second)
    assert (found.reports, found.rejected) == (499, 1)


def test_reports_that_do_not_belong_together_are_refused():
    with seeded(954):
        first, second, _ = answered(50)
        shorter = Answers(first.protocol, first.protocol.encode(["ale"] * 49), FIRST)
    with pytest.raises(BadParameter, match="one person"):
        associate(shorter, second)
    with pytest.raises(BadParameter, match="another protocol"):
        associate(Answers(second.protocol, first.reports, FIRST), second)
    with pytest.raises(BadParameter, match="candidates"):
        associate(Answers(first.protocol, first.reports), second)
    with pytest.raises(BadParameter, match="cells"):
        associate(Answers(first.protocol, first.reports, [str(at) for at in range(600)]), second)


def test_nobody_has_no_association():
    one = local.rappor(8, 2, 16, candidates=FIRST)
    found = associate(Answers(one, one.encode([])), Answers(one, one.encode([])))
    assert found.reports == 0
    assert found.independence == 1
