"""Rows in SQL: the rows of a plan, every value read as declared, with the person each belongs to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod

from discreet.core.column import Column
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.core.value import replace
from discreet.engines.dialect import Dialect, named, select
from discreet.engines.physical import Physical
from discreet.plan.dimension import Dimension
from discreet.plan.keys import Key, Keys
from discreet.plan.nodes import (
    Datum,
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Plan,
    Project,
    Public,
    Scan,
    Union,
    added,
    columns_of,
    tables_of,
)
from discreet.plan.stability import partners, reach, rows_before, unit_of
from discreet.plan.to_sql.column_values import key_text
from discreet.plan.to_sql.dimension_join import dimension_join_sql
from discreet.plan.to_sql.owners import REFERENCE
from discreet.plan.to_sql.people import people_sql
from discreet.plan.to_sql.person_bounds import PERSON, first_rows, limbs, ordered, person_limbs
from discreet.plan.to_sql.person_join import Side, mark_join_sql, person_join_sql
from discreet.plan.to_sql.scalar import (
    Relation,
    chosen_sql,
    code_name,
    expression_sql,
    linked_below,
    owned_sql,
    raw_sql,
    stored_type,
)
from discreet.plan.whole import is_wide

GROUP = '"~group"'

Relations = Mapping[str, Relation]


def tables_under(relations: Relations) -> dict[str, Table]:
    """Return the declarations of the private relations."""
    return {name: relation.table for name, relation in relations.items() if not relation.is_public}


def whole_people(plan: Plan, relations: Relations) -> bool:
    """Say whether everyone in the plan is told apart by a whole number; otherwise all are by text."""
    return all(relations[name].has_whole_people for name in tables_of(plan))


def rows_sql(plan: Plan, relations: Relations, unit: Unit, dialect: Dialect) -> str:
    """Write the rows of a plan: its columns under their names, and ~person where people are protected."""
    tables = tables_under(relations)
    if (linked := linked_below(plan, relations)) is not None:
        unowned = rows_sql(plan, {**relations, linked.table.name: replace(linked, unowned=True)}, unit, dialect)
        return owned_sql(unowned, linked, columns_of(plan, tables), coded_columns(plan, relations), dialect)
    match plan:
        case Scan(table):
            assert not relations[table].is_public
            return scan_sql(relations[table], dialect)
        case Filter(source, predicate):
            condition = expression_sql(predicate, columns_of(source, tables), dialect)
            return select("*", rows_sql(source, relations, unit, dialect), where=condition)
        case Derive(source, name, expression):
            value = expression_sql(expression, columns_of(source, tables), dialect)
            return select(("*", f"{value} AS {dialect.quote(name)}"), rows_sql(source, relations, unit, dialect))
        case Project(source, chosen):
            kept = chosen_sql(chosen, coded_columns(source, relations), dialect)
            return select((*kept, *(() if unit.is_row else (PERSON,))), rows_sql(source, relations, unit, dialect))
        case PerPerson(source):
            inner = rows_sql(source, relations, unit, dialect)
            return people_sql(plan, inner, columns_of(source, tables), dialect)
        case Join(source, joined, on):
            inner = _before_join(source, joined.fan_out(theirs for _, theirs in on), relations, unit, dialect)
            if isinstance(joined, Dimension):
                relation = relations[joined.name]
                assert relation.is_public  # a private table is never joined as a public one
                return dimension_join_sql(inner, columns_of(source, tables), joined, on, relation, dialect)
            return _join_sql(inner, columns_of(source, tables), joined, on, dialect)
        case Union(one, other):
            columns = columns_of(plan, tables)
            whole = whole_people(plan, relations)
            sides = (_side_sql(side, columns, relations, unit, whole, dialect) for side in (one, other))
            return select("*", named(" UNION ALL ".join(sides)))
        case PersonJoin():
            one_side, other_side = (_side(side, relations, unit, dialect) for side in (plan.one, plan.other))
            one_side = replace(one_side, sql=_before_join(plan.one, partners(plan, tables), relations, unit, dialect))
            whole = whole_people(plan, relations)
            return person_join_sql(plan, one_side, _partnered(plan, other_side, relations, dialect), whole, dialect)
        case MarkJoin():
            one_side, other_side = (_side(side, relations, unit, dialect) for side in (plan.one, plan.other))
            return mark_join_sql(plan, one_side, other_side, whole_people(plan, relations), dialect)


def rows_by_person_sql(plan: Plan, relations: Relations, unit: Unit, most: int, dialect: Dialect) -> str:
    """Write how many people have each number of rows, numbers above `most` counting as `most`."""
    each = select(f"least(count(*), {int(most)}) AS n", rows_sql(plan, relations, unit, dialect), by=(PERSON,))
    return select(("n", "count(*)"), each, by=("n",))


def scan_sql(relation: Relation, dialect: Dialect) -> str:
    """Write the rows of a table; where its unit says bound="table", only those that are kept of each person."""
    unit, coded = relation.table.unit, _codable(relation)
    read = [
        f"{_read_sql(relation, column, dialect)} AS {dialect.quote(column.name or '')}"
        for column in relation.table.columns
        if column.name not in coded
    ]
    if relation.unowned:
        read.append(f"{relation.reference_sql(dialect)} AS {REFERENCE}")
    elif not unit.is_row:
        read.append(PERSON if relation.kept else f"{relation.person_sql(dialect)} AS {PERSON}")
    if unit.bound == "table" and not relation.kept:
        return kept_sql(relation, select(read, relation.rows_from(dialect)), dialect)
    found = select((*read, *_codes(relation, dialect)), relation.rows_from(dialect))
    texts = [
        f"{dialect.code_text(code_name(name, dialect), map(str, column.keys or ()))} AS {dialect.quote(name)}"
        for name, column in coded.items()
    ]
    return select(("*", *texts), found) if coded else found


def _read_sql(relation: Relation, column: Column, dialect: Dialect) -> str:
    if relation.kept:
        # Wide integers are kept as text.
        return dialect.cast(dialect.quote(column.name or ""), stored_type(column, dialect))
    return raw_sql(column, relation.physical[column.name or ""], dialect)


def coded_columns(plan: Plan, relations: Relations) -> frozenset[str]:
    """Return the columns of a plan whose codes its rows carry too, named by `code_name`."""
    match plan:
        case Scan(table):
            return frozenset(_codable(relations[table]))
        case Union() | PerPerson():
            return frozenset()
        case Filter(source) | Derive(source) | Join(source):
            return coded_columns(source, relations)
        case Project(source, chosen):
            coded = coded_columns(source, relations)
            return frozenset(new for new, old in chosen if old in coded)
        case PersonJoin(one, other, columns=chosen):
            coded = coded_columns(other, relations)
            return coded_columns(one, relations) | {new for new, old in chosen if old in coded}
        case MarkJoin(one):
            return coded_columns(one, relations)


def _codable(relation: Relation) -> dict[str, Column]:
    """Return the columns of declared texts, of a table whose rows are read and not yet to be bounded."""
    if relation.table.unit.bound == "table" and not relation.kept:
        return {}
    return {
        column.name or "": column
        for column in relation.table.columns
        if all(isinstance(key, str) for key in column.keys or (0,))
    }


def _codes(relation: Relation, dialect: Dialect) -> list[str]:
    """Write the codes of declared texts, from which the texts follow: engines make them from a dictionary at once."""
    kept = dialect.text if relation.kept else None
    return [_code_sql(each, kept or relation.physical[name], dialect) for name, each in _codable(relation).items()]


@lru_cache(maxsize=1024)
def _code_sql(column: Column, physical: str, dialect: Dialect) -> str:
    name = column.name or ""
    text = key_text(column, Physical.parse(physical), dialect.quote(name), dialect) or "NULL"
    return f"{dialect.code(text, map(str, column.keys or ()))} AS {code_name(name, dialect)}"


def kept_sql(relation: Relation, read: str, dialect: Dialect) -> str:
    """Write the rows of a table that are kept of each person, once for the table; `read` are all of them."""
    columns = {column.name or "": column for column in relation.table.columns}
    numbers, people = row_limbs(columns, dialect), person_limbs(relation.has_whole_people, dialect)
    first = first_rows(ordered(read, numbers, people, dialect), relation.table.unit.max_rows)
    names = [dialect.quote(name) for name in relation.table]
    return select((*names, PERSON), first)


def row_limbs(columns: Mapping[str, Column], dialect: Dialect) -> list[str]:
    """Write all columns of a row as small numbers, in the order of their names."""
    return [limb for name in sorted(columns) for limb in limbs(columns[name], dialect.quote(name), dialect)]


def base_columns(plan: Plan, tables: Mapping[str, Table]) -> dict[str, Column]:
    """Return the columns that tell the rows of a plan apart; derived ones tell nothing more."""
    match plan:
        case Filter(source) | Derive(source):
            return base_columns(source, tables)
        case Join(source, Dimension() as joined, on) if joined.fan_out(theirs for _, theirs in on) == 1:
            return base_columns(source, tables)  # the others follow from these
        case Join(source, joined, on):
            return {**base_columns(source, tables), **{column.name or "": column for column in added(joined, on)}}
        case PersonJoin(one, _, _, _, chosen):
            columns = columns_of(plan, tables)
            return {**base_columns(one, tables), **{new: columns[new] for new, _ in chosen}}
        case MarkJoin(one):
            return base_columns(one, tables)
    return columns_of(plan, tables)


def code_sql(key: Key, coded: Collection[str], dialect: Dialect, *, late: bool) -> str:
    """Write a code for each value of a key column, from which `group_sql` finds its place; others may have none.

    Text that has no code yet is put into numbers where many groups of people are to be told apart; `late` leaves that
    to the few groups of an answer, since engines group by a short dictionary of texts at hardly any cost.
    """
    sql, values = dialect.quote(key.of.name or key.name), key.values or ()
    if key.edges is not None:
        return _bin(sql, _near(key.edges, key.of), 0, dialect)
    if _run(values) or values == (False, True):
        return _ran(key, sql, dialect)
    if _has_code(key, coded):
        return code_name(key.of.name or "", dialect)
    return sql if late else dialect.position(sql, values)


def group_sql(keys: Keys, codes: Sequence[str], coded: Collection[str], dialect: Dialect, *, late: bool) -> str:
    """Write the place of a key in `keys.listed()`, from 0, given its codes; null for what is not listed."""
    # Keys that are listed one by one are far fewer than their columns' values could make, so that numbers may be long.
    wide = is_wide(0, prod(len(key.values or ()) for key in keys.columns))
    kind = dialect.wide if wide else dialect.narrow
    terms, stride = [], 1
    for key, code in reversed([*zip(keys.columns, codes, strict=True)]):
        if _has_code(key, coded):
            place = dialect.code_place(code, map(str, key.values or ()))
        else:
            place = _place(key, code, dialect, late=late)
        terms.append(f"{place if keys.only is None else dialect.cast(place, kind)} * {stride}")
        stride *= len(key.values or ())
    number = dialect.cast(" + ".join(terms), kind)
    if keys.only is None:
        return dialect.cast(number, dialect.small)
    places = [{value: place for place, value in enumerate(key.values or ())} for key in keys.columns]
    listed = [_number(row, places) for row in keys.only]
    return f"(NULLIF({dialect.position(number, listed)}, 0) - 1)" if listed else "NULL"


def _has_code(key: Key, coded: Collection[str]) -> bool:
    """Say whether rows carry the code of a key, and its place among the column's keys is the one that is asked for."""
    return key.edges is None and key.of.name in coded and key.values == key.of.keys


