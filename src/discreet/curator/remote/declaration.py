"""Declarations as they are told to analysts: what a table holds and protects, and never where its rows lie."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from discreet.ask.public_table import PublicTable
from discreet.ask.registered import Registered
from discreet.core import record as records
from discreet.core.schema import Table
from discreet.engines.source import Source
from discreet.plan.dimension import Dimension

# The header in which a published file says what it is.
ARTEFACT = "Discreet-Artefact"

_FIELDS = ("table", "version", "account", "revision")
# What stands for a source that lies behind a server: only the vault reads it.
_ELSEWHERE = Source("parquet", "behind a server")


def declaration_record(registered: Registered) -> dict[str, Any]:
    """Return what an analyst may know of a table, as plain JSON values.

    Guarantee: declared, all of it; the source and the types of its columns are left out.
    """
    return {
        "table": {**registered.table.record(), "source": None},
        "version": registered.version,
        "account": registered.account,
        "revision": registered.revision,
    }


def public_declaration_record(table: PublicTable) -> dict[str, Any]:
    """Return what an analyst may know of a public table; its source is left out."""
    return {"dimension": table.dimension.record(), "revision": table.revision}


def public_declaration_from(record: object) -> PublicTable:
    """Read what `public_declaration_record` returned, checking it anew."""
    found = records.fields("public", record, ("dimension", "revision"))
    dimension = Dimension.from_record(found["dimension"])
    return PublicTable(dimension, _ELSEWHERE, MappingProxyType({}), int(found["revision"]))


def declaration_from(record: object) -> Registered:
    """Read what `declaration_record` returned, checking it anew."""
    found = records.fields("table", record, _FIELDS)
    table = Table.from_record(found["table"])
    return Registered(
        table, _ELSEWHERE, int(found["version"]), str(found["account"]), MappingProxyType({}), int(found["revision"])
    )
