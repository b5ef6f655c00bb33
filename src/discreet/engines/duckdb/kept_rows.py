"""Ranks: the cache of the rows that are kept of each person, one file for each version of a table."""

from __future__ import annotations

import glob
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from discreet.core.value import dataclass
from discreet.engines.duckdb.engine import literal
from discreet.engines.engine import Engine, EngineFailed

_SUFFIX = ".kept.parquet"


@dataclass(frozen=True, slots=True)
class Ranks:
    """A folder of Parquet files with rows as they were read, readable by their owner alone (0700, files 0600).

    It holds raw values of real people: keep it where the vault is, and remove it with `remove`, which costs nothing but
    the time to make it again. A file is known by the table, its version and its declaration, through the secret, so
    that a changed unit, schema or source never meets an old file; nothing about the data is in its name.
    """

    folder: Path
    secret: bytes

    def path(self, table: str, version: int, declaration: str) -> Path:
        """Return where the rows of a version of a table are kept."""
        key = hashlib.sha256(self.secret).digest()
        text = f"{len(table)}:{table}{version}:{declaration}".encode()
        return (
            self.folder / f"{_mark(key, table)}-{hashlib.blake2b(text, key=key, digest_size=16).hexdigest()}{_SUFFIX}"
        )

    def kept(self, engine: Engine, table: str, version: int, declaration: str, sql: str) -> str:
        """Return what stands after FROM to read the kept rows, which `sql` selects and the first caller writes."""
        path = self.path(table, version, declaration)
        if not path.exists():
            self._write(engine, path, sql)
        # A folder called year=2024 would be read as a column, in the place of the one that was kept.
        return f"read_parquet({literal(glob.escape(str(path)))}, hive_partitioning=false)"

    def remove(self, *, but: Iterable[str] = ()) -> int:
        """Remove the rows kept of all tables but those named, in whatever order; return how many files there were."""
        key = hashlib.sha256(self.secret).digest()
        marks = tuple(_mark(key, table) for table in but)
        found = [path for path in self.folder.glob(f"*{_SUFFIX}") if not path.name.startswith(marks)]
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    def _write(self, engine: Engine, path: Path, sql: str) -> None:
        """Write beside the final name and rename when complete, so that half a file is never read."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            handle, name = tempfile.mkstemp(prefix="draft-", suffix=".parquet", dir=self.folder)
            os.close(handle)
        except OSError:
            raise EngineFailed from None
        draft = Path(name)
        try:
            engine.run(f"COPY ({_exact(engine, sql)}) TO {literal(name)} (FORMAT parquet, COMPRESSION snappy)")
            draft.chmod(0o600)
            draft.replace(path)
        except OSError:
            raise EngineFailed from None
        finally:
            draft.unlink(missing_ok=True)


def _exact(engine: Engine, sql: str) -> str:
    """Write wide integers as text: as numbers they would be floats in Parquet."""
    described = engine.rows(f"DESCRIBE {sql}")
    wide = [str(name).replace('"', '""') for name, kind, *_ in described if kind == "HUGEINT"]
    texts = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in wide)
    return " ".join(("SELECT *", f"REPLACE ({texts})", "FROM", f"({sql})")) if wide else sql


def _mark(key: bytes, table: str) -> str:
    return hashlib.blake2b(table.encode(), key=key, digest_size=8).hexdigest()
