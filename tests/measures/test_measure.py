"""The protocol of measures: what every aggregate says, and one more aggregate in one file."""

import json
import sys

import pytest

import discreet as dp
import discreet.measures as measures
from discreet.core.errors import UnknownName
from discreet.lab.audits.sql import audit_sql
from discreet.plan.aggregates import AGGREGATES, Aggregate
from discreet.testing import seeded
from tests.curator.questions import answered, opened
from tests.measures.made import made

ASKED = {
    "count": dp.count(),
    "people": dp.people(),
    "sum": dp.sum("x"),
    "mean": dp.mean("x"),
    "variance": dp.variance("x"),
    "std": dp.std("x"),
    "covariance": dp.covariance("x", "y"),
    "correlation": dp.correlation("x", "y"),
    "quantile": dp.quantile("x", 0.25, 0.75),
    "min": dp.min("x"),
    "max": dp.max("x"),
    "histogram": dp.histogram("ward"),
    "cdf": dp.cdf("x", [1, 2]),
    "top_k": dp.top_k("ward", 1),
}

MORE = '''
"""Sum of squares: as a trial of one aggregate more."""

from dataclasses import dataclass
from typing import ClassVar

from discreet.measures import sum as sums
from discreet.plan.aggregates import Aggregate, as_column
from discreet.plan.aggregates import sum as total
from discreet.plan.expressions import Expression


@dataclass(frozen=True, slots=True, eq=False)
class SumOfSquares(Aggregate):
    """The sum of the squares of the values that are not null."""

    sql: ClassVar[tuple[str, ...]] = ("sum_of_squares",)
    of: Expression


def sum_of_squares(of):
    """Add the squares of the values."""
    return SumOfSquares(as_column(of))


def measure(name, aggregate, price, reach):
    """Return a sum of an expression that is never below zero."""
    return sums.measure(name, total((aggregate.of * aggregate.of).clip(0, 10**4)), price, reach)
'''


def test_every_aggregate_is_a_file_and_every_file_an_aggregate():
    assert set(measures.registry) == set(AGGREGATES) == set(ASKED)


@pytest.mark.parametrize("word", ASKED)
def test_every_measure_says_all_that_an_answer_needs(word):
    found = made(ASKED[word])
    found.rehearse()
    assert found.label.startswith("column value/")
    assert found.loss.epsilon(0) <= 1 + 1e-9
    assert found.most_loss.epsilon(0) <= 1 + 1e-9
    assert found.expected(1000).within
    assert found.half_width(0.05, 1000) > 0
    assert found.spread > 0
    assert bool(found.labels) == (found.title is not None) == ASKED[word].alone
    assert found.weight([1] * len(found.trial_tallies)) > 0


def test_an_unknown_aggregate_is_refused_with_those_there_are():
    with pytest.raises(UnknownName, match="aggregate"):
        _ = measures.registry["mode"]


@pytest.fixture
def more(tmp_path, monkeypatch):
    """Put one more file into the folder of measures."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "sum_of_squares.py").write_text(MORE)
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(folder)])
    yield
    AGGREGATES.pop("sum_of_squares", None)
    sys.modules.pop("discreet.measures.sum_of_squares", None)


def test_an_aggregate_more_is_one_file(tmp_path, more):
    session = opened(tmp_path)
    table = session.table("visits")
    report = table.agg(s=dp.sum_of_squares("age"))
    with seeded(3):
        (answer,) = answered(report.asked(epsilon=10**12))
    assert answer.value() == 41**2 + 42**2 + 43**2 + 7**2 + 8**2 + 90**2 + 10**4 + 30**2 + 31**2
    assert json.loads(report.asked(epsilon=1).question)["aggregates"]["s"]["aggregate"] == "sum_of_squares"
    found = session.sql("SELECT ward, SUM_OF_SQUARES(age) AS s FROM visits GROUP BY ward", epsilon=1)
    assert len(found.rows) == 3
    assert "sum of" in found.explain()
    assert "the sums of every group" in report.preview(epsilon=1, sql=True).sql[0]
    assert isinstance(dp.sum_of_squares("age"), Aggregate)


def test_an_aggregate_more_is_audited_like_all_others(more):
    table = dp.Table("visits", dp.person("id", max_rows=2), {"age": dp.between(0, 50)})
    with seeded(3):
        found = audit_sql("SELECT SUM_OF_SQUARES(age) AS s FROM visits", table, epsilon=1, samples=1000, runs=0)
    assert found.verdict == "not shown"
    assert not found.open
    assert max(each.finding.lower for each in found.tried) == pytest.approx(1)
