"""Per person: the bounds that follow, the unit that is left, records, and what is refused."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.plan.expressions import Name
from discreet.plan.keys import keys_of
from discreet.plan.nodes import (
    Derive,
    Filter,
    Join,
    PerPerson,
    Project,
    Scan,
    Union,
    columns_of,
    public,
    scans,
    tables_of,
)
from discreet.plan.per_person import OwnValue
from discreet.plan.person_plans import people_plan
from discreet.plan.refusals import IllTyped, TooWide
from discreet.plan.serial import canonical_text, plan_from_record, plan_record
from discreet.plan.stability import (
    UnboundedSensitivity,
    expansion,
    groups_of_one,
    has_one_each,
    reach,
    stability,
    unit_of,
)

COLUMNS = {
    "cost": dp.between(0, 100, step=0.5),
    "debt": dp.between(-30, -10),
    "age": dp.between(18, 110, nullable=False),
    "day": dp.date("2024-01-01", "2024-12-31"),
    "ill": dp.flag(),
    "huge": dp.between(0, 10**25),
}
PEOPLE = dp.person("id", max_rows=20, max_groups=3)


def tables(unit=PEOPLE):
    return {"t": dp.Table("t", unit, COLUMNS)}


def people(unit=PEOPLE, **asked):
    return people_plan(Scan("t"), asked.items(), tables(unit))


def column(aggregate, unit=PEOPLE):
    return columns_of(people(unit, value=aggregate), tables(unit))["value"]


@pytest.mark.parametrize(
    ("aggregate", "bounds", "step"),
    [
        (dp.count(), (0, 20), 1),
        (dp.count("day"), (0, 20), 1),
        (dp.sum("cost"), (0, 2000), Fraction(1, 2)),
        # Whoever has a value has at least one: the nearer bound is that of a single row.
        (dp.sum("debt"), (-600, -10), 1),
        (dp.sum("age"), (18, 2200), 1),
        (dp.sum("cost", per_person=(0, 700.3)), (0, 700), Fraction(1, 2)),
        (dp.mean("cost"), (0, 100), Fraction(1, 200)),
        (dp.min("age"), (18, 110), 1),
        (dp.max("debt"), (-30, -10), 1),
    ],
    ids=str,
)
def test_bounds_follow_from_those_of_the_rows(aggregate, bounds, step):
    found = column(aggregate)
    assert (found.bounds, found.step) == (bounds, step)
    assert found.nullable == (aggregate.word != "count")


def test_days_have_a_first_and_a_last_one():
    assert column(dp.min("day")).kind == "date"
    assert column(dp.min("day")).bounds == COLUMNS["day"].bounds


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("bound", ["query", "table"])
def test_a_person_has_one_row_under_the_same_identifier_and_relation(relation, bound):
    unit = dp.person("id", max_rows=20, max_groups=3, relation=relation, bound=bound)
    plan = Filter(Derive(people(unit, total=dp.sum("cost")), "half", Name("total") * 2), Name("half") > 3)
    found = unit_of(plan, tables(unit))
    assert found == dp.person("id", max_rows=1, relation=relation, bound=bound)
    times = 1 if relation == "add_remove" else 2
    reached = stability(plan, found, tables(unit), groups=True)
    assert (reached.l0, reached.linf, reached.l1, reached.l2_squared) == (times, times, times, times**2)
    assert tables_of(plan) == ("t",)
    assert scans(plan) == expansion(plan, tables(unit)) == 1


def test_what_is_put_beside_people_counts_again():
    one = people(total=dp.sum("cost"))
    assert has_one_each(Project(Filter(one, Name("total") > 1), (("x", "total"),)))
    both, wards = Union(one, one), public("p", {"total": [1, 1, 2], "w": ["A", "B", "A"]})
    table = dp.person("id", max_rows=20, bound="table")
    for plan, rows in ((both, 2), (Join(one, wards, (("total", "total"),)), 2)):
        assert not has_one_each(plan)
        assert reach(plan, unit_of(plan, tables()), tables()) == 1  # bounded in the query
        assert reach(plan, unit_of(plan, tables(table)), tables(table)) == rows


def test_as_many_rows_are_supposed_as_a_person_has_in_the_plan():
    assert people(n=dp.count()).rows == 20
    both = people_plan(
        Union(Scan("t"), Scan("t")), [("n", dp.count())], tables(dp.person("id", max_rows=7, bound="table"))
    )
    assert both.rows == 14


def test_a_record_is_read_as_it_was_written():
    asked = {"a": dp.sum(Name("cost") * 2, per_person=(-1, 2.5)), "b": dp.count(), "c": dp.mean("age")}
    plan = Filter(people(**asked), Name("b") > 1)
    record = plan_record(plan)
    assert canonical_text(plan_record(plan_from_record(record))) == canonical_text(record)
    broken = [
        {"rows": 0},
        {"rows": True},
        {"rows": 1 << 40},
        {"values": []},
        {"values": [{"name": "a", "word": "sum", "of": None, "within": None}]},
        {"values": [{"name": "a", "word": "median", "of": {"name": "cost"}, "within": None}]},
        {"values": [{"name": "a", "word": "count", "of": None, "within": ["0", "1"]}]},
        {"values": [{"name": "a", "word": "sum", "of": {"name": "cost"}, "within": ["2", "1"]}]},
        {"values": [{"name": "a", "word": "sum", "of": {"name": "cost"}, "within": ["2"]}]},
        {"values": [{"name": "a", "word": "sum", "of": {"name": "cost"}}]},
    ]
    for change in broken:
        with pytest.raises(Refusal):
            plan_from_record({**record["source"], **change})


def test_people_are_no_rows():
    with pytest.raises(UnboundedSensitivity, match="rows are protected there"):
        people(dp.row(), n=dp.count())
    forged = PerPerson(Scan("t"), (OwnValue("n", "count"),), 5)
    with pytest.raises(UnboundedSensitivity):
        unit_of(forged, tables(dp.row()))


@pytest.mark.parametrize(
    ("aggregate", "refusal"),
    [
        (dp.variance("cost"), BadParameter),
        (dp.people(), BadParameter),
        (dp.median("cost"), BadParameter),
        ("cost", BadParameter),
        (dp.sum("ill"), IllTyped),
        (dp.mean("day"), IllTyped),
        (dp.sum("nothing"), UnknownName),
        (dp.sum("huge"), TooWide),
    ],
    ids=str,
)
def test_what_has_no_bounds_is_refused(aggregate, refusal):
    with pytest.raises(refusal):
        people(value=aggregate)


def test_nothing_asked_and_names_that_are_none_are_refused():
    with pytest.raises(BadParameter, match="nothing is asked"):
        people()
    with pytest.raises(BadParameter):
        columns_of(PerPerson(Scan("t"), (OwnValue("~n", "count"),), 5), tables())


def test_groups_of_one_person_are_no_more_than_keys():
    keys = keys_of(("ill",), {name: each.named(name) for name, each in COLUMNS.items()})
    assert groups_of_one(20, PEOPLE, None) == 1
    assert groups_of_one(20, PEOPLE, keys) == 2
    assert groups_of_one(1, PEOPLE, keys) == 1
    free = keys_of(("t",), {"t": dp.text().named("t")})
    assert groups_of_one(20, PEOPLE, free) == 3
