"""How estimates and the state of a collection are put together and shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.cli.shared.collection_options import OpenCollection
    from discreet.local.collection import Collection
    from discreet.local.estimate import Estimate
    from discreet.local.poisoning import Influence
    from discreet.local.sketch import Sketch

_FALSE_ALARM = 1e-3


def gathered(found: OpenCollection, epochs: Sequence[int], others: Sequence[Path]) -> Sketch:
    """Add up the sketches of the epochs, and those of exported files; too few reports are not looked at."""
    from discreet.local.shuffle import TooFewReports
    from discreet.serve.parquet_sketches import load
    from discreet.serve.sketches import empty

    collection = found.collection
    total = empty(collection.protocol.spec_hash, collection.protocol.cells)
    counted = {epoch: [sketch] for epoch, sketch in found.sketches(epochs).items()}
    for path in others:
        for epoch, sketch in load(path, collection).items():
            if epochs and epoch not in epochs:
                continue
            if sketch.reports and sketch in counted.get(epoch, []):
                why = f"its reports of epoch {epoch} are counted already: it was exported from the same store"
                raise Refusal(f"file {path}", why=why, fix="leave it out", value=str(path))
            counted.setdefault(epoch, []).append(sketch)
    for sketch in chain.from_iterable(counted.values()):
        total = total + sketch
    if total.reports < collection.minimum:
        why = f"the collection guarantees to wait for {collection.minimum:,}"
        fix = "wait for more reports, or combine more epochs"
        raise TooFewReports(f"an estimate from {total.reports:,} reports", why=why, fix=fix, value=total.reports)
    return total


def views(
    collection: Collection, estimate: Estimate, bound: Influence | None, plot: Path | None
) -> list[RenderableType]:
    """Return the table of estimates, and a line for each thing that was asked for in addition to."""
    from rich.text import Text

    shown: list[RenderableType] = [Text(collection.name, style="bold"), Text(str(estimate))]
    if bound is not None:
        shown.append(
            Text(
                f"{bound.fakes:,} fake reports could move each raw estimate by {bound.low:+,.1f} to {bound.high:+,.1f}."
            )
        )
    if plot is not None:
        shown.append(Text(f"The plot is in {plot}."))
    return shown


def status_record(found: OpenCollection) -> dict[str, Any]:
    """Return what there is to say about a collection, as plain JSON values."""
    from discreet.local.poisoning import outliers

    sketches, closed = found.sketches(), found.store.closed()
    parts = list(sketches)
    try:
        flagged = outliers([sketches[epoch] for epoch in parts], false_alarm=_FALSE_ALARM)
    except BadParameter:  # a protocol whose sketches cannot be compared cell by cell
        flagged = []
    return {
        "collection": found.collection.name,
        "hash": found.collection.hash.hex(),
        "protocol": str(found.collection.protocol),
        "minimum": found.collection.minimum,
        "epochs": [
            {"epoch": epoch, "reports": sketch.reports, "rejected": sketch.rejected, "closed": epoch in closed}
            for epoch, sketch in sketches.items()
        ],
        "closed": sorted(closed),
        "rejected": dict(found.store.rejected()),
        "outliers": [
            {"epoch": parts[each.part], "cell": each.cell, "statistic": each.statistic, "chance": each.chance}
            for each in flagged
        ],
        "false_alarm": _FALSE_ALARM,
    }


def status_views(record: dict[str, Any]) -> list[RenderableType]:
    """Return a table of epochs, a line of rejections, and a warning for every epoch unlike the others."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=f"{record['collection']}: {record['protocol']}", title_justify="left")
    for heading in ("epoch", "reports", "rejected"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in record["epochs"]:
        state = "closed" if row["closed"] else "" if row["reports"] >= record["minimum"] else "too few reports"
        table.add_row(str(row["epoch"]), f"{row['reports']:,}", f"{row['rejected']:,}", state)
    rejected = ", ".join(f"{reason} {count:,}" for reason, count in record["rejected"].items())
    shown: list[RenderableType] = [table, Text(f"Rejected: {rejected}." if rejected else "Nothing was rejected.")]
    for each in record["outliers"]:
        line = f"Epoch {each['epoch']} is unlike the others (probability {each['chance']:.1g} if all were equal)."
        shown.append(Text(line, style="yellow"))
    return shown
