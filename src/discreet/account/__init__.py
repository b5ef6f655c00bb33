"""Accounting: privacy losses, what they cost together, and the budgets they are charged to."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.account import calibrate as calibrate
    from discreet.account.approx import Approx as Approx
    from discreet.account.budget import Budget as Budget
    from discreet.account.compose import Guarantee as Guarantee
    from discreet.account.compose import advanced as advanced
    from discreet.account.compose import basic as basic
    from discreet.account.compose import optimal as optimal
    from discreet.account.compose import strong as strong
    from discreet.account.composition import Composed as Composed
    from discreet.account.composition import total as total
    from discreet.account.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from discreet.account.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from discreet.account.disjoint import Parallel as Parallel
    from discreet.account.disjoint import parallel as parallel
    from discreet.account.exceeded import BudgetExceeded as BudgetExceeded
    from discreet.account.exponential import Exponential as Exponential
    from discreet.account.filter import ApproxFilter as ApproxFilter
    from discreet.account.filter import PureFilter as PureFilter
    from discreet.account.filter import RenyiFilter as RenyiFilter
    from discreet.account.filter import ZcdpFilter as ZcdpFilter
    from discreet.account.four_point import FourPoint as FourPoint
    from discreet.account.gaussian import Gaussian as Gaussian
    from discreet.account.gaussian import GaussianDP as GaussianDP
    from discreet.account.laplace import Laplace as Laplace
    from discreet.account.loss import PrivacyLoss as PrivacyLoss
    from discreet.account.loss import Unsupported as Unsupported
    from discreet.account.odometer import Odometer as Odometer
    from discreet.account.pure import Pure as Pure
    from discreet.account.pure import RandomizedResponse as RandomizedResponse
    from discreet.account.renyi import Renyi as Renyi
    from discreet.account.shuffle import Shuffled as Shuffled
    from discreet.account.subsample import Drawn as Drawn
    from discreet.account.subsample import Sampled as Sampled
    from discreet.account.zcdp import Zcdp as Zcdp

# Every public name and the module that defines it; it is imported when it is first touched.
_HOMES = {
    "ApproxFilter": "discreet.account.filter",
    "Approx": "discreet.account.approx",
    "Budget": "discreet.account.budget",
    "BudgetExceeded": "discreet.account.exceeded",
    "Composed": "discreet.account.composition",
    "DiscreteGaussian": "discreet.account.discrete_gaussian",
    "DiscreteLaplace": "discreet.account.discrete_laplace",
    "Drawn": "discreet.account.subsample",
    "Exponential": "discreet.account.exponential",
    "FourPoint": "discreet.account.four_point",
    "Gaussian": "discreet.account.gaussian",
    "GaussianDP": "discreet.account.gaussian",
    "Guarantee": "discreet.account.compose",
    "Laplace": "discreet.account.laplace",
    "Odometer": "discreet.account.odometer",
    "Parallel": "discreet.account.disjoint",
    "PrivacyLoss": "discreet.account.loss",
    "Pure": "discreet.account.pure",
    "PureFilter": "discreet.account.filter",
    "RandomizedResponse": "discreet.account.pure",
    "Renyi": "discreet.account.renyi",
    "RenyiFilter": "discreet.account.filter",
    "Sampled": "discreet.account.subsample",
    "Shuffled": "discreet.account.shuffle",
    "Unsupported": "discreet.account.loss",
    "Zcdp": "discreet.account.zcdp",
    "ZcdpFilter": "discreet.account.filter",
    "advanced": "discreet.account.compose",
    "basic": "discreet.account.compose",
    "calibrate": "discreet.account.calibrate",
    "total": "discreet.account.composition",
    "optimal": "discreet.account.compose",
    "parallel": "discreet.account.disjoint",
    "strong": "discreet.account.compose",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
