"""discreet init: make a vault, and a discreet.toml to describe its tables in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import click

from discreet.cli._applied import applied_lines, applied_record
from discreet.cli._vault import VAULT
from discreet.cli.output import Output
from discreet.core.errors import Refusal

if TYPE_CHECKING:
    from discreet.curator.policy import Policy

TEMPLATE = """\
# What the vault should hold. `discreet register` applies this file; the vault leads.
# Declare what you know without looking: nothing here should be copied from the data.

vault = "{vault}"

# [tables.visits]
# source = "visits.csv"                                  # .csv, .csv.gz, .parquet, a folder or a pattern
# unit = {{ person = "patient_id", max_rows = 20 }}        # or "row", where nobody has two rows
# budget = {{ epsilon = 3, delta = 1e-6 }}                 # for good: it cannot be raised later
# group = "patients"                                     # tables about the same people share one budget
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
"""


@click.command()
@click.argument("vault", required=False, type=click.Path(path_type=Path))
@click.option("--from", "policy", type=click.Path(path_type=Path), help="Apply this discreet.toml to the new vault.")
@click.pass_obj
def command(output: Output, vault: Path | None, policy: Path | None) -> None:
    """Make a vault: one file that only you can read, with its tables, budgets and ledger.

    Whoever can read the file is its custodian. The token shown is for the places where the file is not at hand; like
    the public key and the head, keep it somewhere else.
    """
    from discreet.curator.curator import Curator
    from discreet.curator.policy import NAME, read

    wanted = None if policy is None else read(policy)
    path = vault or _default(wanted)
    if path.exists():
        why, fix = "there is one already", "apply a policy to it with discreet register, or use another path"
        raise Refusal(f"vault {path}", why=why, fix=fix, value=str(path))
    with _undone_on_failure(path), Curator(path) as curator:
        token = curator.grant("custodian", role="custodian")
        applied = [] if wanted is None else wanted.apply(curator)
        found = curator.verify()
    described = path.resolve().with_name(NAME)
    if policy is None and not described.exists():
        described.write_text(TEMPLATE.format(vault=path.name), encoding="utf-8")
        written: str | None = str(described.name)
    else:
        written = None
    result = {
        "vault": str(path),
        "head": found.head,
        "public_key": found.public_key,
        "token": token,
        "policy": written,
        "applied": applied_record(applied),
    }
    output.plain(result, [*_lines(path, result, written), *applied_lines(applied)])


@contextmanager
def _undone_on_failure(path: Path) -> Iterator[None]:
    """Remove a vault that could not be finished: it has answered nothing, so that nothing is forgotten with it."""
    try:
        yield
    except BaseException:
        for ending in ("", ".anchor", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        rmtree(path.with_name(path.name + ".data"), ignore_errors=True)
        raise


def _default(policy: Policy | None) -> Path:
    if policy is not None and policy.vault is not None:
        return policy.vault
    return Path(os.environ.get("DISCREET_VAULT") or VAULT)


def _lines(path: Path, result: Mapping[str, object], written: str | None) -> list[str]:
    # What is for copying stands whole on a line of its own, however narrow the screen.
    lines = [f"The vault is {path}, which only you can read.", "Keep these elsewhere; the token is shown this once."]
    for label, name in (("custodian's token", "token"), ("public key", "public_key"), ("head", "head")):
        lines += [f"{label}:", str(result[name])]
    return [*lines, f"Describe your tables in {written}, then run discreet register."] if written else lines
