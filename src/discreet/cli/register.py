"""discreet register: put a table behind the vault, or a public one beside it, as the line or discreet.toml says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared import public_registration
from discreet.cli.shared.declaration_options import (
    column_of_words,
    column_option,
    source_of,
    unit_of_terms,
    unit_options,
)
from discreet.cli.shared.output import Output
from discreet.cli.shared.policy_changes import applied_lines, applied_record
from discreet.cli.shared.vault_options import budget_of, budget_options, opened, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.account.budgets.budget import Budget
    from discreet.ask.registered import Registered
    from discreet.core.rational import Number


@click.command()
@click.argument("table", required=False)
@click.argument("source", required=False)
@unit_options
@column_option
@budget_options("The lifetime budget")
@click.option("--group", metavar="NAME", help="The budget group: tables about the same people share one budget.")
@click.option(
    "--people",
    type=click.Choice(["same", "distinct"]),
    help="Say that the identifier, under another name, is that of the group; or that these are other people than those"
    " of all other accounts.",
)
@click.option(
    "--auto-rows",
    metavar="EPSILON",
    help="Buy a good number of rows a person, at most --max-rows, at this epsilon of the budget.",
)
@click.option("--rows", type=int, help="The number of rows, if that is public.")
@click.option("--delimiter", metavar="CHARACTER", help="The delimiter of a CSV file.")
@click.option("--public", is_flag=True, help="Register a table that protects nobody, for any question to join.")
@click.option("--key", metavar="COLUMNS", help="Of a public table: the column, or columns, that no two rows share.")
@click.option(
    "--fan-out",
    multiple=True,
    metavar="COLUMNS=ROWS",
    help="Of a public table: how many rows share a value of a column at most, ps_partkey=4.",
)
@click.option("--from", "policy", type=click.Path(path_type=Path), help="The policy to apply; default: discreet.toml.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    /,
    vault: Path | str,
    table: str | None,
    source: str | None,
    policy: Path | None,
    public: bool,
    **terms: Any,  # noqa: ANN401  (options of many types)
) -> None:
    """Put TABLE, with its rows in SOURCE, behind the vault; with --public, let questions join it.

    Without SOURCE the table is registered as discreet.toml describes it, and without TABLE the whole file is applied.
    """
    if source is None:
        _from_policy(output, vault, policy, table, {**terms, "public": public or None})
        return
    assert table is not None
    _only_here(policy)
    if public:
        with opened(vault) as curator:
            found = public_registration.registered(curator, table, source, terms)
        output.show(public_registration.public_record(found), *public_registration.public_views(found))
        return
    public_registration.check_private(terms)
    budget = budget_of(terms["epsilon"], terms["delta"], terms["rho"])
    columns = dict(map(column_of_words, terms["columns"]))
    with opened(vault) as curator:
        registered = curator.register(
            table,
            source_of(source, terms["delimiter"]),
            unit=unit_of_terms(terms),
            columns=columns,
            budget=budget,
            rows=terms["rows"],
            group=terms["group"],
            people=terms["people"],
            auto_rows=_epsilon(terms["auto_rows"]),
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


def _epsilon(text: str | None) -> Number | None:
    from discreet.core.rational import parse_written

    return None if text is None else parse_written("auto_rows", text)


def _is_said(option: str) -> bool:
    """Whether an option was given, on the line or in the environment."""
    return click.get_current_context().get_parameter_source(option) is not click.core.ParameterSource.DEFAULT


def _only_here(policy: Path | None) -> None:
    if policy is not None:
        why = "the table is described on the line already"
        raise BadParameter("from", str(policy), why=why, fix="leave SOURCE out to read the policy, or --from")


def _record(registered: Registered) -> dict[str, Any]:
    notes = {"notes": [*registered.notes]}
    return {"name": registered.name, "revision": registered.revision, **registered.record(), **notes}


def _amount(budget: Budget) -> str:
    from discreet.ask.registered import budget_record, budget_text

    return budget_text(budget_record(budget))


def _views(registered: Registered, amount: str) -> list[RenderableType]:
    from rich.text import Text

    unit = registered.table.unit
    whom = "single rows" if unit.is_row else f"people, identified by {unit.whom}"
    return [
        Text.assemble("Table ", (registered.name, "bold"), f" is registered, version {registered.version}."),
        Text(f"It protects {whom}, with a total budget of {amount} (account {registered.account})."),
        Text.assemble(
            "Look at it with ", ("discreet lint", "bold"), ", let someone ask with ", ("discreet grant", "bold"), "."
        ),
        *(Text(words) for words in registered.bought_words),
        *(Text(note, style="yellow") for note in registered.notes),
    ]
