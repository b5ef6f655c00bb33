"""Raw values for the custodian's lint: a column as its declaration would read it, or null where it cannot be."""

from __future__ import annotations

from discreet.core.column import Column

_PLAIN = ("VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "DECIMAL", "DOUBLE", "FLOAT", "INT")


def quoted(name: str) -> str:
    """Quote a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def values_sql(column: Column, physical: str) -> str:
    """Return SQL for a column's values: numbers as doubles without NaN, days, booleans, keys or text."""
    assert column.name is not None
    raw = quoted(column.name)
    if (
        not any(plain in physical for plain in _PLAIN)
        or physical.endswith("]")
        or "(" in physical.replace("DECIMAL(", "")
    ):
        raw = f"CAST({raw} AS VARCHAR)"  # lists, structures and the like have no other reading
    match column.kind:
        case "number":
            number = f"TRY_CAST({raw} AS DOUBLE)"
            return f"CASE WHEN NOT isnan({number}) THEN {number} END"
        case "date":
            return f"TRY_CAST({raw} AS DATE)"
        case "flag":
            return f"TRY_CAST({raw} AS BOOLEAN)"
        case "category" if column.keys and isinstance(column.keys[0], int):
            return f"TRY_CAST({raw} AS BIGINT)"
    return f"CAST({raw} AS VARCHAR)"
