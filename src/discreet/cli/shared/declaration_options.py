"""Declarations on the command line: the options that say who is protected and what its columns hold."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli.shared.question_options import rows_of
from discreet.core.errors import BadParameter, Refusal
from discreet.core.unit import LIMITS

if TYPE_CHECKING:
    from discreet.core.column import Column
    from discreet.core.unit import Unit
    from discreet.engines.source import Source

F = TypeVar("F", bound=Callable[..., Any])

_UNIT = (
    click.option("--unit", metavar="UNIT", help="The protected unit: row, or person:ID with the identifier column."),
    click.option("--max-rows", metavar="COUNT", help="The most rows that one person counts for."),
    click.option("--max-groups", type=int, help="The most groups of a question that one person counts in."),
    click.option("--max-rows-per-group", type=int, help="The most rows that one person counts for in a group."),
    click.option("--relation", type=click.Choice(["add_remove", "replace"]), help="How neighbours differ."),
    click.option("--bound", type=click.Choice(["query", "table"]), help="Where a person's further rows are dropped."),
)

column_option = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=WHAT",
    help="age=0..110, cost=0..50000:0.01, day=2020-01-01..2024-12-31, ward=A,B,C, x=flag or x=text; ! means not null."
    " Quote a key that contains a comma.",
)


def unit_options(function: F) -> F:
    """Add the options that declare the unit."""
    for option in reversed(_UNIT):
        function = option(function)
    return function


def column_of_words(words: str) -> tuple[str, Column]:
    """Read --column NAME=WHAT."""
    from discreet.curator.declare import column_of

    name, equals, what = words.partition("=")
    if not equals or not name.strip():
        raise BadParameter("column", words, why="it has no name", fix="write NAME=WHAT, for example age=0..110")
    try:
        return name.strip(), column_of(what)
    except Refusal as refusal:  # of many columns, the one at fault
        part = f": {refusal.name}" if isinstance(refusal, BadParameter) and refusal.name != "column" else ""
        refusal.what = f"--column {shlex.quote(words)}{part}"
        raise


def unit_of_terms(terms: dict[str, Any]) -> Unit:
    """Read --unit and its limits."""
    from discreet.curator.declare import unit_of

    if terms["unit"] is None:
        why, fix = "the protected unit has to be declared", "use --unit row, or --unit person:ID --max-rows 20"
        raise BadParameter("unit", None, why=why, fix=fix)
    limits = {name: terms[name] for name in LIMITS}
    if terms["max_rows"] is not None:
        limits["max_rows"] = rows_of(terms["max_rows"])
    return unit_of(terms["unit"], **limits)


def source_of(path: str, delimiter: str | None) -> str | Source:
    """Return the source that a path and --delimiter mean."""
    from discreet.engines.duckdb.options import csv

    return path if delimiter is None else csv(path, delimiter=delimiter)