def _place(key: Key, code: str, dialect: Dialect, *, late: bool) -> str:
    """Write the place of a value among those of its column, from 0; null where it is none of them."""
    values = key.values or ()
    if key.edges is not None:
        return code
    if run := _run(values):
        first, last = (dialect.literal(value) for value in run)
        return f"(CASE WHEN {code} BETWEEN {first} AND {last} THEN {code} - {first} END)"
    if values == (False, True):
        return code
    return f"(NULLIF({dialect.position(code, values) if late else code}, 0) - 1)"


def _ran(key: Key, sql: str, dialect: Dialect) -> str:
    """Write a flag or one of a run of whole numbers; what is outside the run may make no group, where it could many."""
    run = _run(key.values or ())
    if run is None:
        return dialect.flag_to_integer(sql)
    if key.of.kind != "category" and key.of.steps == run:
        return sql
    return f"(CASE WHEN {sql} BETWEEN {dialect.literal(run[0])} AND {dialect.literal(run[1])} THEN {sql} END)"


def _run(values: Sequence[Datum]) -> tuple[int, int] | None:
    """Return the first and last of whole numbers that follow one another without gaps."""
    whole = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    # Two keys far apart make no list of all that lies between them.
    if len(whole) < len(values) or not whole or whole[-1] - whole[0] != len(whole) - 1:
        return None
    if whole != [*range(whole[0], whole[-1] + 1)]:
        return None
    return whole[0], whole[-1]


