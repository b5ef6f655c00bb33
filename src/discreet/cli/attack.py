"""discreet attack: try to take people out of a copy of a table, and see what falls and what holds."""

from __future__ import annotations

import click

from discreet.cli.shared.folder import Folder
from discreet.core.registry import Registry

attacks = Registry("attack", "discreet.cli.attacks", entry=lambda _: "command")


@click.group(cls=Folder, registry=attacks)
def command() -> None:
    """Attack a copy of a table: under no budget, and never what a vault holds."""
