"""Linear model: weights that were paid for, with the public encoding that they belong to; written as JSON."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.file import write_file
from discreet.core.value import dataclass
from discreet.plan.keys import declared, shown
from discreet.plan.person_gradients import Objective, Residuals
from discreet.plan.row_design import RowDesign

Floats = NDArray[np.float64]

_FIELDS = ("objective", "features", "target", "weights", "loss", "words")
_UNCHANGED = "pass the file that save wrote, unchanged"


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """What a row's entries weigh, for each output; predictions are computed from it for free.

    Guarantee: everything here follows from what `loss` paid for and from declarations.
    """

    objective: Objective
    design: RowDesign
    target: Column
    weights: Floats
    loss: PrivacyLoss
    words: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of their declaration; of a number there are none."""
        if self.objective == "squared":
            return ()
        return tuple(shown(self.target, value) for value in declared(self.target) or ())

    def scores(self, columns: Mapping[str, object]) -> Floats:
        """Return the scores of rows in memory, an output a column."""
        found: Floats = self.design.matrix(self.design.codes(columns)) @ self.weights / self.design.unit
        return found

    def probabilities(self, columns: Mapping[str, object]) -> Floats:
        """Return the probability of each class, a column each."""
        return probabilities(self.scores(columns))

    def predict(self, columns: Mapping[str, object]) -> NDArray[Any]:
        """Return the class, or the number, that the model takes each row for."""
        scores = self.scores(columns)
        if self.objective == "squared":
            return scaled_back(self.target, scores[:, 0])
        return np.array(self.classes)[best(scores)]

    def coefficients(self) -> dict[str, tuple[float, ...]]:
        """Return what each entry weighs, by its words."""
        rows = self.weights.tolist()
        return {label: tuple(row) for label, row in zip(self.design.labels, rows, strict=True)}

    def save(self, path: str | Path) -> None:
        """Write it as one versioned JSON file, which `learn.load` reads; no code is in it."""
        write_file(path, self.to_json(), force=True)

    def to_json(self) -> str:
        """Write it as versioned JSON."""
        return records.write(
            "linear_model",
            {
                "objective": self.objective,
                "features": self.design.record(),
                "target": self.target.record(),
                "weights": base64.b64encode(np.ascontiguousarray(self.weights, "<f8").tobytes()).decode(),
                "loss": self.loss.to_json(),
                "words": [*self.words],
            },
        )

    @classmethod
    def from_json(cls, text: str) -> LinearModel:
        """Read what `to_json` wrote, checking that its parts fit together."""
        found = records.fields("linear_model", records.read("linear_model", text), _FIELDS)
        try:
            return _read(found)
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            raise BadParameter("model", "<file>", why="its parts do not fit together", fix=_UNCHANGED) from None

    def __repr__(self) -> str:
        return f"LinearModel({self.objective!r}, {len(self.design.features)} columns, {self.loss!r})"


def probabilities(scores: Floats) -> Floats:
    """Return the probability of each class: of two from one score, of several from one each."""
    wide = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def best(scores: Floats) -> NDArray[np.int64]:
    """Return the place of each row's class."""
    found: NDArray[np.int64] = (
        scores[:, 0].__gt__(0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
    )
    return found


def scaled_back(target: Column, scores: Floats) -> Floats:
    """Return numbers of the target's range from scores between -1 and 1."""
    low, high = target.steps
    found: Floats = (low + (np.clip(scores, -1, 1) + 1) / 2 * (high - low)) * float(target.step or 1)
    return found


def values_of(target: Column) -> int:
    """Return how many values a target has."""
    if target.kind in ("category", "flag"):
        return len(declared(target) or ())
    return target.steps[1] - target.steps[0] + 1


def load(path: str | Path) -> LinearModel:
    """Read a saved model."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadParameter("path", str(path), why="it contains no model", fix=_UNCHANGED) from None
    return LinearModel.from_json(text)


def _read(found: dict[str, Any]) -> LinearModel:
    design, target = RowDesign.from_record(found["features"]), Column.from_record(found["target"])
    norm = Residuals(found["objective"], values_of(target), 1.0, "l2")
    if found["objective"] not in ("logistic", "softmax", "hinge", "squared"):
        raise ValueError("there is no such objective")
    weights = np.frombuffer(base64.b64decode(found["weights"], validate=True), "<f8").reshape(
        design.width, norm.outputs
    )
    if not np.isfinite(weights).all():
        raise ValueError("these are not the numbers of a model")
    words = tuple(map(str, found["words"]))
    return LinearModel(found["objective"], design, target, weights, PrivacyLoss.from_json(found["loss"]), words)
