"""Honest questions: every aggregate, at Laplace and Gaussian prices, of several units, in several shapes."""

from dataclasses import dataclass
from fractions import Fraction

import discreet as dp
from discreet.core.schema import Table
from discreet.lab import audit_question, audit_sql

COLUMNS = {
    "cost": dp.between(0, 100),
    "age": dp.between(0, 110),
    "ward": dp.one_of("A", "B", "C"),
    "city": dp.text(),
    "day": dp.date("2024-01-01", "2024-12-31"),
    "urgent": dp.flag(),
}
UNITS = {
    "a row": dp.row(),
    "a row, replaced": dp.row(relation="replace"),
    "a person": dp.person("pid", max_rows=1),
    "a person of 3 rows in 2 groups": dp.person("pid", max_rows=3, max_groups=2),
    "a person of 2 rows, replaced": dp.person("pid", max_rows=2, relation="replace"),
    "a person of 2 rows, bounded in the table": dp.person("pid", max_rows=2, bound="table"),
}
EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(4))
DELTA = Fraction(1, 10**6)
# What a price is in: Laplace noise, or Gaussian; a selection of keys and a choice take the epsilon of the same rho.
PRICES = {
    "Laplace": lambda e: {"epsilon": e},
    "Gaussian": lambda e: {"rho": e * e / 8},
    "epsilon and delta": lambda e: {"epsilon": e, "delta": DELTA},
}
SQL = {
    "count": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "count of rows that pass": "SELECT COUNT(*) AS n FROM visits WHERE age >= 65 AND urgent",
    "count where a value is": "SELECT COUNT(cost) AS n FROM visits WHERE ward IN ('A', 'B')",
    "sum": "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward",
    "sum of an expression": "SELECT SUM(cost - age) AS s FROM visits WHERE day >= '2024-06-01'",
    "mean": "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward",
    "mean of what is derived": "SELECT AVG(c) AS m FROM (SELECT cost + 1 AS c FROM visits WHERE ward <> 'B') AS q",
    "variance": "SELECT VARIANCE(cost) AS v FROM visits",
    "standard deviation": "SELECT ward, STDDEV(age) AS v FROM visits GROUP BY ward",
    "covariance": "SELECT COVAR_POP(cost, age) AS v FROM visits",
    "correlation": "SELECT CORR(cost, age) AS v FROM visits",
    "median": "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward",
    "quantiles": "SELECT QUANTILE(cost, 0.9) AS q, QUANTILE(cost, 0.25) AS p FROM visits",
    "least and largest": "SELECT MIN(age) AS a, MAX(age) AS b FROM visits",
    "selected keys": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "mean of selected keys": "SELECT city, AVG(cost) AS m FROM visits GROUP BY city",
    "people": "SELECT ward, COUNT(DISTINCT pid) AS p FROM visits GROUP BY ward",
    "several": "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, MEDIAN(age) AS m FROM visits GROUP BY ward",
    "totals": "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward, urgent)",
    "a public table": "WITH floors(ward, floor) AS (VALUES ('A', 1), ('B', 1), ('C', 2)) "
    "SELECT floor, SUM(cost) AS s FROM visits JOIN floors USING (ward) GROUP BY floor",
}
PYTHON = {
    "histogram": lambda visits: visits.group_by("ward").agg(h=dp.histogram("cost", [0, 20, 50, 100])),
    "CDF": lambda visits: visits.agg(c=dp.cdf("age", [18, 40, 65, 80])),
    "top keys": lambda visits: visits.agg(t=dp.top_k("ward", 2)),
    "top keys of every group": lambda visits: visits.group_by("urgent").agg(t=dp.top_k("ward", 1)),
}
SELECTED = ("selected keys", "mean of selected keys")


@dataclass(frozen=True)
class Honest:
    """One audit of honest code: what is asked, of which unit, at which price; a bound may be bought."""

    question: str
    unit: str
    price: str
    epsilon: Fraction
    bought: bool = False

    @property
    def name(self):
        """What it is called in a record."""
        bought = ", max_rows bought" if self.bought else ""
        return f"{self.question} of {self.unit}, {self.price} at {self.epsilon}{bought}"

    def audited(self, **effort):
        """Audit it with the settings that users have, but for `effort`."""
        table, price = Table("visits", UNITS[self.unit], COLUMNS), PRICES[self.price](self.epsilon)
        if self.question in SELECTED:
            price["delta"] = DELTA
        if self.bought:
            effort["max_rows"] = "auto"
        if self.question in SQL:
            return audit_sql(SQL[self.question], table, **price, **effort)
        build = PYTHON[self.question]
        return audit_question(lambda session: build(session.table("visits")), table, **price, **effort)


def asked(question, unit):
    """Whether there is such a question: people are counted where there are any, and keys selected where any is."""
    if question in SELECTED:
        return "replaced" not in unit
    return question != "people" or "person" in unit


CASES = [
    Honest(question, unit, price, epsilon)
    for epsilon in EPSILONS
    for price in PRICES
    for unit in UNITS
    for question in (*SQL, *PYTHON)
    if asked(question, unit)
]
CASES += [
    Honest(q, "a person of 3 rows in 2 groups", "Laplace", e, bought=True) for q in ("count", "mean") for e in EPSILONS
]


def case(number):
    """Return the case of a number: a stride that meets all of them, neighbours being unlike."""
    return CASES[number * 613 % len(CASES)]
