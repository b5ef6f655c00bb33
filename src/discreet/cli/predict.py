"""discreet predict: predictions of a saved model for rows of a CSV or Parquet file; free."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.typed_table import typed_table

if TYPE_CHECKING:
    from discreet.learn.linear_model import LinearModel


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--out", type=NEW_FILE, help="Write a prediction for each row to a .csv file.")
@click.option("--score", is_flag=True, help="Compare with the column that was learnt: for rows that are public.")
@click.pass_obj
def command(output: Output, model: Path, data: Path, out: Path | None, score: bool) -> None:
    """Predict a column for the rows of DATA with the MODEL that discreet fit saved.

    It reads no vault, and costs nothing: the model was paid for. A score is a fact about DATA, and as public as DATA.
    """
    from discreet.learn.linear_model import load

    found = load(model)
    wanted = [each.column for each in found.design.features] + ([found.target] if score else [])
    columns = typed_table(data, wanted)
    predicted = found.predict(columns).tolist()
    record: dict[str, Any] = {"target": found.target.name, "rows": len(predicted), "file": None}
    lines = [f"{len(predicted):,} rows"]
    if found.classes:
        record["classes"] = {str(each): many for each, many in sorted(Counter(map(str, predicted)).items())}
        lines += [f"{each}: {many:,}" for each, many in record["classes"].items()]
    if score:
        record["score"] = _score(found, predicted, columns[str(found.target.name)])
        lines.append(f"score: {record['score']:.4f}")
    if out is not None:
        _write(out, found, columns, predicted)
        record["file"] = str(out)
        lines.append(f"out: {out}")
    output.show(record, "\n".join(lines))


def _score(model: LinearModel, predicted: list[Any], truth: list[Any]) -> float:
    """Return the share of right classes, or of a number the root of the mean squared error."""
    pairs = [(one, other) for one, other in zip(predicted, truth, strict=True) if other is not None]
    if not pairs:
        return 0.0
    if model.classes:
        return float(sum(one == other for one, other in pairs) / len(pairs))
    return float((sum((one - other) ** 2 for one, other in pairs) / len(pairs)) ** 0.5)


def _write(out: Path, model: LinearModel, columns: dict[str, list[Any]], predicted: list[Any]) -> None:
    names = ["prediction"]
    rows = [[each] for each in predicted]
    if model.classes and model.objective != "hinge":
        names += [f"probability of {each}" for each in model.classes]
        rows = [[*one, *chances] for one, chances in zip(rows, model.probabilities(columns).tolist(), strict=True)]
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    write_text(out, text.getvalue())
