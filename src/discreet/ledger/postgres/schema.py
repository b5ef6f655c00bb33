"""The schema of a vault in PostgreSQL: the tables of `discreet.ledger.store`, belts around the entries, and a latch.

What is made and what is looked for when a vault is verified are written from one description, `TABLES`. The catalogue
is compared by its structure, since its own way of printing a definition changes from one release to the next.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.value import dataclass

VERSION = 4

_INTEGER, _TEXT, _BYTES, _REAL = "bigint", "text", "bytea", "double precision"


@dataclass(frozen=True, slots=True)
class Made:
    """A table: its columns and their types ("?": may be null), its key, and what its columns refer to."""

    columns: dict[str, str]
    key: tuple[str, ...]
    references: tuple[tuple[tuple[str, ...], str], ...] = ()
    check: str = ""

    def ddl(self, name: str, schema: str) -> str:
        """Write the statement that makes it."""
        lines = [f"{_quoted(column)} {_type(kind)}" for column, kind in self.columns.items()]
        lines.append(f"PRIMARY KEY ({_list(self.key)})")
        for columns, table in self.references:
            lines.append(f"FOREIGN KEY ({_list(columns)}) REFERENCES {schema}.{table} ({_list(TABLES[table].key)})")
        if self.check:
            lines.append(f"CHECK {self.check}")
        return f"CREATE TABLE {schema}.{name} ({', '.join(lines)})"


_TO_ENTRIES = ((("sequence",), "entries"),)

# Rows that follow from an entry name it, and the entry has to exist. Leases, draws and private records are not
# in the chain.
# The latch has one row, which every writer locks first; it also says which release can read the rest.
TABLES: dict[str, Made] = {
    "latch": Made({"one": _INTEGER, "format": _INTEGER}, ("one",), check="((one = 1))"),
    "entries": Made(
        {"sequence": _INTEGER, "kind": _TEXT, "body": _TEXT, "previous": _TEXT, "hash": _TEXT}, ("sequence",)
    ),
    "secrets": Made({"name": _TEXT, "value": _BYTES}, ("name",)),
    "limits": Made(
        {"account": _TEXT, "analyst": _TEXT, "period": _TEXT, "label": _TEXT, "state": _TEXT, "sequence": _INTEGER},
        ("account", "analyst", "period"),
        _TO_ENTRIES,
    ),
    "tallies": Made(
        {"account": _TEXT, "analyst": _TEXT, "loss": _TEXT, "delta": _TEXT, "sequence": _INTEGER},
        ("account", "analyst"),
        _TO_ENTRIES,
    ),
    "debits": Made(
        {
            "key": _TEXT,
            "identity": _TEXT,
            "price": _TEXT,
            "sequence": _INTEGER,
            "settled": f"{_INTEGER}?",
            "fence": f"{_INTEGER}?",
            "digest": f"{_TEXT}?",
            "seal": _TEXT,
        },
        ("key",),
        (*_TO_ENTRIES, (("settled",), "entries")),
    ),
    "answers": Made({"sequence": _INTEGER, "answer": _TEXT, "seal": _TEXT}, ("sequence",), _TO_ENTRIES),
    "leases": Made(
        {"key": _TEXT, "fence": _INTEGER, "seconds": _REAL, "expires": _REAL, "seal": _TEXT},
        ("key",),
        ((("key",), "debits"),),
    ),
    "draws": Made({"key": _TEXT, "sealed": _BYTES, "binding": _TEXT, "seal": _TEXT}, ("key",), ((("key",), "debits"),)),
    "documents": Made(
        {"kind": _TEXT, "name": _TEXT, "revision": _INTEGER, "record": _TEXT, "sequence": _INTEGER},
        ("kind", "name"),
        _TO_ENTRIES,
    ),
    "privates": Made(
        {"kind": _TEXT, "name": _TEXT, "revision": _INTEGER, "record": _TEXT, "seal": _TEXT},
        ("kind", "name"),
        ((("kind", "name"), "documents"),),
    ),
    "grants": Made(
        {
            "id": _TEXT,
            "analyst": _TEXT,
            "role": _TEXT,
            "tables": _TEXT,
            "expires": _TEXT,
            "salt": _TEXT,
            "hash": _TEXT,
            "revoked": f"{_INTEGER}?",
            "sequence": _INTEGER,
        },
        ("id",),
        (*_TO_ENTRIES, (("revoked",), "entries")),
    ),
    "checks": Made({"name": _TEXT, "at": _TEXT, "sequence": _INTEGER}, ("name",)),
    "seals": Made({"kind": _TEXT, "name": _TEXT, "seal": _TEXT}, ("kind", "name")),
    "roots": Made(
        {
            "one": _INTEGER,
            "sequence": _INTEGER,
            "hash": _TEXT,
            "total": _TEXT,
            "at": _TEXT,
            "wall": _TEXT,
            "seal": _TEXT,
        },
        ("one",),
    ),
    "artefacts": Made(
        {
            "name": _TEXT,
            "sequence": _INTEGER,
            "part": _INTEGER,
            "size": _INTEGER,
            "digest": _TEXT,
            "media": _TEXT,
            "seal": _TEXT,
        },
        ("name",),
        _TO_ENTRIES,
    ),
    "runs": Made(
        {"key": _TEXT, "sequence": _INTEGER, "kind": _TEXT, "parts": _INTEGER, "state": _TEXT, "seal": _TEXT},
        ("key",),
        (*_TO_ENTRIES, (("key",), "debits")),
    ),
    "parts": Made(
        {"key": _TEXT, "number": _INTEGER, "sequence": _INTEGER, "digest": f"{_TEXT}?", "seal": _TEXT},
        ("key", "number"),
        (*_TO_ENTRIES, (("key",), "runs")),
    ),
    "attempts": Made(
        {
            "key": _TEXT,
            "number": _INTEGER,
            "binding": _TEXT,
            "begun": _INTEGER,
            "holder": _TEXT,
            "seal": _TEXT,
        },
        ("key",),
        ((("key",), "runs"),),
    ),
}

# What happens to entries, the function that refuses it, and the catalogue's number for that kind of trigger.
TRIGGERS: dict[str, tuple[str, str, int]] = {
    "entries_are_never_changed": ("BEFORE UPDATE OR DELETE ON {}.entries FOR EACH ROW", "entries_stand", 27),
    "entries_are_never_removed": ("BEFORE TRUNCATE ON {}.entries FOR EACH STATEMENT", "entries_stand", 34),
    "entries_follow_each_other": ("BEFORE INSERT ON {}.entries FOR EACH ROW", "entries_follow", 7),
}


def quoted(schema: str) -> str:
    """Write the schema's name as SQL does."""
    return _quoted(schema)


