"""discreet register: put a table behind the vault, described on the line or in discreet.toml."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._applied import applied_lines, applied_record
from discreet.cli._ask import rows_of
from discreet.cli._vault import budget_of, budget_options, opened, vault_option
from discreet.cli.output import Output
from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.account.budget import Budget
    from discreet.core.column import Column
    from discreet.core.unit import Unit
    from discreet.curator.register import Registered
    from discreet.data.source import Source


@click.command()
@click.argument("table", required=False)
@click.argument("source", required=False)
@click.option(
    "--unit", metavar="UNIT", help="Whom to protect: row, or person:ID with the column that tells people apart."
)
@click.option("--max-rows", metavar="COUNT", help="The most rows of one person that are used.")
@click.option("--max-groups", type=int, help="The most groups of one question a person may be in.")
@click.option("--relation", type=click.Choice(["add_remove", "replace"]), help="How neighbours differ.")
@click.option("--bound", type=click.Choice(["query", "table"]), help="Where surplus rows are dropped.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=WHAT",
    help="age=0..110, cost=0..50000:0.01, day=2020-01-01..2024-12-31, ward=A,B,C, x=flag or x=text; ! for no nulls."
    " A key with a comma stands in double quotes.",
)
@budget_options("The lifetime budget")
@click.option("--group", metavar="NAME", help="The account, shared by tables about the same people.")
@click.option("--rows", type=int, help="The number of rows, if that is public.")
@click.option("--delimiter", metavar="CHARACTER", help="What separates the fields of a CSV file.")
@click.option("--from", "policy", type=click.Path(path_type=Path), help="The policy to read; discreet.toml by default.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    /,
    vault: Path | str,
    table: str | None,
    source: str | None,
    policy: Path | None,
    **terms: Any,  # noqa: ANN401  (options of many types)
) -> None:
    """Put TABLE behind the vault, its rows being in SOURCE.

    Without SOURCE the table is registered as discreet.toml describes it, and without TABLE the whole file is applied.
    """
    if source is None:
        _from_policy(output, vault, policy, table, terms)
        return
    assert table is not None
    _only_here(policy)
    budget = budget_of(terms["epsilon"], terms["delta"], terms["rho"])
    columns = dict(_column(words) for words in terms["columns"])
    with opened(vault) as curator:
        registered = curator.register(
            table,
            _source(source, terms["delimiter"]),
            unit=_unit(terms),
            columns=columns,
            budget=budget,
            rows=terms["rows"],
            group=terms["group"],
        )
        amount = _amount(curator.budget(registered.account))
    output.show(_record(registered), *_views(registered, amount))


def _from_policy(
    output: Output, vault: Path | str, path: Path | None, table: str | None, terms: dict[str, Any]
) -> None:
    from dataclasses import replace

    from discreet.curator.policy import NAME, read

    given = sorted(name for name, value in terms.items() if value not in (None, ()))
    if given:
        why = "without a source the table is described by the policy"
        raise BadParameter(given[0], terms[given[0]], why=why, fix="give TABLE and SOURCE, or leave the option out")
    policy = read(path or Path(NAME))
    if policy.vault is not None and not _is_said("vault"):
        vault = policy.vault
    if table is not None:
        policy = replace(policy, tables=(policy.table(table),), windows=(), grants=())
    with opened(vault) as curator:
        applied = policy.apply(curator)
    output.plain(
        {"applied": applied_record(applied)}, applied_lines(applied) or [f"{policy.path} describes nothing to apply."]
    )


def _is_said(option: str) -> bool:
    """Whether an option was given, on the line or in the environment."""
    return click.get_current_context().get_parameter_source(option) is not click.core.ParameterSource.DEFAULT


def _only_here(policy: Path | None) -> None:
    if policy is not None:
        why = "the table is described on the line already"
        raise BadParameter("from", str(policy), why=why, fix="leave SOURCE out to read the policy, or --from")


def _column(words: str) -> tuple[str, Column]:
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


def _unit(terms: dict[str, Any]) -> Unit:
    from discreet.curator.declare import unit_of

    if terms["unit"] is None:
        why, fix = "the protected unit has to be said", "use --unit row, or --unit person:ID --max-rows 20"
        raise BadParameter("unit", None, why=why, fix=fix)
    limits = {name: terms[name] for name in ("max_rows", "max_groups", "relation", "bound")}
    if terms["max_rows"] is not None:
        limits["max_rows"] = rows_of(terms["max_rows"])
    return unit_of(terms["unit"], **limits)


def _source(path: str, delimiter: str | None) -> str | Source:
    from discreet.data.source import csv

    return path if delimiter is None else csv(path, delimiter=delimiter)


def _record(registered: Registered) -> dict[str, Any]:
    notes = {"notes": [*registered.notes]}
    return {"name": registered.name, "revision": registered.revision, **registered.record(), **notes}


def _amount(budget: Budget) -> str:
    from discreet.curator.register import budget_record, budget_text

    return budget_text(budget_record(budget))


def _views(registered: Registered, amount: str) -> list[RenderableType]:
    from rich.text import Text

    unit = registered.table.unit
    whom = "single rows" if unit.is_row else f"people, told apart by {unit.identifier}"
    return [
        Text.assemble("Table ", (registered.name, "bold"), f" is registered, version {registered.version}."),
        Text(f"It protects {whom}, and may lose {amount} in all (account {registered.account})."),
        Text.assemble(
            "Look at it with ", ("discreet lint", "bold"), ", let somebody ask with ", ("discreet grant", "bold"), "."
        ),
        *(Text(note, style="yellow") for note in registered.notes),
    ]
