"""The benchmark table of people: rows with a heavy-tailed number per person, made once and kept with the benches.

Run as a script with rows, people and a path it makes one of any size, with the same columns, in DuckDB alone.

Ten million rows of a million people: rows per person median 4, 99th percentile 90, at most about 3,900; columns
user_id, region (50 keys), category (20 keys), age 18-90, income 0-200,000.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

SEED = 1


def path(rows: int, people: int, found: Path) -> Path:
    """The table as a Parquet file, made on first use."""
    if not found.exists():
        import pyarrow.parquet as pq

        found.parent.mkdir(parents=True, exist_ok=True)
        draft = found.with_suffix(f".{os.getpid()}")
        pq.write_table(table(rows, people), draft, row_group_size=1_000_000, compression="zstd")
        draft.rename(found)
    return found


def table(rows: int, people: int) -> Any:
    """The table in memory."""
    import numpy as np
    import pyarrow as pa

    def skewed(keys: int, power: float) -> Any:
        weight = 1 / np.arange(1, keys + 1) ** power
        return weight / weight.sum()

    def labels(prefix: str, codes: Any, keys: int) -> Any:
        names = pa.array([f"{prefix}{number:02d}" for number in range(keys)])
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names).cast(pa.string())

    draw = np.random.default_rng(SEED)  # noqa: TID251  (public made-up data, the same in every run)
    weight = draw.lognormal(0, 1.4, people)
    extra = draw.choice(people, size=rows - people, p=weight / weight.sum())
    user = np.concatenate([np.arange(people), extra])
    draw.shuffle(user)
    home = draw.choice(50, size=people, p=skewed(50, 0.7))
    region = np.where(draw.random(rows) < 0.7, home[user], draw.choice(50, size=rows, p=skewed(50, 0.7)))
    category = draw.choice(20, size=rows, p=skewed(20, 0.5))
    age = np.clip(draw.normal(45, 17, people), 18, 90).astype(np.int32)[user]
    income = np.clip(draw.lognormal(10.6, 0.55, people)[user] * draw.lognormal(0, 0.1, rows), 0, 200_000)
    region, category = labels("R", region, 50), labels("C", category, 20)
    return pa.table({"user_id": user, "region": region, "category": category, "age": age, "income": income})


def make_large(rows: int, people: int, found: Path) -> None:
    """Write a table of any size from hashes of row numbers: half of the rows belong to a tenth of the people."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET preserve_insertion_order = false")
    few = max(1, people // 10)
    heavy, anyone = (f"CAST(hash(range, 1) % {count} AS BIGINT)" for count in (few, people))
    user = f"CASE WHEN hash(range, 2) % 2 = 0 THEN {heavy} ELSE {anyone} END"
    labels = [
        f"printf('{letter}%02d', hash(range, {seed}) % {keys}) AS {name}"
        for letter, seed, keys, name in (("R", 3, 50, "region"), ("C", 4, 20, "category"))
    ]
    numbers = "CAST(18 + hash(range, 5) % 73 AS INTEGER) AS age, CAST(hash(range, 6) % 200001 AS DOUBLE) AS income"
    source = f"SELECT {user} AS user_id, {', '.join(labels)}, {numbers} FROM range({rows})"
    connection.execute(f"COPY ({source}) TO '{found}' (FORMAT parquet, COMPRESSION zstd)")


if __name__ == "__main__":
    make_large(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
