"""discreet predict: a saved model and a file of rows, without any vault."""

import csv

import pandas as pd
import pytest

import discreet as dp
from discreet import learn

COLUMNS = {"age": dp.between(0, 99), "ward": dp.one_of("A", "B"), "seen": dp.flag()}
FRAME = pd.DataFrame({"age": [*range(100)] * 4, "ward": ["A", "B"] * 200, "seen": [True, False, None, True] * 100})


@pytest.fixture
def model(folder):
    found = learn.LogisticRegression(epsilon=100, delta=1e-6, columns=COLUMNS, classes=["no", "yes"])
    found.fit(FRAME, ["yes" if age > 49 else "no" for age in FRAME["age"]]).model_.save(folder / "model.json")
    rows = FRAME.assign(y=["yes" if age > 49 else "no" for age in FRAME["age"]])
    rows.to_csv(folder / "rows.csv", index=False)
    rows.to_parquet(folder / "rows.parquet")
    return folder / "model.json"


@pytest.mark.parametrize("data", ["rows.csv", "rows.parquet"])
def test_rows_of_a_file_get_predictions_and_a_score(model, result, folder, data):
    found = result("predict", "model.json", data, "--score", "--out", "predicted.csv")
    assert found["rows"] == 400
    assert sum(found["classes"].values()) == 400
    assert found["score"] > 0.9
    rows = list(csv.DictReader((folder / "predicted.csv").read_text().splitlines()))
    assert {row["prediction"] for row in rows} == {"no", "yes"}
    assert 0 <= float(rows[0]["probability of yes"]) <= 1


def test_a_number_is_predicted_with_its_error(folder, result):
    found = learn.HuberRegressor(epsilon=100, delta=1e-6, columns={"ward": COLUMNS["ward"]}, target=dp.between(0, 99))
    found.fit(FRAME[["ward"]], FRAME["age"]).model_.save(folder / "age.json")
    FRAME.assign(y=FRAME["age"]).to_csv(folder / "rows.csv", index=False)
    assert 20 < result("predict", "age.json", "rows.csv", "--score")["score"] < 40


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("none.json", "rows.csv"), "path"),
        (("model.json", "none.csv"), "DATA"),
        (("model.json", "model.json"), "DATA"),
        (("model.json", "short.csv"), "age"),
        (("model.json", "broken.parquet"), "DATA"),
    ],
)
def test_what_cannot_be_read_is_refused(model, result, folder, words, what):
    (folder / "short.csv").write_text("ward\nA\n")
    (folder / "broken.parquet").write_text("no parquet")
    assert what in result("predict", *words)["what"]
