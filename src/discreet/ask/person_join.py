"""Meeting: which rows of two private tables a join puts together, and what it refuses before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.ask.query_base import QueryBase
from discreet.core.errors import BadParameter
from discreet.plan.expressions import Name
from discreet.plan.nodes import PersonJoin, columns_of
from discreet.plan.stability import unit_of

On = str | Name | Iterable[str | Name] | Mapping[str, str] | None


def name_of(column: object) -> str:
    """Return the name of a column, given by its name or as the column itself."""
    return column.name if isinstance(column, Name) else str(column)


def pairs(on: On) -> tuple[tuple[str, str], ...]:
    """Return our columns and theirs that are to be equal: one name, several, or a mapping of ours to theirs."""
    if on is None:
        return ()
    if isinstance(on, Mapping):
        return tuple((name_of(ours), name_of(theirs)) for ours, theirs in on.items())
    names = [name_of(each) for each in ([on] if isinstance(on, str | Name) else on)]
    return tuple(zip(names, names, strict=True))


def meeting(one: QueryBase, other: QueryBase, on: On, most: int | None, columns: On) -> PersonJoin:
    """Return the plan of rows that belong to the same person, checked as far as it can be before a question is asked.

    Guarantee: both sides belong to one account, whose people come and go in all of its tables at once.
    """
    check_other(one, other, "join")
    tables = {**one.tables, **other.tables}
    unit_of(PersonJoin(one.plan, other.plan), tables)
    _check_accounts(one, other)
    matched = _without_people(one, other, pairs(on))
    plan = PersonJoin(one.plan, other.plan, matched, most, _taken(one, other, matched, columns))
    columns_of(plan, tables)
    return plan


def check_other(one: QueryBase, other: object, verb: str) -> None:
    """Refuse what is no ungrouped table of the same session."""
    if not isinstance(other, QueryBase) or other.desk is not one.desk:
        why = "it is not a table of this session"
        raise BadParameter("other", type(other).__name__, why=why, fix="pass session.table('visits'), for example")
    if other.keys is not None:
        why = "it is grouped already"
        raise BadParameter("other", other.keys.names, why=why, fix=f"call {verb} first, and then group_by")


def check_public(columns: object) -> None:
    """Refuse what only the join of a private table can be told."""
    if columns is not None:
        why = "the columns of a public table are known, and all of them are taken"
        fix = "leave it out, and make the public table with the columns that you want"
        raise BadParameter("columns", columns, why=why, fix=fix)


def no_table(other: object) -> BadParameter:
    """Return the refusal of what is neither a public nor a private table."""
    why = "it is neither a table of this session nor a public table"
    fix = "pass session.table('visits'), or session.public('wards', {'ward': ['A', 'B'], 'floor': [1, 2]})"
    return BadParameter("other", type(other).__name__, why=why, fix=fix)


def check_on(on: On) -> tuple[tuple[str, str], ...]:
    """Return what a public table is matched by, which has to be said: it has no people."""
    if on is None:
        why = "a public table has no people, so its rows are matched by the values of a column"
        raise BadParameter("on", None, why=why, fix="name a column that both have: on='ward'")
    return pairs(on)


def _check_accounts(one: QueryBase, other: QueryBase) -> None:
    accounts = sorted({*one.accounts, *other.accounts})
    if len(accounts) > 1:
        why = "its tables belong to different accounts, which protect a person separately"
        raise BadParameter(
            "join", accounts, why=why, fix="register tables about the same people in one budget group, with group="
        )


def _without_people(one: QueryBase, other: QueryBase, on: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Leave out the pair of identifiers: people are matched whether they are named or not."""
    ours, theirs = unit_of(one.plan, one.tables).identifier, unit_of(other.plan, other.tables).identifier
    named = ours not in one.columns and theirs not in other.columns
    return tuple(pair for pair in on if not named or pair != (ours, theirs))


def _taken(
    one: QueryBase, other: QueryBase, on: tuple[tuple[str, str], ...], columns: On
) -> tuple[tuple[str, str], ...]:
    """Return the columns that are taken over, under their new names: those named, or all that are not matched by."""
    if columns is not None:
        return pairs(columns)
    matched = {theirs for _, theirs in on}
    found = tuple((name, name) for name in other.columns if name not in matched)
    known = {name.lower() for name in one.columns}
    clash = [name for name, _ in found if name.lower() in known]
    if clash:
        fix = f'name those to take over, by new names: columns={{"their_{clash[0]}": "{clash[0]}"}}'
        raise BadParameter("columns", clash, why="both tables have columns of these names", fix=fix)
    return found