def _number(row: Sequence[Datum], places: Sequence[Mapping[Datum, int]]) -> int:
    number = 0
    for value, found in zip(row, places, strict=True):
        number = number * len(found) + found[value]
    return number


def _bin(sql: str, edges: Sequence[int], before: int, dialect: Dialect) -> str:
    """Write how many edges are at most a value, by halving, so that many bins cost few comparisons."""
    if not edges:
        return f"(CASE WHEN {sql} IS NOT NULL THEN {before} END)"
    middle = len(edges) // 2
    low = _bin(sql, edges[:middle], before, dialect)
    high = _bin(sql, edges[middle + 1 :], before + middle + 1, dialect)
    return f"(CASE WHEN {sql} < {dialect.literal(edges[middle])} THEN {low} ELSE {high} END)"


def _near(edges: Sequence[int], column: Column) -> list[int]:
    """Move edges outside the bounds of a column next to them: what divides nothing may be larger than any integer."""
    low, high = column.steps
    return [min(max(edge, low), high + 1) for edge in edges]


def _before_join(source: Plan, most: int, relations: Relations, unit: Unit, dialect: Dialect) -> str:
    """Write the rows that are to meet up to `most` partners each, so many of each person as `rows_before` lets in."""
    tables, sql = tables_under(relations), rows_sql(source, relations, unit, dialect)
    limit = rows_before(source, most, tables)
    if limit is None:
        return sql
    numbers = row_limbs(base_columns(source, tables), dialect)
    people = person_limbs(whole_people(source, relations), dialect)
    names = [(name, name) for name in columns_of(source, tables)]
    kept = chosen_sql(names, coded_columns(source, relations), dialect)
    return select((*kept, PERSON), first_rows(ordered(sql, numbers, people, dialect), limit))


