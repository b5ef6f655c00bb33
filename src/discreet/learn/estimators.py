"""Estimators: linear models in scikit-learn's manner, trained by noisy gradient descent on public encodings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.account.budgets.budget import Budget
from discreet.account.losses.loss import PrivacyLoss
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.schema import flag, one_of
from discreet.core.unit import Relation, check_relation
from discreet.learn.allowance import TrainingAllowance
from discreet.learn.descent import Descent
from discreet.learn.linear_model import LinearModel, best, probabilities, scaled_back, values_of
from discreet.learn.rows import Columns, columns_in, declared_columns, exact_rows, target_in
from discreet.plan.person_gradients import Objective
from discreet.plan.row_design import RowDesign

if TYPE_CHECKING:
    from sklearn.utils import Tags

DEFAULT_BINS = 16
_MOST_BINS = 1024


class DescentEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the linear models share.

    `columns` declares what each column of X may hold: by name, in order, or one declaration for all of an array.
    Numbers and dates are put into `bins` bins, or scaled where it is None. `rows` is how many rows there are, if
    everybody may know; otherwise a fiftieth of the budget buys it. Give `epsilon` alone for a pure guarantee, `epsilon`
    and `delta`, or a `budget`.

    Guarantee: the budget, where adding or removing a row (or, with relation="replace", exchanging one) makes
    neighbours: `loss_`. Each row's residual is clipped and rounded towards zero to whole steps, the sums are exact
    whole numbers with exact noise, and the noise of all rounds together is calibrated for a run fixed in advance.
    """

    objective: ClassVar[Objective]

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        budget: Budget | None = None,
        columns: Columns | None = None,
        rows: int | None = None,
        bins: int | None = DEFAULT_BINS,
        relation: Relation = "add_remove",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.columns = columns
        self.rows = rows
        self.bins = bins
        self.relation = relation

    def descent(self, columns: dict[str, Column], target: Column, rows: int | None) -> Descent:
        """Return the run that `fit` makes on such columns, whose noise and rounds can be looked at before it is paid.

        `rows` is a public number of rows; None where it is to be bought.
        """
        check_relation(self.relation)
        allowance = TrainingAllowance.of(self._budget(), self.relation)
        return self.run_for(columns, target, allowance, rows)

    def run_for(
        self, columns: dict[str, Column], target: Column, allowance: TrainingAllowance, people: int | None
    ) -> Descent:
        """Return the run on declared columns for an allowance."""
        self.check_target(target)
        design = RowDesign.of(columns, checked_bins(self.bins))
        values = values_of(target)
        objective = self.objective
        if objective == "logistic" and values > 2:
            objective = "softmax"
        return Descent(design, objective, values, allowance, people)

    def check_target(self, target: Column) -> None:
        """Refuse a target of the wrong kind."""
        raise NotImplementedError

    def _budget(self) -> Budget:
        if self.budget is None:
            return Budget(epsilon=self.epsilon, delta=self.delta)
        if self.epsilon is not None or self.delta is not None:
            why = "what may be spent is stated once"
            raise BadParameter("budget", self.budget, why=why, fix="leave epsilon and delta out, or budget")
        return self.budget

    def _rows(self, data: object) -> int | None:
        """Return a number of rows that is public: declared, or fixed where neighbours exchange a row."""
        if self.rows is not None:
            if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
                raise BadParameter("rows", self.rows, why="it is a number of rows", fix="use a positive integer")
            return self.rows
        if self.relation == "replace":
            return max(1, len(next(iter(columns_in(data).values()))))  # type: ignore[arg-type]
        return None

    def _fit(self, data: object, target: Column, values: object) -> Self:
        columns = declared_columns(self.columns, data)
        descent = self.descent(columns, target, self._rows(data))
        rows = exact_rows(descent.design, columns_in(data), target, target_in(values, type(self).__name__))
        trained = descent.run([rows], lambda _: nullcontext())
        self.n_features_in_ = len(columns)
        if hasattr(data, "columns"):
            self.feature_names_in_ = np.array([*columns], dtype=object)
        self.n_iter_ = trained.schedule.rounds
        self.loss_: PrivacyLoss = descent.allowance.loss
        self.notes_ = trained.words
        self.model_ = LinearModel(
            descent.objective, descent.design, target, trained.weights, descent.allowance.loss, trained.words
        )
        return self

    @property
    def coef_(self) -> NDArray[np.float64]:
        """What each entry of the encoding weighs, an output a row; `model_.design.labels` names the entries."""
        check_is_fitted(self)
        end = -1 if self.model_.design.has_constant else None
        return self.model_.weights[:end].T.copy()

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant of each output; 0 where entries of keys or bins add up to one and hold it."""
        check_is_fitted(self)
        outputs = self.model_.weights.shape[1]
        return self.model_.weights[-1].copy() if self.model_.design.has_constant else np.zeros(outputs)

    def _scores(self, data: Any) -> NDArray[np.float64]:  # noqa: ANN401  (tables of any kind)
        check_is_fitted(self)
        columns = columns_in(data)
        more = len(columns) > self.n_features_in_ and not hasattr(data, "columns") and not isinstance(data, dict)
        if len(columns) < self.n_features_in_ or more:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            why = f"X has {len(columns)} features, but {expected}"
            raise BadParameter("X", len(columns), why=why, fix="pass the columns that were declared")
        return self.model_.scores(columns)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        for part in (tags.classifier_tags, tags.regressor_tags):
            if part is not None:  # a few rows tell little under noise
                part.poor_score = True
        return tags


class _Classifier(ClassifierMixin, DescentEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A linear model of classes; `classes` lists them, since those that occur would tell of single rows."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        budget: Budget | None = None,
        columns: Columns | None = None,
        classes: Sequence[str | int] | None = None,
        rows: int | None = None,
        bins: int | None = DEFAULT_BINS,
        relation: Relation = "add_remove",
    ) -> None:
        super().__init__(
            epsilon=epsilon, delta=delta, budget=budget, columns=columns, rows=rows, bins=bins, relation=relation
        )
        self.classes = classes

    def fit(self, X: object, y: object) -> Self:  # noqa: N803  (scikit-learn's names)
        """Train on rows; a row whose label is none of the classes counts for nothing."""
        target = classes_column(self.classes)
        self._fit(X, target, y)
        self.classes_ = np.array(self.model_.classes)
        return self

    def check_target(self, target: Column) -> None:
        """Refuse what has no classes."""
        if target.kind not in ("category", "flag"):
            why = f"it is a {target.kind}, and classes are listed"
            raise BadParameter("target", target.name, why=why, fix="declare it with one_of or flag")

    def decision_function(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the scores: one a row for two classes, else one for each class."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """Return the class of each row."""
        scores = self._scores(X)
        found: NDArray[Any] = self.classes_[best(scores)]
        return found


class LogisticRegression(_Classifier):
    """Logistic regression: of two classes, or of several with one score for each (softmax).

    Guarantee: that of `DescentEstimator`. Residuals of two classes are clipped at half a row; of several, by length.
    """

    objective = "logistic"

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class, a column each."""
        return probabilities(self._scores(X))

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the logarithms of `predict_proba`."""
        found: NDArray[np.float64] = np.log(self.predict_proba(X))
        return found


class LinearSVC(_Classifier):
    """A linear support vector machine with the squared hinge, whose slope is clipped; several classes one by one.

    Guarantee: that of `DescentEstimator`.
    """

    objective = "hinge"


class HuberRegressor(RegressorMixin, DescentEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Linear regression with clipped residuals, which is Huber's: squared errors up to a clip, absolute ones beyond.

    `target` declares the range of y, as in `target=dp.between(0, 99)`; numbers are clamped to it.

    Guarantee: that of `DescentEstimator`.
    """

    objective = "squared"

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        budget: Budget | None = None,
        columns: Columns | None = None,
        target: Column | None = None,
        rows: int | None = None,
        bins: int | None = DEFAULT_BINS,
        relation: Relation = "add_remove",
    ) -> None:
        super().__init__(
            epsilon=epsilon, delta=delta, budget=budget, columns=columns, rows=rows, bins=bins, relation=relation
        )
        self.target = target

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Train on rows; a row without a number counts for nothing."""
        if not isinstance(self.target, Column):
            why = "the range of y is declared, since the one that occurs would tell of single rows"
            raise BadParameter("target", self.target, why=why, fix="declare it: target=dp.between(0, 99)")
        return self._fit(X, self.target.named("y"), y)

    def check_target(self, target: Column) -> None:
        """Refuse what is no number."""
        if target.kind != "number":
            why = f"it is a {target.kind}, and the target is a number"
            raise BadParameter("target", target.name, why=why, fix="declare it with between, or learn a classifier")

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the number that the model takes each row for, within the declared range."""
        scores = self._scores(X)
        return scaled_back(self.model_.target, scores[:, 0])


def classes_column(classes: Sequence[str | int] | None) -> Column:
    """Return the declaration of listed classes."""
    fix = "list them: classes=['no', 'yes']"
    if classes is None:
        why = "classes are declared, since those that occur would tell of single rows"
        raise BadParameter("classes", None, why=why, fix=fix)
    if isinstance(classes, str) or not np.iterable(classes):
        raise BadParameter("classes", classes, why="it is a list", fix=fix)
    listed = [each.item() if isinstance(each, np.generic) else each for each in classes]
    if len(listed) < 2:
        why = "with one class there is nothing to learn"
        raise BadParameter("classes", listed, why=why, fix=fix)
    if sorted(map(str, listed)) == ["False", "True"] and all(isinstance(each, bool) for each in listed):
        return flag().named("y")
    return one_of(*listed).named("y")


def checked_bins(bins: object) -> int | None:
    """Return a number of bins, or None for scaled numbers."""
    if bins is None:
        return None
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= _MOST_BINS:
        why = f"it is a number of bins from 1 to {_MOST_BINS:,}, or None to scale numbers"
        raise BadParameter("bins", bins, why=why, fix="use 16")
    return bins
