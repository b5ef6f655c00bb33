"""Spellings: identifiers that become one when blanks and case are disregarded, and so may be one person twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.curator.raw_values import quoted
from discreet.engines.physical import Physical

if TYPE_CHECKING:
    import duckdb

# White space of every kind, at both ends.
_BLANKS = r"^[\s\p{Z}]+|[\s\p{Z}]+$"


def merging(
    engine: duckdb.DuckDBPyConnection, identifier: str, physical: str
) -> tuple[int, int, tuple[str, str]] | None:
    """Return how many identifiers become how many when trimmed and folded, with one pair; None where none does.

    "P7" and "p7 " do. Each is a person of its own to every answer, so one human counts, and loses, twice.
    """
    if Physical.parse(physical).family != "text":
        return None
    name = f"CAST({quoted(identifier)} AS VARCHAR)"
    folded = f"lower(nfc_normalize(regexp_replace({name}, '{_BLANKS}', '', 'g')))"
    found = engine.execute(
        "SELECT sum(n), count(*), arg_min([least, most], f) FROM ("  # noqa: S608  (quoted)
        f"SELECT {folded} AS f, count(DISTINCT {name}) AS n, min({name}) AS least, max({name}) AS most FROM source"
        f" WHERE {name} IS NOT NULL GROUP BY 1 HAVING n > 1)"
    ).fetchone()
    if found is None or not found[1]:
        return None
    spelled, people, (least, most) = found
    return int(spelled), int(people), (least, most)
