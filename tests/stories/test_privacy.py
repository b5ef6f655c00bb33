"""Audits of the whole path: tables that differ by one unit are told apart no better than was paid for.

Every group of a table is one and the same small data set, so that one release is thousands of runs on it. The neighbour
has one more row, or one more person, in each group; a unit lies in one group only, so that every group by itself may
cost all of the price. False accusations have probability 1e-6 each.
"""

import pytest

import discreet as dp
from discreet.account.losses.approx import Approx
from discreet.account.losses.pure import Pure
from discreet.answers.functions import value_of
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from discreet.lab import audit
from discreet.testing import seeded
from tests.curator.questions import answered, opened

GROUPS, RUNS, EPSILON = 1000, 2000, 3
FEW = [3, 4, 6]
COLUMNS = {"group": between(0, GROUPS - 1), "x": between(0, 10), "kind": one_of("p", "q")}

# The neighbour's rows: one at the bound for rows; for people one who has many more rows than count.
UNITS = {
    "row": (row(), [(99, 10)]),
    "person": (person("id", max_rows=2), [(99, 10)] * 40),
}
AGGREGATES = {
    "count": dp.count(),
    "people": dp.people(),
    "sum": dp.sum("x"),
    "mean": dp.mean("x"),
    "variance": dp.variance("x"),
    "median": dp.median("x"),
    "histogram": dp.histogram("x", edges=[0, 5, 10]),
    "cdf": dp.cdf("x", [2, 5]),
    "top_k": dp.top_k("kind", 1),
}


def table(folder, unit, more):
    """A vault whose groups are all alike: a few rows of one person each, and `more`."""
    rows = [(place, x) for place, x in enumerate(FEW)] + more
    data = {
        "id": [1000 * group + who for group in range(GROUPS) for who, _ in rows],
        "group": [group for group in range(GROUPS) for _ in rows],
        "x": [x for _ in range(GROUPS) for _, x in rows],
        "kind": ["q" if x == 10 else "p" for _ in range(GROUPS) for _, x in rows],
    }
    return opened(folder, data, unit=unit, columns=COLUMNS).table("visits").group_by("group")


@pytest.fixture(scope="module", params=UNITS)
def neighbours(request, tmp_path_factory):
    """Two tables that differ by one unit in each group."""
    unit, more = UNITS[request.param]
    folder = tmp_path_factory.mktemp("neighbours")
    return [table(folder, unit, extra) for extra in ([], more)]


class Released:
    """What the vaults of two neighbours answer, many times over."""

    def __init__(self, neighbours, aggregate, **price):
        self.asked = [each.agg(value=aggregate).asked(**price) for each in neighbours]

    def releases(self, which, count):
        """Return the answers of so many groups: numbers, or tuples where a group has several."""
        answers = answered(self.asked[which], -(-count // GROUPS))
        found = [value_of(quantity) for answer in answers for quantity in answer.columns[0].quantities]
        each = len(found) // (GROUPS * len(answers))
        if each == 1:
            return found[:count]
        return [tuple(found[start : start + each]) for start in range(0, each * count, each)]


@pytest.mark.parametrize("word", AGGREGATES)
def test_one_unit_more_is_told_no_better_than_the_price_allows(neighbours, word):
    with seeded(11):
        released = Released(neighbours, AGGREGATES[word], epsilon=EPSILON)
        finding = audit(released, 0, 1, Pure(EPSILON), RUNS, layers=["black_box"])
    assert not finding.violated
    assert finding.lower <= EPSILON


@pytest.mark.parametrize("word", ["count", "people", "sum", "histogram"])
def test_the_audit_would_notice_a_noise_four_times_too_small(neighbours, word):
    with seeded(12):
        released = Released(neighbours, AGGREGATES[word], epsilon=4 * EPSILON)
        assert audit(released, 0, 1, Pure(EPSILON), RUNS, layers=["black_box"]).violated


@pytest.mark.parametrize("word", ["count", "sum", "mean"])
def test_gaussian_noise_keeps_the_promise_of_epsilon_and_delta(neighbours, word):
    with seeded(13):
        released = Released(neighbours, AGGREGATES[word], rho=0.5)
        finding = audit(released, 0, 1, released.asked[0].loss, RUNS, delta=1e-2, layers=["black_box"])
    assert not finding.violated


def test_a_bound_that_is_lowered_keeps_the_promise(tmp_path):
    unit, more = UNITS["person"]
    released = Released(
        [table(tmp_path, unit, extra) for extra in ([], more)], dp.sum("x"), epsilon=EPSILON, max_rows=1
    )
    with seeded(14):
        assert not audit(released, 0, 1, Pure(EPSILON), RUNS, layers=["black_box"]).violated


@pytest.mark.parametrize("people", [1, 4])
def test_whether_a_key_appears_tells_no_more_than_epsilon_and_delta(tmp_path, people):
    epsilon, delta = 1, 0.02

    class Appears:
        def releases(self, which, count):
            data = [(10 * key + who, f"key {key}") for key in range(GROUPS) for who in range(people - 1 + which)]
            data.append((-1, "a key of neither"))
            frame = {"id": [who for who, _ in data], "city": [city for _, city in data]}
            city = opened(tmp_path, frame, unit=person("id", max_rows=1), columns={"city": text()})
            report = city.table("visits").group_by("city").agg(n=dp.count()).weighted(keys=1, n=1)
            found = []
            for answer in answered(report.asked(epsilon=2 * epsilon, delta=2 * delta), -(-count // GROUPS)):
                kept = {row[0] for row in answer.rows}
                found += [int(f"key {key}" in kept) for key in range(GROUPS)]
            return found[:count]

    with seeded(15):
        # The other half of the price is for the counts, which are not looked at.
        claim = Approx(epsilon, delta)
        finding = audit(Appears(), 0, 1, claim, RUNS, delta=delta, layers=["black_box"])
    assert not finding.violated


def test_a_row_that_a_join_multiplies_is_covered_where_people_are_counted(tmp_path):
    data = {"group": range(GROUPS), "x": [1] * GROUPS, "kind": ["p"] * GROUPS, "id": range(GROUPS)}
    session = opened(tmp_path, data, unit=row(), columns=COLUMNS)
    wards = session.public("wards", {"kind": ["p", "p", "p"], "floor": [1, 2, 3]})
    joined = session.table("visits").join(wards, on="kind")
    for report in (joined.agg(n=dp.people()), joined.agg(n=dp.count()), joined.union(joined).agg(n=dp.people())):
        (measure,) = report.asked(epsilon=1).measures
        assert measure.statistic.noises[0][0].scale >= 3
