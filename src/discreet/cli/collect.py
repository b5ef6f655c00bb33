"""discreet collect: ask many people without learning what any one of them said."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from discreet.cli.shared.collection_options import (
    COLLECTION,
    KEY,
    STORE,
    checked_epoch,
    folder_argument,
    open_store,
    opened,
    progress,
    protocol_of,
    signed_text,
    store_option,
)
from discreet.cli.shared.files import NEW_FILE, write_text, written
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXAMPLE = """\b
discreet collect init survey unary:k=100,epsilon=1 --minimum 1000
discreet collect serve survey
discreet collect send survey answers.txt --url http://127.0.0.1:8470
discreet collect estimate survey --plot survey.svg
"""


@click.group(epilog=_EXAMPLE)
def command() -> None:
    """Collect reports under local differential privacy: everyone randomizes their own answer."""


@command.command()
@folder_argument
@click.argument("protocol")
@click.option("--name", help="The name of the collection; default: the folder's name.")
@click.option("--epochs", type=int, default=1, show_default=True, help="How many times everyone is asked.")
@click.option("--minimum", type=int, default=1000, show_default=True, help="Reports required before an estimate.")
@click.option("--revision", type=int, default=1, show_default=True, help="The revision number of the collection.")
@store_option
@click.pass_obj
def init(
    output: Output,
    folder: Path,
    protocol: str,
    name: str | None,
    epochs: int,
    minimum: int,
    revision: int,
    store: str | None,
) -> None:
    """Make FOLDER for a collection under PROTOCOL, such as unary:k=100,epsilon=1, and sign it.

    collection.json is for everyone who answers. Keep collection.key, the private key, to yourself.
    """
    from discreet.local.collection import Collection, new_key, read, sign

    made = Collection(name or folder.resolve().name, protocol_of(protocol), epochs, minimum, revision)
    if (folder / COLLECTION).exists():
        fix = "use another folder; a changed collection is another one, with its own revision"
        raise Refusal(f"folder {folder}", why="there is a collection in it already", fix=fix, value=str(folder))
    if (folder / KEY).exists():
        fix = f"use another folder, or move {KEY} away; its collection may still need it"
        raise Refusal(f"folder {folder}", why="the key of another collection is left in it", fix=fix, value=str(folder))
    private = new_key()
    text = sign(made, private)
    collection = read(text)
    folder.mkdir(parents=True, exist_ok=True)
    if store is None:
        from discreet.serve.sqlite_sketches import SqliteSketches

        SqliteSketches.create(folder / STORE, collection).disconnect()
    else:
        open_store(folder, store, collection).disconnect()
    write_text(folder / KEY, private.hex() + "\n", private=True)
    write_text(folder / COLLECTION, text)
    loss = collection.protocol.loss
    result = {
        "folder": str(folder),
        "collection": collection.record(),
        "hash": collection.hash.hex(),
        "public_key": collection.key,
        "epsilon": float(loss.peak),
        "bytes_per_report": collection.protocol.bytes_per_report,
    }
    lines = [
        f"The collection {collection.name!r} is in {folder}: {collection.protocol}.",
        f"One report has {collection.protocol.bytes_per_report} bytes and costs epsilon {float(loss.peak):.6g}.",
        f"Give {COLLECTION} to everyone who answers, and let them compare its public key:",
        collection.key,
    ]
    output.plain(result, lines)


@command.command()
@folder_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=int, default=8470, show_default=True, help="The port; 0 picks a free one.")
@store_option
@click.pass_obj
def serve(output: Output, folder: Path, host: str, port: int, store: str | None) -> None:
    """Accept batches of reports over HTTP until interrupted.

    Nothing about senders is stored or logged: no addresses, headers or times. It uses plain HTTP: put a reverse proxy
    with TLS, and without an access log, in front of it.
    """
    from discreet.serve.collector import collector_app, listen, run
    from discreet.serve.receive import Receiver

    with opened(folder, store) as found, listen(host, port) as listener:
        url = f"http://{host}:{listener.getsockname()[1]}"
        app = collector_app(Receiver(found.collection, found.store), found.signed)
        result = {"url": url, "collection": found.collection.name, "hash": found.collection.hash.hex()}
        run(
            app,
            listener,
            ready=lambda: output.plain(result, [f"Collecting {found.collection.name!r} on {url}; Ctrl-C ends it."]),
        )


@command.command()
@click.argument("collection", type=click.Path(path_type=Path, exists=True))
@click.argument("values", type=click.File("r"))
@click.option("--url", default="http://127.0.0.1:8470", show_default=True, help="The collector.")
@click.option("--epoch", type=int, default=0, show_default=True, help="The epoch of the values.")
@click.option("--batch", type=int, default=10_000, show_default=True, help="Reports in one request.")
@click.option("--key", help="The public key that must have signed the collection.")
@click.pass_obj
def send(output: Output, collection: Path, values: IO[str], url: str, epoch: int, batch: int, key: str | None) -> None:
    """Randomize VALUES here, one integer a line, and send the reports under COLLECTION.

    COLLECTION is the signed collection.json, or the folder that holds it. A batch is sent until it is acknowledged, and
    counts once.
    """
    from discreet.local.collection import read
    from discreet.local.sender import NotAccepted, Sender

    if batch < 1:
        raise BadParameter("batch", batch, why="a request has at least one report", fix="use 10000")
    asked = read(signed_text(collection), key=key)
    number = checked_epoch(asked, epoch)
    reports = asked.protocol.encode(_whole_numbers(values))
    sent = 0
    with closing(Sender(url, asked)) as sender, progress(output, len(reports), "sending") as advance:
        for part in reports.batches(batch):
            try:
                sender.send(part, number)
            except NotAccepted as refusal:
                what = f"{len(reports) - sent:,} of {len(reports):,} reports"
                fix = f"skip the first {sent:,} values, which are already counted: a value sent twice is paid twice"
                raise NotAccepted(what, why=f"{refusal.what}: {refusal.why}", fix=fix, value=sent) from refusal
            sent += len(part)
            advance(len(part))
    result = {"sent": sent, "epoch": number, "hash": asked.hash.hex()}
    output.plain(result, [f"{sent:,} reports are with the collector."])


@command.command()
@folder_argument
@click.option("--epoch", "epochs", type=int, multiple=True, help="Only this epoch. Repeatable.")
@click.option("--with", "others", type=click.Path(path_type=Path), multiple=True, help="Add an exported file.")
@click.option("--beta", type=float, default=0.05, show_default=True, help="The probability that an interval misses.")
@click.option("--post", help="Post-processing, such as simplex; default: raw estimates.")
@click.option("--top", type=int, help="Show only the largest estimates.")
@click.option("--fakes", type=int, help="Bound how far this many fake reports could move each estimate.")
@click.option("--plot", type=NEW_FILE, help="Draw the estimates into a file.")
@store_option
@click.pass_obj
def estimate(
    output: Output,
    folder: Path,
    epochs: tuple[int, ...],
    others: tuple[Path, ...],
    beta: float,
    post: str | None,
    top: int | None,
    fakes: int | None,
    plot: Path | None,
    store: str | None,
) -> None:
    """Estimate from the reports of FOLDER, with error bars."""
    from discreet.cli.shared.estimate_output import gathered, views
    from discreet.local.poisoning import influence

    with opened(folder, store) as found:
        collection = found.collection
        sketch = gathered(found, [checked_epoch(collection, epoch) for epoch in epochs], others)
    estimated = collection.protocol.estimate(sketch, beta=beta, post=post)
    shown = estimated if top is None else estimated.top(max(1, top))
    if plot is not None:
        with written(plot) as place:
            shown.plot(place)
    bound = None if fakes is None else influence(collection.protocol, fakes)
    result = {
        "collection": collection.name,
        "hash": collection.hash.hex(),
        "estimate": shown.to_dict(),
        "fakes": None if bound is None else {"fakes": bound.fakes, "low": bound.low, "high": bound.high},
        "plot": None if plot is None else str(plot),
    }
    output.show(result, *views(collection, shown, bound, plot))


@command.command()
@folder_argument
@store_option
@click.pass_obj
def status(output: Output, folder: Path, store: str | None) -> None:
    """Show how many reports have come in, what was rejected and why, and which epochs are unlike the others."""
    from discreet.cli.shared.estimate_output import status_record, status_views

    with opened(folder, store) as found:
        record = status_record(found)
    output.show(record, *status_views(record))


@command.command()
@folder_argument
@click.argument("file", type=NEW_FILE)
@store_option
@click.pass_obj
def export(output: Output, folder: Path, file: Path, store: str | None) -> None:
    """Write the sketches of all epochs to a Parquet FILE, to be added to those of other collectors."""
    from discreet.serve.parquet_sketches import export as write
    from discreet.serve.parquet_sketches import is_export

    if file.exists() and not is_export(file):
        fix = "choose another name; no option overwrites it"
        raise Refusal(f"file {file}", why="it has no sketches, and may be a table", fix=fix, value=str(file))
    with opened(folder, store) as found:
        sketches = found.sketches()
        with written(file) as place:
            write(place, found.collection, sketches)
    reports = sum(each.reports for each in sketches.values())
    output.plain({"file": str(file), "epochs": sorted(sketches), "reports": reports}, [f"{reports:,} reports: {file}"])


@command.command()
@folder_argument
@click.option("--epoch", type=int, help="Only this epoch; default: all.")
@store_option
@click.pass_obj
def close(output: Output, folder: Path, epoch: int | None, store: str | None) -> None:
    """Accept no more reports, and after the last epoch delete the hashes that identify repeated batches."""
    with opened(folder, store) as found:
        found.store.close(None if epoch is None else checked_epoch(found.collection, epoch))
        closed = sorted(found.store.closed())
    output.plain({"closed": closed}, [f"Closed: {', '.join(map(str, closed))}."])


def _whole_numbers(lines: IO[str]) -> NDArray[np.int64]:
    """Read one integer a line; the refusal names the line, never what stands in it."""
    import numpy as np

    found, fix = [], "write one integer a line"
    try:
        for number, line in enumerate(lines, 1):
            word = line.strip()
            if word and not re.fullmatch("-?[0-9]{1,18}", word):
                raise BadParameter("values", f"line {number}", why="it is not an integer", fix=fix)
            if word:
                found.append(int(word))
    except UnicodeDecodeError as error:
        raise BadParameter("values", "a file", why="it is not text", fix=fix) from error
    return np.array(found, dtype=np.int64)
