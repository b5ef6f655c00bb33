"""Spark as a subject of the suite: one in this process."""

from tests.engines.subjects import Subject
from tests.plan.relational import SECRET
from tests.spark import loaded, opened


class Spark(Subject):
    """Spark in this process; its plans and tasks take their time, so that it is given few examples, interpreted."""

    name = "spark"
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.id % 7 > b.id % 11"
    more_examples = 2
    one_in = 5  # units are gone through in fours and threes, and each of them is met so
    lacks = frozenset({"UTINYINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"})
    has_infinite_days = False
    spells_fractions = False
    replaced = frozenset({"date"})

    def opened(self):
        return opened(SECRET)

    def relation(self, names, kinds, rows):
        return loaded(self.engine, dict(zip(names, kinds, strict=True)), rows)

    def held(self, sql):
        return f"({sql}) AS held"
