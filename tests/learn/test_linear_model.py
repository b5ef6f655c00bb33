"""Linear models: written as JSON and read again, checked; predictions from public encodings alone."""

import json

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import BadParameter
from discreet.learn.linear_model import best, probabilities

DATA = {"a": [0, 1, 2, 3] * 50, "b": ["x", "y"] * 100}
COLUMNS = {"a": dp.between(0, 3), "b": dp.one_of("x", "y")}
LABELS = ["no", "no", "yes", "maybe"] * 50


def model(kind=learn.LogisticRegression, **given):
    y, classes = (DATA["a"], {"target": dp.between(0, 3)}) if kind is learn.HuberRegressor else (LABELS, given)
    return kind(epsilon=5, delta=1e-6, columns=COLUMNS, **classes).fit(DATA, y).model_


MODELS = [
    (learn.LogisticRegression, {"classes": ["no", "yes"]}),
    (learn.LogisticRegression, {"classes": ["no", "yes", "maybe"]}),
    (learn.LinearSVC, {"classes": ["no", "yes", "maybe"]}),
    (learn.HuberRegressor, {}),
]


@pytest.mark.parametrize(("kind", "given"), MODELS)
def test_what_is_written_is_read_again_and_predicts_the_same(kind, given, tmp_path):
    one = model(kind, **given)
    one.save(tmp_path / "model.json")
    other = learn.load(tmp_path / "model.json")
    assert (other.predict(DATA) == one.predict(DATA)).all()
    assert other.loss == one.loss
    assert other.to_json() == one.to_json()
    assert [*other.coefficients()] == [*one.design.labels]


@pytest.mark.parametrize(
    "change",
    [
        {"objective": "magic"},
        {"weights": ""},
        {"weights": "!"},
        {"features": []},
        {"target": dp.between(0, 3).record()},
        {"words": 3},
    ],
)
def test_a_changed_file_is_refused(change, tmp_path):
    record = json.loads(model(classes=["no", "yes", "maybe"]).to_json())
    record["linear_model"] |= change
    (tmp_path / "model.json").write_text(json.dumps(record))
    with pytest.raises(BadParameter):
        learn.load(tmp_path / "model.json")


def test_a_file_that_holds_no_model_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="contains no model"):
        learn.load(tmp_path / "none.json")


def test_infinite_weights_are_no_model():
    one = model(classes=["no", "yes"])
    record = json.loads(one.to_json())
    bad = dp.core.value.replace(one, weights=one.weights * np.inf)
    record["linear_model"]["weights"] = json.loads(bad.to_json())["linear_model"]["weights"]
    with pytest.raises(BadParameter, match="do not fit"):
        learn.LinearModel.from_json(json.dumps(record))


def test_probabilities_add_up_to_one_and_the_best_class_has_the_largest():
    one, three = np.array([[-900.0], [0.0], [900.0]]), np.array([[1.0, 2.0, 900.0], [5.0, 1.0, 1.0]])
    for scores in (one, three):
        found = probabilities(scores)
        assert np.allclose(found.sum(axis=1), 1)
    assert best(one).tolist() == [0, 0, 1]
    assert best(three).tolist() == probabilities(three).argmax(axis=1).tolist()
