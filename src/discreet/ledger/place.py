"""Places: where a vault is kept, a file or a schema of a PostgreSQL database, and what lies beside it."""

from __future__ import annotations

import os
import re
from dataclasses import field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import data_home, state_home
from discreet.core.value import dataclass
from discreet.ledger.refusals import Tampered

SCHEMA = "discreet"

_URL = re.compile(r"postgres(?:ql)?:/", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[0-9a-f]{32}")
# Parameters of a URL that are no secrets; any other, known or yet to come, might be one.
_SHOWN = ("hostaddr", "service", "sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
# PostgreSQL cuts longer names, silently.
_LONGEST_NAME = 63


class Place(Protocol):
    """Where a vault is; its text is fit to be shown to anyone."""

    def anchor(self, vault_id: str) -> Path:
        """Return where this machine keeps the vault's anchor, unless it was told otherwise."""

    def folder(self, vault_id: str) -> Path:
        """Return the private folder of this machine for copies of rows; it may not exist yet."""

    def files(self, vault_id: str) -> Path:
        """Return the folder of published files, unless the policy names another; it may not exist yet."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A vault in a file, with its anchor and its folder beside it."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def anchor(self, vault_id: str = "") -> Path:  # noqa: ARG002  (lies beside the file, whatever its identifier)
        """Return where this machine keeps the vault's anchor, unless it was told otherwise."""
        return self.path.with_name(self.path.name + ".anchor")

    def folder(self, vault_id: str = "") -> Path:  # noqa: ARG002
        """Return the private folder of this machine for copies of rows; it may not exist yet."""
        return self.path.with_name(self.path.name + ".data")

    def files(self, vault_id: str = "") -> Path:  # noqa: ARG002
        """Return the folder of published files, unless the policy names another; it may not exist yet."""
        return self.path.with_name(self.path.name + ".files")


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A vault in one schema of a PostgreSQL database, by the URL that libpq reads and `?schema=`, which it does not.

    Guarantee: text and representation are made of user, host, database, schema and a few parameters that are known to
    be no secrets, so a password is never shown, wherever in the URL it stood.
    """

    url: str = field(repr=False)
    schema: str
    shown: str

    @classmethod
    def of(cls, url: str) -> ServerPlace:
        """Read a URL; one that libpq would not understand is refused without being repeated."""
        conninfo = psycopg().conninfo
        address, schema = _without_schema(url)
        try:
            parts = conninfo.conninfo_to_dict(address)
        except psycopg().Error:
            raise _refused(
                "it is not the URL of a PostgreSQL database", "write postgresql://user@host/database"
            ) from None
        if not schema or "\0" in schema or len(schema.encode(errors="replace")) > _LONGEST_NAME:
            raise _refused("the name of its schema is empty or too long", f"use up to {_LONGEST_NAME} letters")
        if schema.startswith("pg_") or schema in ("public", "information_schema"):
            raise _refused("its schema is one that others use", "leave ?schema= out, or name one for this vault alone")
        return cls(address, schema, _shown(parts, schema))

    def __str__(self) -> str:
        return self.shown

    def anchor(self, vault_id: str) -> Path:
        """Return where this machine keeps the vault's anchor, unless it was told otherwise."""
        return state_anchor(vault_id)

    def folder(self, vault_id: str) -> Path:
        """Return the private folder of this machine for copies of rows; it may not exist yet."""
        return data_home() / _checked(vault_id)

    def files(self, vault_id: str) -> Path:
        """Return the folder of published files, unless the policy names another; it may not exist yet."""
        return data_home() / f"{_checked(vault_id)}.files"


def state_anchor(vault_id: str) -> Path:
    """Return the anchor of a vault in the user's state folder, away from the vault's own."""
    return state_home() / f"{_checked(vault_id)}.anchor"


def place_of(text: str | Path) -> FilePlace | ServerPlace:
    """Return the place that a path or a URL means."""
    if _URL.match(str(text)):
        if isinstance(text, Path):
            raise _refused("a path cannot hold a URL, whose slashes it joins", "pass the URL as a text")
        return ServerPlace.of(text)
    path = Path(text).absolute()
    # What belongs to a vault lies beside the file itself, and not beside a link to it.
    linked = os.path.islink(path)  # noqa: PTH114  (says no of names that no file can have)
    return FilePlace(path.resolve() if linked else path)


def is_url(text: object) -> bool:
    """Whether a text is the URL of a database, rather than the path of a file."""
    return isinstance(text, str) and _URL.match(text) is not None


@cache
def psycopg() -> ModuleType:
    """Return the driver of PostgreSQL, or refuse with what installs it."""
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise MissingExtra("a vault in PostgreSQL", "postgres", "psycopg") from None
    return psycopg


def _without_schema(url: str) -> tuple[str, str]:
    """Take `schema=` off a URL's parameters."""
    from urllib.parse import unquote

    address, mark, query = url.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    others = [pair for pair in pairs if not pair.startswith("schema=")]
    named = [unquote(pair.removeprefix("schema=")) for pair in pairs if pair not in others]
    return address + (mark + "&".join(others) if others else ""), named[-1] if named else SCHEMA


def _shown(parts: dict[str, Any], schema: str) -> str:
    """Write a URL of what may be shown, by which the vault can be opened again where its password is at hand."""
    from urllib.parse import quote

    host, port, user = (str(parts.get(name) or "") for name in ("host", "port", "user"))
    where = "" if "/" in host else quote(host, safe=":,[]") + (f":{port}" if port else "")
    asked = {name: str(parts[name]) for name in _SHOWN if parts.get(name)}
    asked |= {"host": host} if "/" in host else {}  # the folder of a socket
    asked |= {"schema": schema} if schema != SCHEMA else {}
    more = "&".join(f"{name}={quote(value, safe='/:,')}" for name, value in asked.items())
    database = quote(str(parts.get("dbname") or ""), safe="")
    return f"postgresql://{quote(user, safe='')}{'@' if user else ''}{where}/{database}" + (f"?{more}" if more else "")


def _checked(vault_id: str) -> str:
    """Return the identifier, unless it would name a file elsewhere: a database says it, not this machine."""
    if _IDENTIFIER.fullmatch(vault_id) is None:
        raise Tampered("the vault's identifier", why="no ledger makes one like it", sequence=1)
    return vault_id


def _refused(why: str, fix: str) -> BadParameter:
    # Without the URL itself, in which there may be a password.
    return BadParameter("vault", "postgresql://...", why=why, fix=fix)
