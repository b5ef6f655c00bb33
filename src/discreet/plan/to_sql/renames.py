"""Renamed columns in SQL: under their new names, with the codes that rows carry for some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from discreet.engines.dialect import Dialect


def code_name(name: str, dialect: Dialect) -> str:
    """Return what the code of a column goes by."""
    return dialect.quote(f"~c {name}")


def chosen_sql(chosen: Iterable[tuple[str, str]], coded: Collection[str], dialect: Dialect) -> list[str]:
    """Write columns, pairs of the new name and the old, and their codes where they have some."""
    found = []
    for new, old in chosen:
        found.append(f"{dialect.quote(old)} AS {dialect.quote(new)}")
        if old in coded:
            found.append(f"{code_name(old, dialect)} AS {code_name(new, dialect)}")
    return found
