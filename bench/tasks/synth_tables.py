"""Tables of the synthetic-data bench, as whole-number codes, and how far a sample is from one of them.

Needs the standard library and numpy alone, so that every participant's interpreter can read it. The real tables are
found in the folder that DISCREET_DATA names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Columns = Mapping[str, NDArray[np.int64]]

BINS = 32
NUMERIC = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")
LABEL = "income>50K"
EIGHT = ("workclass", "education-num", "marital-status", "occupation", "relationship", "race", "sex", LABEL)
DATA = Path(os.environ.get("DISCREET_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def table(name: str) -> tuple[dict[str, int], dict[str, NDArray[np.int64]]]:
    """The sizes and the columns of a table: Adult-32 (14 columns), Adult-8 (categorical ones), NLTCS, or made bits."""
    if name == "Adult-32":
        return _adult()
    if name == "Adult-8":
        sizes, columns = _adult()
        return {column: sizes[column] for column in EIGHT}, {column: columns[column] for column in EIGHT}
    if name == "NLTCS":
        parts = [
            np.loadtxt(DATA / "nltcs" / f"nltcs.{part}.data", np.int64, delimiter=",")
            for part in ("train", "valid", "test")
        ]
        return _named(np.concatenate(parts))
    if name == "bits":  # the setting of the Julia package's example: 1,000 rows of 20 binary attributes
        generator = np.random.default_rng(7)  # noqa: TID251  (a made-up table is no secret)
        return _named((generator.random((1000, 20)) < generator.random(20)).astype(np.int64))
    raise ValueError(f"there is no table {name!r}")


def error(sizes: Mapping[str, int], exact: Columns, sample: Columns, ways: int = 3) -> float:
    """The mean over all marginals of so many columns of the L1 distance between the shares of their cells."""
    return float(np.mean([_distance(sizes, exact, sample, names) for names in combinations(sizes, ways)]))


def _distance(sizes: Mapping[str, int], exact: Columns, sample: Columns, names: Iterable[str]) -> float:
    listed = [*names]
    shape = [sizes[name] for name in listed]
    shares = []
    for columns in (exact, sample):
        cells = np.ravel_multi_index([columns[name] for name in listed], shape)
        shares.append(np.bincount(cells, minlength=int(np.prod(shape))) / max(1, len(cells)))
    return float(np.abs(shares[0] - shares[1]).sum())


def _adult() -> tuple[dict[str, int], dict[str, NDArray[np.int64]]]:
    sizes: dict[str, int] = json.loads((DATA / "adult-domain.json").read_text(encoding="utf-8"))
    path = DATA / "adult.csv"
    header = path.open(encoding="utf-8").readline().strip().split(",")
    rows = np.loadtxt(path, np.int64, delimiter=",", skiprows=1)
    columns = {name: rows[:, place].copy() for place, name in enumerate(header)}
    for name in NUMERIC:
        columns[name] = columns[name] * BINS // sizes[name]
        sizes[name] = BINS
    return {name: sizes[name] for name in header}, columns


def _named(rows: NDArray[np.int64]) -> tuple[dict[str, int], dict[str, NDArray[np.int64]]]:
    columns = {f"c{place:02d}": rows[:, place].copy() for place in range(rows.shape[1])}
    return dict.fromkeys(columns, 2), columns
