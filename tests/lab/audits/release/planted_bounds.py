"""Defects planted in what bounds people: weights, totals, links, rows of two tables that meet, groups withheld."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import discreet as dp
from discreet.answers.quantity import BracketedValue
from discreet.ask import programme
from discreet.core import doors
from discreet.core.schema import Table
from discreet.engines.dialect import select
from discreet.lab import audit_question, audit_sql
from discreet.measures.minimum_frequency import COUNTED
from discreet.noise.draws import Draws
from discreet.plan.to_sql import people, person_join, person_totals, weights
from discreet.plan.to_sql import rows as rows_in_sql
from discreet.plan.to_sql.owners import OWNER, REFERENCE, Owners
from discreet.plan.to_sql.weights import PERSON, WeighedRows
from discreet.plan.whole import Whole
from discreet.testing import seeded
from tests.lab.audits.release.planted import VISITS, Spy, exchanged

DRUGS = Table("drugs", dp.person("pid", max_rows=2), {"cost": dp.between(0, 100), "dose": dp.between(0, 10)})
ORDERS = Table("orders", dp.person("customer", max_rows=4), {"prio": dp.one_of("1", "2")})
ITEMS = Table(
    "items",
    dp.person(via=dp.link("order", "orders", "key"), max_rows=6),
    {"quantity": dp.between(0, 50), "flag": dp.one_of("R", "N")},
)
BELOW = 4


def sql(text, *tables, **given):
    return lambda **effort: audit_sql(text, tables, 1, **given, **effort)


def asked(build, *tables, **given):
    return lambda **effort: audit_question(build, tables, 1, **given, **effort)


QUESTIONS: dict[str, Callable] = {
    "count": sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", VISITS),
    "count and sum": sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward", VISITS),
    "shared moments": asked(
        lambda s: s.table("visits").group_by("ward").agg(n=dp.count(), m=dp.mean("cost"), v=dp.variance("cost")), VISITS
    ),
    "total": asked(lambda s: s.table("visits").group_by("ward").agg(t=dp.sum("cost", per_person=(0, 120))), VISITS),
    "one row for each person": asked(
        lambda s: (
            s.table("visits")
            .per_person(n=dp.count(), t=dp.sum("cost", per_person=(0, 120)))
            .agg(n=dp.sum("n"), t=dp.sum("t"))
        ),
        VISITS,
    ),
    "what bounding cut": asked(lambda s: s.table("visits").agg(n=dp.count()).cut(), VISITS),
    "items of linked orders": sql("SELECT flag, SUM(quantity) AS n FROM items GROUP BY flag", ORDERS, ITEMS),
    "a semi-join": asked(
        lambda s: s.table("visits").semi_join(s.table("drugs"), on="cost").group_by("ward").agg(n=dp.count()),
        VISITS,
        DRUGS,
    ),
    "groups withheld": sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", VISITS, withhold=BELOW),
}
WEIGHED = ("count", "count and sum", "shared moments", "items of linked orders", "a semi-join", "groups withheld")


@dataclass(frozen=True)
class BoundPlant:
    """One defect: in words, the file it sits in, how it is planted, and the questions that it touches."""

    defect: str
    place: str
    planted: Callable
    questions: tuple[str, ...]


class RoundingUp:
    """A dialect that divides and rounds up."""

    def __init__(self, dialect):
        self.dialect = dialect

    def floor_div(self, above, below, *, wide):
        return self.dialect.floor_div(f"({above} + {below} - 1)", below, wide=wide)

    def __getattr__(self, name):
        return getattr(self.dialect, name)


def rounded_up():
    """Let a person's weights add up to a little more than they may."""
    return exchanged(
        WeighedRows,
        "_heavy",
        lambda honest: lambda self, rows: honest(replace(self, dialect=RoundingUp(self.dialect)), rows),
    )


def cap_forgotten():
    return exchanged(
        WeighedRows, "_heavy", lambda honest: lambda self, rows: honest(self, rows).replace("//", "* 0 + 1048576 +", 1)
    )


def counted_elsewhere():
    """Weigh rows by how many of a person's pass a condition that the weighed rows need not pass."""
    return exchanged(
        WeighedRows,
        "_heavy",
        lambda honest: (
            lambda self, rows: honest(self, select("*", rows, where='"~x0" > 0' if "~kept" in rows else '"cost" > 0'))
        ),
    )