def functions(schema: str) -> dict[str, str]:
    """Return the bodies of the functions that the triggers call."""
    return {
        "entries_stand": "BEGIN RAISE EXCEPTION 'entries are never changed'; END",
        "entries_follow": f"""BEGIN
  IF NEW."sequence" <> (SELECT coalesce(max("sequence"), 0) + 1 FROM {quoted(schema)}.entries) THEN
    RAISE EXCEPTION 'entries follow each other';
  END IF;
  RETURN NEW;
END""",  # noqa: S608
    }


def statements(schema: str) -> list[str]:
    """Write all that makes an empty vault, in order; to be run in one transaction."""
    name = quoted(schema)
    made = [f"CREATE SCHEMA {name}", f"REVOKE ALL ON SCHEMA {name} FROM PUBLIC"]
    made += [table.ddl(each, name) for each, table in TABLES.items()]
    made.append(f"REVOKE ALL ON ALL TABLES IN SCHEMA {name} FROM PUBLIC")
    for each, body in functions(schema).items():
        made.append(f"CREATE FUNCTION {name}.{each}() RETURNS trigger LANGUAGE plpgsql AS $body${body}$body$")
        made.append(f"REVOKE ALL ON FUNCTION {name}.{each}() FROM PUBLIC")
    for each, (when, function, _) in TRIGGERS.items():
        made.append(f"CREATE TRIGGER {each} {when.format(name)} EXECUTE FUNCTION {name}.{function}()")
    made.append(f"INSERT INTO {name}.latch VALUES (1, {VERSION})")  # noqa: S608
    return made


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(_quoted, names))


def _type(kind: str) -> str:
    """Write a column's type; texts are ordered and compared by their bytes, on every server."""
    plain = kind.removesuffix("?")
    return plain + (' COLLATE "C"' if plain == _TEXT else "") + ("" if kind.endswith("?") else " NOT NULL")


# What turns a vault of an older format into the next one, by its format; "{0}" stands for the schema's name.
# Format 3 has the same tables, and kinds of entries that older releases do not know; format 4 adds files, and releases
# of many parts.
STEPS: Mapping[int, tuple[str, ...]] = {
    2: (),
    3: (
        *(TABLES[each].ddl(each, "{0}") for each in ("artefacts", "runs", "parts", "attempts")),
        "REVOKE ALL ON ALL TABLES IN SCHEMA {0} FROM PUBLIC",
    ),
}
