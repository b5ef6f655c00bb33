"""The schema of a vault in SQLite: the tables of `discreet.ledger.store`, and belts around the entries."""

from __future__ import annotations

from collections.abc import Mapping

# "DISC", where SQLite keeps a mark of whose file it is.
APPLICATION_ID = 0x44495343
VERSION = 4

# What format 4 adds: files, and releases of many parts.
_RELEASES: tuple[str, ...] = (
    """CREATE TABLE artefacts (
  "name" TEXT NOT NULL PRIMARY KEY,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  "part" INTEGER NOT NULL,
  "size" INTEGER NOT NULL,
  "digest" TEXT NOT NULL,
  "media" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE runs (
  "key" TEXT NOT NULL PRIMARY KEY REFERENCES debits,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  "kind" TEXT NOT NULL,
  "parts" INTEGER NOT NULL,
  "state" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE parts (
  "key" TEXT NOT NULL REFERENCES runs,
  "number" INTEGER NOT NULL,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  "digest" TEXT,
  "seal" TEXT NOT NULL,
  PRIMARY KEY ("key", "number")
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE attempts (
  "key" TEXT NOT NULL PRIMARY KEY REFERENCES runs,
  "number" INTEGER NOT NULL,
  "binding" TEXT NOT NULL,
  "begun" INTEGER NOT NULL,
  "holder" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
)

# What turns a vault of an older format into the next one, by its format; the statements end up in `STATEMENTS` as well.
# Format 3 has the same tables, and kinds of entries that older releases do not know.
STEPS: Mapping[int, tuple[str, ...]] = {2: (), 3: _RELEASES}

# Rows that follow from an entry name it, and the entry has to exist. Leases, draws, attempts and private records
# are not in the chain.
STATEMENTS: tuple[str, ...] = (
    """CREATE TABLE entries (
  "sequence" INTEGER PRIMARY KEY,
  "kind" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "previous" TEXT NOT NULL,
  "hash" TEXT NOT NULL
) STRICT""",
    """CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END""",
    """CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END""",
    """CREATE TRIGGER entries_follow_each_other BEFORE INSERT ON entries
WHEN NEW."sequence" <> (SELECT coalesce(max("sequence"), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'entries follow each other'); END""",
    """CREATE TABLE secrets (
  "name" TEXT NOT NULL PRIMARY KEY,
  "value" BLOB NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE limits (
  "account" TEXT NOT NULL,
  "analyst" TEXT NOT NULL,
  "period" TEXT NOT NULL,
  "label" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  PRIMARY KEY ("account", "analyst", "period")
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE tallies (
  "account" TEXT NOT NULL,
  "analyst" TEXT NOT NULL,
  "loss" TEXT NOT NULL,
  "delta" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  PRIMARY KEY ("account", "analyst")
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE debits (
  "key" TEXT NOT NULL PRIMARY KEY,
  "identity" TEXT NOT NULL,
  "price" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  "settled" INTEGER REFERENCES entries,
  "fence" INTEGER,
  "digest" TEXT,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE answers (
  "sequence" INTEGER NOT NULL PRIMARY KEY REFERENCES entries,
  "answer" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT""",
    """CREATE TABLE leases (
  "key" TEXT NOT NULL PRIMARY KEY REFERENCES debits,
  "fence" INTEGER NOT NULL,
  "seconds" REAL NOT NULL,
  "expires" REAL NOT NULL,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE draws (
  "key" TEXT NOT NULL PRIMARY KEY REFERENCES debits,
  "sealed" BLOB NOT NULL,
  "binding" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE documents (
  "kind" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "record" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL REFERENCES entries,
  PRIMARY KEY ("kind", "name")
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE privates (
  "kind" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "record" TEXT NOT NULL,
  "seal" TEXT NOT NULL,
  PRIMARY KEY ("kind", "name"),
  FOREIGN KEY ("kind", "name") REFERENCES documents
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE grants (
  "id" TEXT NOT NULL PRIMARY KEY,
  "analyst" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  "tables" TEXT NOT NULL,
  "expires" TEXT NOT NULL,
  "salt" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "revoked" INTEGER REFERENCES entries,
  "sequence" INTEGER NOT NULL REFERENCES entries
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE checks (
  "name" TEXT NOT NULL PRIMARY KEY,
  "at" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE seals (
  "kind" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "seal" TEXT NOT NULL,
  PRIMARY KEY ("kind", "name")
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE roots (
  "one" INTEGER NOT NULL PRIMARY KEY,
  "sequence" INTEGER NOT NULL,
  "hash" TEXT NOT NULL,
  "total" TEXT NOT NULL,
  "at" TEXT NOT NULL,
  "wall" TEXT NOT NULL,
  "seal" TEXT NOT NULL
) STRICT""",
    *_RELEASES,
)
