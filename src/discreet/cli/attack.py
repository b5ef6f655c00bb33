"""discreet attack: attack a copy of a table and see which releases are broken."""

from __future__ import annotations

import click

from discreet.cli.shared.folder import Folder
from discreet.core.registry import Registry

attacks = Registry("attack", "discreet.cli.attacks", entry=lambda _: "command")


@click.group(cls=Folder, registry=attacks)
def command() -> None:
    """Attack a copy of a table. It uses no budget and never touches a vault."""
