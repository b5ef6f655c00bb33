"""discreet init: make a vault, and a discreet.toml to describe its tables in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.files import write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.policy_changes import applied_lines, applied_record
from discreet.cli.shared.vault_options import PLACE, VAULT
from discreet.core.errors import BadParameter, Refusal
from discreet.core.file import Occupied

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.curator.policy import Policy

TEMPLATE = """\
# The tables and grants of the vault. `discreet register` applies this file; the vault is authoritative.
# Declare what you know without looking: nothing here should be copied from the data.

vault = "{vault}"

# [tables.visits]
# source = "visits.csv"                                  # .csv, .csv.gz, .parquet, a folder or a pattern
# unit = {{ person = "patient_id", max_rows = 20 }}        # or "row", where nobody has two rows
# budget = {{ epsilon = 3, delta = 1e-6 }}                 # permanent: it cannot be changed later
# group = "patients"                                     # the budget group: tables about the same people
# rows = 1_000_000                                       # only if the size is public
#
# [tables.visits.columns]
# age = "0..110"
# cost = "0..50000:0.01"                                 # rounded to cents
# ward = ["A", "B", "C"]
# admitted = "2020-01-01..2024-12-31"
# emergency = "flag"
#
# [windows.patients]                                     # at most this much in a month
# epsilon = 1
# delta = 1e-7
#
# [grants.alice]
# tables = ["visits"]
# budget = {{ epsilon = 1, delta = 1e-6 }}
# expires = "90d"
#
# [work]                                                 # limits on every question; these are the defaults
# least_price = 1e-6                                     # the minimum price of a question, as a share of the budget
# partners = 10000                                       # the most rows that all joins of a question make of one row
# deadline = 3600                                        # seconds that an engine may work on a question
# pace = 0                                               # response times are rounded up to multiples of it
#
# [withhold]                                             # groups of fewer people are withheld, by a noisy count
# below = 10
"""


@click.command()
@click.argument("vault", required=False, type=PLACE)
@click.option("--from", "policy", type=click.Path(path_type=Path), help="Apply this discreet.toml to the new vault.")
@click.option(
    "--propose",
    metavar="SOURCE",
    help="Propose discreet.toml for the schema of a table of people, postgresql://host/shop#public.customer: links,"
    " keys and public tables come from its catalogue, bounds and budgets never do.",
)
@click.option("--person", metavar="COLUMN", help="With --propose: the column that identifies people.")
@click.pass_obj
def command(
    output: Output, vault: Path | str | None, policy: Path | None, propose: str | None, person: str | None
) -> None:
    """Make a vault: one file that only you can read, with its tables, budgets and ledger.

    VAULT may be a postgresql:// URL: the vault is then a schema of that database, named discreet unless ?schema= names
    another. Anyone who can read the file, or the schema, is its custodian. The token is for access without it; keep it
    elsewhere, like the public key and the head.
    """
    from discreet.curator.curator import Curator
    from discreet.curator.policy import read
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.place import is_url, place_of

    proposal = _proposal(policy, propose, person)
    wanted = None if policy is None else read(policy)
    given = vault or _default(wanted)
    shown = str(place_of(given)) if is_url(given) else str(given)
    if Ledger.exists(given):
        why, fix = "it already exists", "apply a policy to it with discreet register, or use another path"
        raise Refusal(f"vault {shown}", why=why, fix=fix, value=shown)
    with Curator(given) as curator, _undone_on_failure(curator):
        token = curator.grant("custodian", role="custodian")
        applied = [] if wanted is None else wanted.apply(curator)
        found = curator.verify()
    result = {
        "vault": shown,
        "head": found.head,
        "public_key": found.public_key,
        "token": token,
        "policy": None if policy is not None else _described(curator.path, proposal),
        "applied": applied_record(applied),
    }
    output.plain(result, [*_lines(curator.path, result), *applied_lines(applied)])


def _proposal(policy: Path | None, source: str | None, person: str | None) -> str | None:
    """Return the tables that a catalogue proposes, before a vault is made."""
    from discreet.curator.policy import NAME
    from discreet.curator.schemas.proposal import proposed
    from discreet.engines.source import locate

    if source is None or person is None:
        if source != person:
            why, fix = "a schema is proposed around a table and its people", "give --propose SOURCE --person COLUMN"
            raise BadParameter("propose", source or person, why=why, fix=fix)
        return None
    if policy is not None:
        raise BadParameter("from", str(policy), why="a policy is proposed or applied", fix="leave one of both out")
    if Path(NAME).exists():
        raise Occupied(f"file {NAME}", why="it is there already", fix="move it away, or go on with it", value=NAME)
    return proposed(locate(source), person)


@contextmanager
def _undone_on_failure(curator: Curator) -> Iterator[None]:
    """Remove a vault that could not be finished: it has answered nothing, so nothing is forgotten with it."""
    try:
        yield
    except BaseException:
        curator.ledger.discard()
        raise


def _default(policy: Policy | None) -> Path | str:
    from discreet.ledger.place import is_url

    if policy is not None and policy.vault is not None:
        return policy.vault
    named = os.environ.get("DISCREET_VAULT") or VAULT
    return named if is_url(named) else Path(named)


def _described(vault: Path | str, proposal: str | None) -> str | None:
    """Write a policy to begin with beside the vault, or here; None if it already exists, or none can be written."""
    from discreet.curator.policy import NAME

    beside = vault.resolve().with_name(NAME) if isinstance(vault, Path) else Path(NAME)
    if beside.exists():
        return None
    name = vault.name if isinstance(vault, Path) else vault
    try:
        quoted = json.dumps(name, ensure_ascii=False)[1:-1]  # TOML escapes as JSON does
        told = TEMPLATE.format(vault=quoted) if proposal is None else f'vault = "{quoted}"\n\n{proposal}'
        write_text(beside, told)
    except (OSError, UnicodeEncodeError, Refusal):  # the vault is made by now, and its token is still to be shown
        return None
    return beside.name


def _lines(vault: Path | str, result: Mapping[str, object]) -> list[str]:
    # What is for copying stands whole on a line of its own, however narrow the screen.
    whose = (
        "which only you can read" if isinstance(vault, Path) else "and anyone who can read its schema is a custodian"
    )
    lines = [f"The vault is {vault}, {whose}.", "Keep these elsewhere; the token is shown only once."]
    for label, name in (("custodian's token", "token"), ("public key", "public_key"), ("head", "head")):
        lines += [f"{label}:", str(result[name])]
    written = result["policy"]
    return [*lines, f"Describe your tables in {written}, then run discreet register."] if written else lines
