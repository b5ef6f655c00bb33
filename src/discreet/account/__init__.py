"""Accounting: privacy losses, what they cost together, and the budgets they are charged to."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.account.budgets import calibrate as calibrate
    from discreet.account.budgets.budget import Budget as Budget
    from discreet.account.budgets.compose import Guarantee as Guarantee
    from discreet.account.budgets.compose import advanced as advanced
    from discreet.account.budgets.compose import basic as basic
    from discreet.account.budgets.compose import optimal as optimal
    from discreet.account.budgets.compose import strong as strong
    from discreet.account.budgets.exceeded import BudgetExceeded as BudgetExceeded
    from discreet.account.budgets.filter import ApproxFilter as ApproxFilter
    from discreet.account.budgets.filter import PureFilter as PureFilter
    from discreet.account.budgets.filter import RenyiFilter as RenyiFilter
    from discreet.account.budgets.filter import ZcdpFilter as ZcdpFilter
    from discreet.account.budgets.odometer import Odometer as Odometer
    from discreet.account.budgets.union import UnionFilter as UnionFilter
    from discreet.account.losses.approx import Approx as Approx
    from discreet.account.losses.composition import Composed as Composed
    from discreet.account.losses.composition import total as total
    from discreet.account.losses.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from discreet.account.losses.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from discreet.account.losses.exponential import Exponential as Exponential
    from discreet.account.losses.four_point import FourPoint as FourPoint
    from discreet.account.losses.gaussian import Gaussian as Gaussian
    from discreet.account.losses.gaussian import GaussianDP as GaussianDP
    from discreet.account.losses.laplace import Laplace as Laplace
    from discreet.account.losses.loss import PrivacyLoss as PrivacyLoss
    from discreet.account.losses.loss import Unsupported as Unsupported
    from discreet.account.losses.parallel import Parallel as Parallel
    from discreet.account.losses.parallel import parallel as parallel
    from discreet.account.losses.pure import Pure as Pure
    from discreet.account.losses.pure import RandomizedResponse as RandomizedResponse
    from discreet.account.losses.renyi import Renyi as Renyi
    from discreet.account.losses.shuffle import Shuffled as Shuffled
    from discreet.account.losses.subsample import Drawn as Drawn
    from discreet.account.losses.subsample import Sampled as Sampled
    from discreet.account.losses.zcdp import Zcdp as Zcdp

# Every public name and the module that defines it; it is imported when it is first touched.
_HOMES = {
    "ApproxFilter": "discreet.account.budgets.filter",
    "Approx": "discreet.account.losses.approx",
    "Budget": "discreet.account.budgets.budget",
    "BudgetExceeded": "discreet.account.budgets.exceeded",
    "Composed": "discreet.account.losses.composition",
    "DiscreteGaussian": "discreet.account.losses.discrete_gaussian",
    "DiscreteLaplace": "discreet.account.losses.discrete_laplace",
    "Drawn": "discreet.account.losses.subsample",
    "Exponential": "discreet.account.losses.exponential",
    "FourPoint": "discreet.account.losses.four_point",
    "Gaussian": "discreet.account.losses.gaussian",
    "GaussianDP": "discreet.account.losses.gaussian",
    "Guarantee": "discreet.account.budgets.compose",
    "Laplace": "discreet.account.losses.laplace",
    "Odometer": "discreet.account.budgets.odometer",
    "Parallel": "discreet.account.losses.parallel",
    "PrivacyLoss": "discreet.account.losses.loss",
    "Pure": "discreet.account.losses.pure",
    "PureFilter": "discreet.account.budgets.filter",
    "RandomizedResponse": "discreet.account.losses.pure",
    "Renyi": "discreet.account.losses.renyi",
    "RenyiFilter": "discreet.account.budgets.filter",
    "Sampled": "discreet.account.losses.subsample",
    "Shuffled": "discreet.account.losses.shuffle",
    "UnionFilter": "discreet.account.budgets.union",
    "Unsupported": "discreet.account.losses.loss",
    "Zcdp": "discreet.account.losses.zcdp",
    "ZcdpFilter": "discreet.account.budgets.filter",
    "advanced": "discreet.account.budgets.compose",
    "basic": "discreet.account.budgets.compose",
    "calibrate": "discreet.account.budgets.calibrate",
    "total": "discreet.account.losses.composition",
    "optimal": "discreet.account.budgets.compose",
    "parallel": "discreet.account.losses.parallel",
    "strong": "discreet.account.budgets.compose",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