def rows_of_nobody():
    return exchanged(weights, "_owned", lambda _: lambda found: select("*", found))


def unclamped():
    """Add up totals as they are."""
    return exchanged(Whole, "clamped", lambda _: lambda self, low, high: self)


def in_all_groups():
    return exchanged(person_totals, "groups_of_one", lambda _: lambda rows, unit, keys: keys.size if keys else 1)


def people_unclamped():
    return exchanged(
        people,
        "_clamped",
        lambda honest: lambda value, place, columns, made, dialect: honest(value, place, columns, WIDE, dialect),
    )


class WIDE:
    steps = (-(10**6), 10**6)


def person_of_each_key():
    """Take rows that refer to a key for a person of their own."""
    return exchanged(
        Owners,
        "owned",
        lambda honest: (
            lambda self, rows, columns, person=OWNER: honest(self, rows, columns, person).replace(
                f"{OWNER} AS {person}", f"{REFERENCE} AS {person}"
            )
        ),
    )


def anyones_partners():
    """Let a row of anyone be met by a row of anyone else."""

    def made(honest):
        return lambda plan, one, other, whole, dialect: honest(plan, one, other, whole, dialect).replace(
            f"{PERSON if whole else dialect.cast(PERSON, dialect.text)} = {person_join._MET} AND ", ""
        )

    return exchanged(rows_in_sql, "mark_join_sql", made)


class PeopleSpy(Spy):
    """An engine that notes how many people are in every group."""

    def in_order(self, *asked):
        found = self.engine.in_order(*asked)
        self.sizes = [int(row[-1]) for row in doors.opened(found)]
        return found


def withheld_exactly():
    """Withhold groups by the exact number of their people."""

    def made(honest):
        def run(self, engine, draws):
            spy = PeopleSpy(engine)
            answer = honest(self, spy, draws)
            columns = tuple(
                replace(
                    each,
                    quantities=tuple(
                        BracketedValue(None, None, None) if few < BELOW else quantity
                        for few, quantity in zip(spy.sizes, each.quantities, strict=True)
                    ),
                )
                for each in answer.columns
            )
            return replace(answer, columns=columns)

        return run

    return exchanged(programme.Programme, "run", made)


def noise_of_the_count():
    """Draw the count that withholds with the coins of the count that is shown."""

    def made(honest):
        def at(self, label):
            if label == f"column {COUNTED}/noise":
                self._used.discard("column n/noise")
                return honest(self, "column n/noise")
            return honest(self, label)

        return at

    return exchanged(Draws, "at", made)


PLANTS = (
    BoundPlant("weights rounded up", "plan/to_sql/weights", rounded_up, WEIGHED),
    BoundPlant("the cap on rows forgotten", "plan/to_sql/weights", cap_forgotten, WEIGHED),
    BoundPlant(
        "weighed by rows that pass another condition",
        "plan/to_sql/weights",
        counted_elsewhere,
        ("count and sum", "shared moments"),
    ),
    BoundPlant("rows of nobody count", "plan/to_sql/weights", rows_of_nobody, ("count", "count and sum")),
    BoundPlant("totals as they are", "plan/to_sql/person_totals", unclamped, ("total",)),
    BoundPlant("totals in all groups", "plan/to_sql/person_totals", in_all_groups, ("total",)),
    BoundPlant(
        "values of people beyond their bounds",
        "plan/to_sql/people",
        people_unclamped,
        ("one row for each person",),
    ),
    BoundPlant("a person for each key", "plan/to_sql/owners", person_of_each_key, ("items of linked orders",)),
    BoundPlant("rows that anyone's rows meet", "plan/to_sql/person_join", anyones_partners, ("a semi-join",)),
    BoundPlant("groups withheld by exact numbers", "ask/programme", withheld_exactly, ("groups withheld",)),
    BoundPlant("withheld by the noise that is shown", "noise/draws", noise_of_the_count, ("groups withheld",)),
)


def planted_bound(plant, question, **effort):
    """Audit a question while a defect is planted; return the verdict and by which way it was found."""
    with plant.planted(), seeded(1):
        found = QUESTIONS[question](**effort)
    return found.verdict, ", ".join(sorted({each.way for each in found.tried if each.finding.violated}))
