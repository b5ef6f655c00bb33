"""discreet disclose: an entry for the OpenDP deployments registry, filled in from the ledger."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.files import NEW_FILE, write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet disclose patients --curator "City Hospital" --region Switzerland --out patients.yaml
"""


@click.command(epilog=_EXAMPLE)
@click.argument("account", required=False)
@click.option("--name", help="What the data product is called; by default like the account.")
@click.option("--curator", help="Who publishes it.")
@click.option("--intended-use", help="What it is for.")
@click.option("--region", help="Which region it describes.")
@click.option("--sector", help="Technology, Healthcare, Education or Government.")
@click.option("--description", help="What it is, in a sentence.")
@click.option("--author", help="Who fills in this entry.")
@click.option("--out", type=NEW_FILE, help="Where to write it; by default it is printed.")
@vault_option
@click.pass_obj
def command(output: Output, /, vault: Path | str, account: str | None, out: Path | None, **told: str | None) -> None:
    """Fill in an entry of the OpenDP deployments registry for ACCOUNT, the only one by default, as YAML.

    Figures, unit, mechanisms and accounting come from the ledger; what it cannot know is named, and left for you.
    """
    with opened(vault) as curator:
        found = curator.disclose(account, **{name: text for name, text in told.items() if text})
    text = found.to_yaml()
    if out is not None:
        write_text(out, text)
    left = f"Still to be filled in: {', '.join(found.open)}." if found.open else "Every field is filled in."
    lines = [f"The entry is in {out}.", left] if out is not None else [text.rstrip("\n")]
    output.plain({"entry": dict(found.record), "open": [*found.open], "out": out and str(out)}, lines)
