"""How many rows of a plan one unit has: the definitions once more, in plain Python."""

from discreet.plan.nodes import Derive, Filter, Join, MarkJoin, PerPerson, PersonJoin, Project, Scan, Union, tables_of


def reached(plan, tables, unit):
    """Return how many rows of a plan one unit has, once bounded."""
    return unit.max_rows if unit.bound == "query" and not unit.is_row else max(1, multiplied(plan, tables))


def multiplied(plan, tables):
    """Return how many rows of a plan come from what each table keeps of one unit."""
    match plan:
        case Scan(table):
            return tables[table].unit.max_rows
        case PerPerson():
            return 1
        case Filter(source) | Derive(source) | Project(source):
            return multiplied(source, tables)
        case Join(source, public, on):
            return multiplied(source, tables) * public.fan_out(theirs for _, theirs in on)
        case Union(one, other):
            return multiplied(one, tables) + multiplied(other, tables)
        case MarkJoin(one):
            return multiplied(one, tables)
        case PersonJoin(one):
            return multiplied(one, tables) * partners_of(plan, tables)


def partners_of(join, tables):
    """Return how many partners a row keeps: as declared, and no more than a person has rows on the other side."""
    theirs = rows_declared(join.other, tables)
    return theirs if join.most is None else min(theirs, join.most)


def rows_declared(plan, tables):
    """Return how many rows a question about a plan allows one person."""
    if tables[tables_of(plan)[0]].unit.bound == "table":
        return max(1, multiplied(plan, tables))
    match plan:
        case Scan(table):
            return tables[table].unit.max_rows
        case PersonJoin(one, other):
            ours, theirs = rows_declared(one, tables), rows_declared(other, tables)
            return min(ours * partners_of(plan, tables), max(ours, theirs))
        case Union(one) | MarkJoin(one):
            return rows_declared(one, tables)
        case PerPerson():
            return 1
    return rows_declared(plan.source, tables)
