"""Physical types: what a source stores, gathered into families that are read alike."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from discreet.core.value import dataclass

Family = Literal["integer", "decimal", "numeric", "double", "boolean", "text", "date", "timestamp", "instant", "other"]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_RANGES = {name: (-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in _BITS.items()}
_RANGES |= {f"U{name}": (0, (1 << bits) - 1) for name, bits in _BITS.items()}
_FAMILIES: dict[str, Family] = {
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "double",
    "FLOAT": "double",
    "NUMERIC": "numeric",
    "REAL": "double",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "instant",
    "TIMESTAMPTZ_NS": "instant",
    "UUID": "text",
    "VARCHAR": "text",
}
# Moments in milliseconds, in a Parquet file: DuckDB converts them to microseconds and fails on those too far away,
# whatever is asked, so that they are never read.
MILLISECONDS = "TIMESTAMP (MILLISECONDS)"
_DECIMAL = re.compile(r"DECIMAL\(([0-9]+), ?([0-9]+)\)")
_ENUM = re.compile(r"ENUM\(.*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Physical:
    """A physical type: its family, and for exact numbers the range and the decimal places."""

    name: str
    family: Family
    low: int = 0
    high: int = 0
    places: int = 0
    digits: int = 0

    @classmethod
    @lru_cache(maxsize=1024)
    def parse(cls, name: str) -> Physical:
        """Read the name that the engine gives to a type; what is not known is of the family "other"."""
        upper = name.strip()
        upper = upper if upper.startswith("ENUM") else upper.upper()
        if upper in _RANGES:
            return cls(upper, "integer", *_RANGES[upper])
        if found := _DECIMAL.fullmatch(upper):
            digits, places = int(found[1]), int(found[2])
            return cls(upper, "decimal", 1 - 10**digits, 10**digits - 1, places, digits)
        return cls(upper, "text" if _ENUM.fullmatch(upper) else _FAMILIES.get(upper, "other"))
