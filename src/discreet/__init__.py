"""Discreet: differential privacy for tables, with a durable privacy budget, synthetic data and audits."""

from __future__ import annotations

from discreet.core.lazy import lazy
from discreet.core.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet import account as account
    from discreet import lab as lab
    from discreet import mechanisms as mechanisms
    from discreet import noise as noise
    from discreet.account.budgets.budget import Budget as Budget
    from discreet.account.budgets.exceeded import BudgetExceeded as BudgetExceeded
    from discreet.account.losses.approx import Approx as Approx
    from discreet.account.losses.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from discreet.account.losses.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from discreet.account.losses.exponential import Exponential as Exponential
    from discreet.account.losses.gaussian import Gaussian as Gaussian
    from discreet.account.losses.gaussian import GaussianDP as GaussianDP
    from discreet.account.losses.laplace import Laplace as Laplace
    from discreet.account.losses.loss import PrivacyLoss as PrivacyLoss
    from discreet.account.losses.parallel import parallel as parallel
    from discreet.account.losses.pure import Pure as Pure
    from discreet.account.losses.pure import RandomizedResponse as RandomizedResponse
    from discreet.account.losses.renyi import Renyi as Renyi
    from discreet.account.losses.zcdp import Zcdp as Zcdp
    from discreet.answers.answer import Answer as Answer
    from discreet.core.column import Column as Column
    from discreet.core.errors import BadParameter as BadParameter
    from discreet.core.errors import Refusal as Refusal
    from discreet.core.schema import Table as Table
    from discreet.core.schema import between as between
    from discreet.core.schema import date as date
    from discreet.core.schema import flag as flag
    from discreet.core.schema import one_of as one_of
    from discreet.core.schema import text as text
    from discreet.core.unit import Unit as Unit
    from discreet.core.unit import person as person
    from discreet.core.unit import row as row
    from discreet.curator.connect import connect as connect
    from discreet.curator.curator import Curator as Curator
    from discreet.plan.aggregates import count as count
    from discreet.plan.aggregates import mean as mean
    from discreet.plan.aggregates import median as median
    from discreet.plan.aggregates import people as people
    from discreet.plan.aggregates import quantile as quantile
    from discreet.plan.aggregates import sum as sum
    from discreet.plan.expressions import when as when

# Every public name and the module that defines it; it is imported when it is first touched.
_HOMES = {
    "Approx": "discreet.account.losses.approx",
    "BadParameter": "discreet.core.errors",
    "Budget": "discreet.account.budgets.budget",
    "BudgetExceeded": "discreet.account.budgets.exceeded",
    "Column": "discreet.core.column",
    "Curator": "discreet.curator.curator",
    "DiscreteGaussian": "discreet.account.losses.discrete_gaussian",
    "DiscreteLaplace": "discreet.account.losses.discrete_laplace",
    "Exponential": "discreet.account.losses.exponential",
    "Gaussian": "discreet.account.losses.gaussian",
    "GaussianDP": "discreet.account.losses.gaussian",
    "Laplace": "discreet.account.losses.laplace",
    "PrivacyLoss": "discreet.account.losses.loss",
    "Pure": "discreet.account.losses.pure",
    "RandomizedResponse": "discreet.account.losses.pure",
    "Refusal": "discreet.core.errors",
    "Renyi": "discreet.account.losses.renyi",
    "Table": "discreet.core.schema",
    "Unit": "discreet.core.unit",
    "Zcdp": "discreet.account.losses.zcdp",
    "account": "discreet.account",
    "between": "discreet.core.schema",
    "connect": "discreet.curator.connect",
    "count": "discreet.plan.aggregates",
    "date": "discreet.core.schema",
    "flag": "discreet.core.schema",
    "lab": "discreet.lab",
    "mean": "discreet.plan.aggregates",
    "mechanisms": "discreet.mechanisms",
    "median": "discreet.plan.aggregates",
    "noise": "discreet.noise",
    "one_of": "discreet.core.schema",
    "parallel": "discreet.account.losses.parallel",
    "people": "discreet.plan.aggregates",
    "person": "discreet.core.unit",
    "quantile": "discreet.plan.aggregates",
    "row": "discreet.core.unit",
    "sum": "discreet.plan.aggregates",
    "text": "discreet.core.schema",
    "when": "discreet.plan.expressions",
}

# The rest of the aggregates, where rows lie, and what answers are, to annotate with: they answer to `dp.std` and the
# like, and stay out of the list that people read first.
_ALSO = {
    "Answer": "discreet.answers.answer",
    "link": "discreet.core.link",
    **dict.fromkeys(
        ("cdf", "correlation", "covariance", "histogram", "max", "min", "std", "top_k", "variance"),
        "discreet.plan.aggregates",
    ),
    **dict.fromkeys(("greatest", "least"), "discreet.plan.expressions"),
    **dict.fromkeys(("csv", "parquet"), "discreet.engines.duckdb.options"),
    "learn": "discreet.learn",
    "local": "discreet.local",
    "publish": "discreet.publish",
}


def _listed() -> dict[str, str]:
    """Return what folders list: the engines' words for their sources, such as `dp.postgres`, and aggregates."""
    from discreet.engines import EMBEDDED, registry
    from discreet.measures import registry as aggregates

    sources = {name: f"discreet.engines.{name}.options" for name in registry if name != EMBEDDED}
    return sources | {name: f"discreet.measures.{name}" for name in aggregates}


__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES | _ALSO, _listed)
