"""Sketches in a Parquet file: for keeping, for moving, and for adding up what several collectors have counted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from discreet.core.errors import BadParameter, Refusal
from discreet.local.collection import Collection
from discreet.local.sketch import Sketch
from discreet.serve.sketches import OtherCollection

_COLUMNS = "spec VARCHAR, epoch INTEGER, reports BIGINT, rejected BIGINT, counts BIGINT[]"


def export(path: Path, collection: Collection, sketches: Mapping[int, Sketch]) -> None:
    """Write one row for each epoch: the collection's hash, how many reports, how many rejected, and the counts."""
    import duckdb

    spec = collection.hash.hex()
    rows = [
        (spec, epoch, each.reports, each.rejected, each.counts.tolist()) for epoch, each in sorted(sketches.items())
    ]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE sketches ({_COLUMNS})")
        if rows:
            connection.executemany("INSERT INTO sketches VALUES (?, ?, ?, ?, ?)", rows)
        target = str(path).replace("'", "''")
        try:
            connection.execute(f"COPY sketches TO '{target}' (FORMAT parquet)")
        except duckdb.Error as error:
            fix = "use a folder that exists and that you may write"
            raise BadParameter("file", str(path), why="the file could not be written", fix=fix) from error


def is_export(path: Path) -> bool:
    """Return whether a file is one that `export` wrote: nothing else is written over by another export."""
    import duckdb

    try:
        with duckdb.connect() as connection:
            found = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(path)]).description
    except duckdb.Error:
        return False
    return [column[0] for column in found or ()] == [part.split()[0] for part in _COLUMNS.split(", ")]


def load(path: Path, collection: Collection) -> dict[int, Sketch]:
    """Return the sketches that `export` wrote, by epoch; those of another collection are refused."""
    import duckdb

    protocol = collection.protocol
    try:
        with duckdb.connect() as connection:
            query = "SELECT spec, epoch, reports, rejected, counts FROM read_parquet(?)"
            rows = connection.execute(query, [str(path)]).fetchall()
    except duckdb.Error as error:
        fix = "pass a file that discreet collect export wrote"
        raise Refusal(f"file {path}", why="it cannot be read as sketches", fix=fix, value=str(path)) from error
    found: dict[int, Sketch] = {}
    for spec, epoch, reports, rejected, counts in rows:
        if spec != collection.hash.hex() or len(counts) != protocol.cells:
            fix = "add up sketches of one collection and revision only"
            raise OtherCollection(f"file {path}", why="it is of another collection", fix=fix, value=str(path))
        sketch = Sketch(protocol.spec_hash, np.array(counts, dtype=np.int64), reports, rejected)
        found[epoch] = found[epoch] + sketch if epoch in found else sketch
    return found
