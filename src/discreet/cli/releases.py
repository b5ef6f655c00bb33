"""discreet releases: what was paid for and published, with its files, and copies of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.files import NEW_FILE, written
from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.release_list import Release

_EXAMPLE = """\b
discreet releases --analyst alice
discreet releases --file 5d41402abc4b2a76b9719d911017c592.json --out model.json
"""


@click.command(epilog=_EXAMPLE)
@click.option("--analyst", metavar="NAME", help="Those of one analyst; by default everybody's.")
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Those of the analyst who holds this token.")
@click.option("--file", "name", metavar="NAME", help="Copy this published file to --out.")
@click.option("--out", type=NEW_FILE, help="Where to copy it.")
@vault_option
@click.pass_obj
def command(
    output: Output, vault: Path | str, analyst: str | None, token: str | None, name: str | None, out: Path | None
) -> None:
    """List what was paid for, the newest last, and the files that were published with it.

    A file is copied only if it is what was settled: one that was lost or changed is refused with exit code 5.
    """
    if (name is None) != (out is None):
        why, fix = "a file is copied to a place", "give both --file NAME and --out FILE, or neither"
        raise BadParameter("file", name, why=why, fix=fix)
    if token is not None and analyst is not None:
        why, fix = "a token is that of one analyst", "leave --analyst out"
        raise BadParameter("analyst", analyst, why=why, fix=fix)
    with opened(vault) as curator:
        session = curator if token is None else curator.session(token)
        if name is not None and out is not None:
            with written(out) as place:
                place.unlink()
                session.artefact(name, place)
            output.plain({"file": name, "out": str(out)}, [f"{name} is copied to {out}: it is what was settled."])
            return
        found = curator.releases(analyst) if token is None else session.releases()
    output.plain({"releases": [each.record() for each in found]}, _lines(found))


def _lines(found: Sequence[Release]) -> Iterator[str]:
    """Say what was released, a line each, and a line for each file."""
    if not found:
        yield "Nothing was released."
    for each in found:
        parts = f", {each.parts:,} parts" if each.parts else ""
        who = each.analyst or "the custodian"
        yield f"entry {each.sequence}, {each.at}, {who}: {each.label} ({each.settled}{parts})"
        for file in each.files:
            yield f"  {file.name}  {file.size:,} bytes  sha256 {file.sha256}"
