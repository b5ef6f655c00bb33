"""Accounting: privacy losses, what they cost together, and the budgets they are charged to."""

from __future__ import annotations

from discreet.core.lazy import lazy

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
