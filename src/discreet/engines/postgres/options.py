"""The kind of source that PostgreSQL reads: a table of a database, found by a URL without a password."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.engines.source import Source, SourceKind, SourceOptions

_SCHEMES = ("postgresql", "postgres")
_WRITE = "write postgresql://user@host/database"
_SECRETS = frozenset({"password", "sslpassword"})
_ELSEWHERE = "leave it out, and put it into PGPASSWORD, into ~/.pgpass or into a service file, where libpq finds it"


@dataclass(frozen=True, slots=True)
class Server(SourceOptions):
    """Where a PostgreSQL database is found: a URL as libpq reads it, such as postgresql://reader@host/hospital.

    It is stored in the vault and shown to custodians, so that it must not hold a password.
    """

    url: str

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
        except (ValueError, AttributeError, TypeError):
            raise BadParameter("url", self.url, why="it is not a URL", fix=_WRITE) from None
        if not isinstance(self.url, str) or parts.scheme not in _SCHEMES or "\0" in self.url:
            # What is no URL might still hold a password.
            raise BadParameter("url", parts.scheme, why="it is not the URL of a PostgreSQL database", fix=_WRITE)
        user, _, host = parts.netloc.rpartition("@")
        named = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} & _SECRETS
        if ":" in user or named:
            shown = f"{parts.scheme}://{user.partition(':')[0]}@{host}{parts.path}"
            raise BadParameter("url", shown, why="the URL contains a password", fix=_ELSEWHERE)

    @property
    def shown(self) -> str:
        """The database without its options, for a custodian to read."""
        return self.url.partition("?")[0]


KINDS = {"postgres": SourceKind(Server, written="postgres(table, url)")}


def postgres(table: str, url: str) -> Source:
    """Describe a table of a PostgreSQL database, in the schema "public" unless it says "schema.table".

    The URL has no password: libpq finds it in PGPASSWORD, in ~/.pgpass or in a service file.
    """
    return Source("postgres", table if "." in table else f"public.{table}", Server(url))


def located(text: str) -> Source | None:
    """Return the source that postgresql://host/database#schema.table means; None for all else."""
    if not text.lower().startswith(tuple(f"{scheme}://" for scheme in _SCHEMES)):
        return None
    url, _, table = text.partition("#")
    if not table:
        why, fix = "it says which database and not which table", f"write {url}#schema.table"
        raise BadParameter("source", url, why=why, fix=fix)
    return postgres(table, url)
