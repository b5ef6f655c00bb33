"""Estimators: scikit-learn's manner with declared columns; what a record holds never raises; real data."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from discreet import learn
from discreet.core.errors import BadParameter
from discreet.core.value import replace
from discreet.testing import seeded

COLUMNS = dp.between(-10, 10, step=0.01)
ESTIMATORS = [
    learn.LogisticRegression(epsilon=100, delta=1e-6, columns=COLUMNS, classes=[0, 1]),
    learn.LinearSVC(epsilon=100, delta=1e-6, columns=COLUMNS, classes=[0, 1]),
    learn.HuberRegressor(epsilon=100, delta=1e-6, columns=COLUMNS, target=dp.between(-100, 100, step=0.1)),
]
# What randomness, declared classes, and records that never raise, forbid.
EXCEPTIONS = {
    "check_fit_idempotent": "two fits draw different noise",
    "check_supervised_y_2d": "compares two fits, which draw different noise",
    "check_regressors_int": "compares two fits, which draw different noise",
    "check_classifier_data_not_an_array": "compares two fits, which draw different noise",
    "check_regressor_data_not_an_array": "compares two fits, which draw different noise",
    "check_regressors_train": "a score of 50 rows under noise",
    "check_classifiers_train": "three classes where two were declared",
    "check_classifiers_classes": "classes are those declared, not those that occur",
    "check_classifiers_regression_target": "a label that was not declared counts for nothing, and never raises",
    "check_supervised_y_no_nan": "a target that is no number counts for nothing, and never raises",
    "check_dtype_object": "a value that is no number counts as null, and never raises",
    "check_estimators_empty_data_messages": "that there is nobody is not to be told",
    "check_pipeline_consistency": "two fits draw different noise",
    "check_array_api_input": "needs a setting of the environment",
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_scikit_learns_own_checks_pass_but_for_those_that_privacy_forbids(estimator):
    with seeded(1):
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {each["check_name"]: each["exception"] for each in found if each["status"] != "passed"}
    assert {name: error for name, error in failed.items() if name not in EXCEPTIONS} == {}
    assert len(found) > 40


def table(rows=400):
    x = np.linspace(-9, 9, rows)
    return x[:, None], (x > 0).astype(int)


def odd(values):
    """The same column with odd values among the others."""
    return [*values[:-6], None, float("nan"), float("inf"), "odd", object(), 10**400]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
@pytest.mark.filterwarnings("error")
def test_no_value_of_a_record_raises(estimator):
    x, y = table()
    named = clone(estimator).set_params(columns={"x": COLUMNS})
    fitted = named.fit({"x": odd(x[:, 0].tolist())}, odd(y.tolist()))
    assert np.isfinite(fitted.coef_).all()
    assert len(fitted.predict({"x": odd(x[:, 0].tolist())})) == len(y)


@pytest.mark.parametrize("labels", [[0] * 400, [1] * 400, [None] * 400, ["?"] * 400])
def test_rows_of_one_class_alone_or_of_none_train_a_model_of_all_classes(labels):
    found = clone(ESTIMATORS[0]).fit(table()[0], labels)
    assert found.classes_.tolist() == [0, 1]
    assert found.predict_proba(table()[0]).shape == (400, 2)


def test_a_table_without_rows_is_no_error():
    found = clone(ESTIMATORS[0]).fit(np.zeros((0, 3)), [])
    assert found.predict(np.zeros((2, 3))).shape == (2,)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS), "classes"),
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS, classes=["one"]), "one class"),
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS, classes="ab"), "list"),
        (learn.LogisticRegression(epsilon=1, classes=[0, 1]), "between"),
        (learn.LogisticRegression(columns=COLUMNS, classes=[0, 1]), "epsilon"),
        (learn.LogisticRegression(epsilon=1, budget=dp.Budget(rho=1), columns=COLUMNS, classes=[0, 1]), "once"),
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS, classes=[0, 1], bins=0), "bins"),
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS, classes=[0, 1], rows=0), "rows"),
        (learn.LogisticRegression(epsilon=1, columns=COLUMNS, classes=[0, 1], relation="swap"), "relation"),
        (learn.LogisticRegression(epsilon=1e-15, columns=COLUMNS, classes=[0, 1]), "nothing to learn"),
        (learn.HuberRegressor(epsilon=1, columns=COLUMNS), "range of y"),
        (learn.HuberRegressor(epsilon=1, columns=COLUMNS, target=dp.one_of(1, 2)), "number"),
    ],
)
def test_what_was_not_declared_is_refused_with_the_fix(estimator, words):
    with pytest.raises(BadParameter, match=words):
        estimator.fit(*table())


def test_a_small_budget_says_what_to_expect():
    found = clone(ESTIMATORS[0]).set_params(epsilon=0.001, delta=None, rows=400).fit(*table())
    assert "most frequent class" in found.notes_[0]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_what_is_not_fitted_predicts_nothing(estimator):
    with pytest.raises(NotFittedError):
        clone(estimator).predict(table()[0])


def test_the_loss_is_the_budget_and_the_relation_is_said():
    found = clone(ESTIMATORS[0]).set_params(epsilon=2).fit(*table())
    assert 1.99 < found.loss_.epsilon(1e-6) <= 2
    other = clone(ESTIMATORS[0]).set_params(relation="replace").fit(*table())
    assert other.loss_.relation == "replace"


def test_the_number_of_rows_is_not_looked_at_where_a_row_may_come_or_go(monkeypatch):
    from discreet.learn.descent import Descent

    asked = []
    kept = Descent.__init__
    monkeypatch.setattr(Descent, "__init__", lambda self, *args: (asked.append(args[-1]), kept(self, *args))[1])
    for given in ({}, {"rows": 5}, {"relation": "replace"}):
        clone(ESTIMATORS[0]).set_params(**given).fit(*table())
    assert asked == [None, 5, 400]


@pytest.mark.parametrize("bins", [16, None])
def test_separable_classes_are_told_apart(bins):
    x, y = table(4000)
    with seeded(3):
        for estimator in ESTIMATORS[:2]:
            assert clone(estimator).set_params(bins=bins, epsilon=5).fit(x, y).score(x, y) > 0.95
        three = (x[:, 0] > -3).astype(int) + (x[:, 0] > 3)
        for estimator in ESTIMATORS[:2]:
            found = clone(estimator).set_params(epsilon=5, classes=[0, 1, 2]).fit(x, three)
            assert found.score(x, three) > 0.85
            assert found.decision_function(x).shape == (4000, 3)


@pytest.mark.parametrize("bins", [16, None])
def test_a_line_is_followed(bins):
    x = np.linspace(-9, 9, 4000)
    with seeded(3):
        found = clone(ESTIMATORS[2]).set_params(bins=bins, epsilon=5).fit(x[:, None], 8 * x)
    assert found.score(x[:, None], 8 * x) > 0.9


def test_a_frame_is_taken_by_the_names_of_its_columns():
    frame = pd.DataFrame({"a": [0, 1] * 100, "b": ["x", "y"] * 100})
    estimator = learn.LogisticRegression(
        epsilon=10, columns={"a": dp.between(0, 1), "b": dp.one_of("x", "y")}, classes=["x", "y"]
    )
    found = estimator.fit(frame, frame["b"])
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.predict(frame[["b", "a"]]).tolist() == found.predict(frame).tolist()
    with pytest.raises(BadParameter, match="expecting 2 features"):
        found.predict(frame[["a"]])


def test_without_scikit_learn_the_import_says_what_to_install():
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import importlib.util
importlib.util.find_spec = lambda name, package=None: None
try:
    import discreet.learn
except ImportError as refusal:
    print(refusal)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'discreet[learn]'" in ran.stdout


@pytest.fixture(scope="module")
def adult(data_folder):
    """The census table: columns, training rows, test rows; numbers are codes already."""
    import json

    sizes = json.loads((data_folder / "adult-domain.json").read_text())
    frame = pd.read_csv(data_folder / "adult.csv")
    numbers = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    target = [*frame.columns][-1]
    columns = {
        name: replace(
            dp.between(0, sizes[name] - 1) if name in numbers else dp.one_of(*range(sizes[name])), nullable=False
        )
        for name in frame.columns[:-1]
    }
    return columns, frame[:32561], frame[32561:], target


# Far below what ten seeds gave (.848, .859, .861; .812, .852, .859): a false alarm is less than one in a million.
@pytest.mark.parametrize(
    ("epsilon", "delta", "least"), [(1, 1e-6, 0.85), (10, 1e-6, 0.857), (1, None, 0.83), (10, None, 0.853)]
)
def test_the_census_is_learnt_without_tuning(adult, epsilon, delta, least):
    columns, train, test, target = adult
    estimator = learn.LogisticRegression(epsilon=epsilon, delta=delta, columns=columns, classes=[0, 1])
    with seeded(1):
        found = estimator.fit(train[[*columns]], train[target])
    assert found.score(test[[*columns]], test[target]) > least