def _side(plan: Plan, relations: Relations, unit: Unit, dialect: Dialect) -> Side:
    """Write one side of a join."""
    columns, coded = columns_of(plan, tables_under(relations)), coded_columns(plan, relations)
    return Side(rows_sql(plan, relations, unit, dialect), columns, coded)


def _partnered(plan: PersonJoin, side: Side, relations: Relations, dialect: Dialect) -> Side:
    """Keep as many rows of each person, and of each value that is matched by, as a row may have partners.

    Rows of the first side that agree in those have the same partners, so that each keeps the first of its own.
    """
    tables = tables_under(relations)
    most, unit = partners(plan, tables), unit_of(plan.other, tables)
    if unit.bound == "table" and reach(plan.other, unit, tables) <= most:
        return side
    numbers = row_limbs(base_columns(plan.other, tables), dialect)
    people = person_limbs(whole_people(plan.other, relations), dialect)
    within = [dialect.quote(name) for _, name in plan.on]
    return replace(side, sql=first_rows(ordered(side.sql, numbers, people, dialect), most, within))


def _side_sql(
    side: Plan, columns: Mapping[str, Column], relations: Relations, unit: Unit, whole: bool, dialect: Dialect
) -> str:
    """Write one side of a union, its columns in the order and in the types of the whole."""
    names = [
        f"{dialect.cast(dialect.quote(name), stored_type(column, dialect))} AS {dialect.quote(name)}"
        for name, column in columns.items()
    ]
    if not unit.is_row:
        person = PERSON if whole else dialect.cast(PERSON, dialect.text)
        names.append(f"{person} AS {PERSON}")
    return select(names, rows_sql(side, relations, unit, dialect))


def _join_sql(
    inner: str, columns: Mapping[str, Column], joined: Public, on: tuple[tuple[str, str], ...], dialect: Dialect
) -> str:
    """Write an inner join with a public table, whose rows stand in the statement."""
    ours = {theirs: columns[name] for name, theirs in on}
    rows = [row for row in (_matched(joined, row, ours) for row in joined.rows) if row is not None]
    kinds = [stored_type(ours.get(column.name or "", column), dialect) for column in joined.columns]
    names = [f'"~p{place}"' for place in range(len(joined.columns))]
    listed = [f"({', '.join(map(dialect.literal, row))})" for row in rows] or [f"({', '.join(['NULL'] * len(names))})"]
    typed = [f"{dialect.cast(name, kind)} AS {name}" for name, kind in zip(names, kinds, strict=True)]
    place = {column.name: name for column, name in zip(joined.columns, names, strict=True)}
    table = select(typed, f"(VALUES {', '.join(listed)}) AS p({', '.join(names)})")
    match = " AND ".join(f"{dialect.quote(name)} = {place[theirs]}" for name, theirs in on)
    new = [f"{place[column.name]} AS {dialect.quote(column.name or '')}" for column in added(joined, on)]
    return select(("r.*", *new), f"({inner}) AS r JOIN ({table}) AS p ON {match}")


def _matched(joined: Public, row: Sequence[Datum], ours: Mapping[str, Column]) -> tuple[Datum, ...] | None:
    """Return a public row with the columns that are matched in our steps; None for one that matches nothing."""
    found: list[Datum] = []
    for column, value in zip(joined.columns, row, strict=True):
        mine = ours.get(column.name or "")
        if mine is not None and value is None:
            return None
        if mine is not None and mine.kind == "number":
            steps = int(value or 0) * (column.step or Fraction(1)) / (mine.step or Fraction(1))
            if steps.denominator != 1 or not mine.steps[0] <= steps <= mine.steps[1]:
                return None
            value = int(steps)
        found.append(value)
    return tuple(found)
