"""Public registration: what discreet register --public reads and shows, for tables that protect nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.cli.shared.declaration_options import column_of_words, source_of
from discreet.core.errors import BadParameter
from discreet.core.unit import LIMITS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.ask.public_table import PublicTable
    from discreet.curator.curator import Curator

# What only a table of people has.
_PRIVATE = ("unit", *LIMITS, "auto_rows", "epsilon", "delta", "rho", "group", "people", "rows")


def registered(curator: Curator, table: str, source: str, terms: dict[str, Any]) -> PublicTable:
    """Register a public table as the line describes it."""
    for name in _PRIVATE:
        if terms[name] is not None:
            why = "a public table protects nobody, so that it has neither people nor a budget"
            raise BadParameter(name, terms[name], why=why, fix="leave it out, or leave --public out")
    columns = dict(map(column_of_words, terms["columns"])) or None
    fan_out = dict(map(_fan_out, terms["fan_out"])) or None
    key = _names(terms["key"]) if terms["key"] else None
    return curator.register_public(
        table, source_of(source, terms["delimiter"]), key=key, fan_out=fan_out, columns=columns
    )


def check_private(terms: dict[str, Any]) -> None:
    """Refuse of a private table what only a public one is told."""
    for name in ("key", "fan_out"):
        if terms[name]:
            why = "only a public table is registered by its key"
            fix = "add --public, if nobody has to be protected in it, or leave it out"
            raise BadParameter(name, terms[name], why=why, fix=fix)


def public_record(table: PublicTable) -> dict[str, Any]:
    """Return a public table for programs."""
    dimension = table.dimension.record()
    return {
        "name": table.name,
        "public": True,
        "version": table.version,
        "columns": dimension["columns"],
        "reuses": dimension["reuses"],
    }


def public_views(table: PublicTable) -> list[RenderableType]:
    """Say that a public table is registered."""
    from rich.text import Text

    from discreet.ask.public_table import reuse_words

    return [
        Text.assemble("Public table ", (table.name, "bold"), f" is registered, version {table.version}."),
        Text(f"Any question of the vault may join it: {reuse_words(table.dimension)}. It has no budget."),
        *(Text(note, style="yellow") for note in table.notes),
    ]


def _names(words: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in words.split(","))


def _fan_out(words: str) -> tuple[tuple[str, ...], int]:
    names, _, most = words.rpartition("=")
    if not names or not most.strip().isdecimal():
        why, fix = "it says of which columns, and how many rows", "write --fan-out ps_partkey=4"
        raise BadParameter("fan-out", words, why=why, fix=fix)
    return _names(names), int(most)
