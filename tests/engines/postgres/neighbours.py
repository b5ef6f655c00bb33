"""What PostgreSQL reads, for the suite of neighbours: tables with columns of every type that it knows."""

from itertools import count

import psycopg

from discreet.engines.postgres.options import postgres
from discreet.engines.postgres.source import settle
from tests.neighbours import values as v
from tests.neighbours.sources import TEXTS, WHOLES, Kind
from tests.postgres import shared

_NAMES = count()


def exact(*hostile):
    """Exact numbers of a database, as they are written."""
    return v.Family(v.STEPS, (1, 2.5, 40), (*hostile, "NaN", "0.00", None))


def time(*hostile):
    """Days and moments of a database, as they are written."""
    return v.Family(v.WORDS["day"][0], ("2020-02-03", "2021-01-01"), (*hostile, "infinity", "-infinity", None))


UUIDS = tuple(f"0000000{number}-0000-0000-0000-000000000000" for number in range(3))
POSTGRES = {
    "smallint": WHOLES["int16"], "integer": WHOLES["int32"], "bigint": WHOLES["int64"], "real": v.floats(*v.SINGLE),
    "double precision": v.floats(*v.DOUBLE), "real missing": v.floats(*v.SINGLE, v.MISSING),
    "double precision missing": v.floats(*v.DOUBLE, v.MISSING), "boolean": v.FLAGS,
    "numeric": exact("Infinity", "-Infinity", "9" * 5000, "-0." + "1" * 5000),
    "numeric(9,2)": exact("9999999.99", "-9999999.99"),
    "numeric(1000,500)": exact("9" * 400, "-" + "9" * 400, "1e-400"),
    "date": time("4713-01-01 BC", "5874897-12-31"), "timestamp": time("4713-01-01 BC", "294276-12-31"),
    "timestamptz": time("4713-01-02 BC", "294276-12-31"), **TEXTS,
    "char(7)": v.texts("key"), "varchar": v.texts("place"),
    "mood": v.Family(v.WORDS["key"][0], ("a", "b"), ("c", None)),
    "uuid": v.Family(v.WORDS["word"][0], UUIDS, ("f" * 32, "0" * 32, None)),
}  # fmt: skip


class Postgres(Kind):
    """A table of a database."""

    types = POSTGRES
    identifiers = ("bigint", "double precision", "text word", "numeric", "uuid")
    checked = 4

    def __init__(self):
        self.url = None

    def made(self, columns, folder):
        self.url = self.url or shared().database()
        table = f"t{next(_NAMES)}"
        kinds = [
            kind.removesuffix(" missing") if not kind.startswith("text") else "text" for kind, _ in columns.values()
        ]
        listed = ", ".join(f'"{name}" {kind}' for name, kind in zip(columns, kinds, strict=True))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "DO $$ BEGIN CREATE TYPE mood AS ENUM ('a', 'b', 'c'); EXCEPTION WHEN OTHERS THEN NULL; END $$"
            )
            connection.execute(f"CREATE TABLE {table} ({listed})")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in zip(*(found for _, found in columns.values()), strict=True):
                    copy.write_row([cut(value, kind) for value, kind in zip(row, kinds, strict=True)])
        return settle(postgres(table, self.url))


def cut(value, kind):
    """A value as a column of the type can store it."""
    return value[:7] if kind == "char(7)" and value else None if value is None else str(value)


KINDS = {"postgres": Postgres()}
