"""Totals of people, in plain Python: what each adds up to within a group, clamped, in the first groups of the order."""

from collections import defaultdict

from discreet.plan.nodes import columns_of
from tests.plan.reaching import reached
from tests.plan.relational import all_whole, evaluated, key_of, person_limbs


def totalled(oracle, question, world, unit):
    """Return the totals of every listed group, in order."""
    tables = {name: data.table for name, data in world.items()}
    columns, whole = columns_of(question.source, tables), all_whole(question.source, world)
    listed = {key: place for place, key in enumerate(question.keys.listed())}
    rows = defaultdict(lambda: defaultdict(list))
    for who, row in oracle.rows(question.source, world, unit):
        place = listed.get(key_of(question.keys, row))
        if place is not None and who is not None:
            rows[who][place].append([evaluated(tally.of[0], row, columns) for tally in question.tallies])
    most = min(unit.max_groups, reached(question.source, tables, unit)) if question.keys.columns else 1
    found = [[0] * len(question.tallies) for _ in listed]
    for who, mine in rows.items():
        people = person_limbs(who, whole)
        for place in sorted(mine, key=lambda place: (oracle.group_key(people, [place]), place))[:most]:
            for number, tally in enumerate(question.tallies):
                values = [each[number] for each in mine[place] if each[number] is not None]
                if values:
                    found[place][number] += min(max(sum(values), tally.within[0]), tally.within[1])
    return [tuple(each) for each in found]
