"""Learning: models of tables in scikit-learn's manner, trained under differential privacy on public encodings."""

from __future__ import annotations

from importlib.util import find_spec

from discreet.core.errors import MissingExtra
from discreet.core.lazy import lazy

if find_spec("sklearn") is None:
    raise MissingExtra("discreet.learn", "learn", "scikit-learn")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.learn.estimators import HuberRegressor as HuberRegressor
    from discreet.learn.estimators import LinearSVC as LinearSVC
    from discreet.learn.estimators import LogisticRegression as LogisticRegression
    from discreet.learn.linear_model import LinearModel as LinearModel
    from discreet.learn.linear_model import load as load

_HOMES = {
    "HuberRegressor": "discreet.learn.estimators",
    "LinearModel": "discreet.learn.linear_model",
    "LinearSVC": "discreet.learn.estimators",
    "LogisticRegression": "discreet.learn.estimators",
    "load": "discreet.learn.linear_model",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
