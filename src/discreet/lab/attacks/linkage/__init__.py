"""Linkage: a table without names, joined to a list that has them.

Sweeney (1997) named the governor of Massachusetts in hospital records by his birth date, sex and postcode, which the
list of voters had too. `uniqueness` says who can be named so, `linkage` joins two tables, `learned` tries it on a copy
of one table behind a defence, and `fuzzy` names people by facts that are not all right (Narayanan and Shmatikov 2008).
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.lab.attacker_choice import crowd
from discreet.lab.attacks.linkage.columns import kept as kept
from discreet.lab.attacks.linkage.columns import known as known
from discreet.lab.attacks.linkage.fuzzy import Fuzzy as Fuzzy
from discreet.lab.attacks.linkage.fuzzy import Sparse as Sparse
from discreet.lab.attacks.linkage.fuzzy import fuzzy as fuzzy
from discreet.lab.attacks.linkage.join import Linked as Linked
from discreet.lab.attacks.linkage.join import linkage as linkage
from discreet.lab.attacks.linkage.made_up_tables import ratings as ratings
from discreet.lab.attacks.linkage.made_up_tables import voters as voters
from discreet.lab.attacks.linkage.release import Learned as Learned
from discreet.lab.attacks.linkage.release import learned as learned
from discreet.lab.attacks.linkage.uniqueness import Uniqueness as Uniqueness
from discreet.lab.attacks.linkage.uniqueness import UniquenessStep as UniquenessStep
from discreet.lab.attacks.linkage.uniqueness import uniqueness as uniqueness
from discreet.lab.outcome import Outcome
from discreet.lab.table_copy import TableCopy
from discreet.lab.targets import named

# What custodians do to a table before they give it away, and what Discreet gives instead.
TARGETS = ("exact", "rounded:5", "sampled:0.5", "suppressed:5", "laplace:1")
_LEAST = 20  # people, below which half of a table is too few to say anything about
_FACTS = (4, 6, 8)
_ROWS = 100_000  # beyond which the first row of each person will do
_PHI = 3.0  # values of a table are rarer than films: one that is wrong may stand out by itself


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "a row, and a column that others may know"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Say who is alone in the copy, name people by facts that are not all right, and join lists to releases of it."""
    if not copied.rows or not copied.attributes:
        return []
    quasi = known(copied)
    if not quasi:
        return []
    say(f"who is alone by {', '.join(quasi)}")
    found = [uniqueness(copied, quasi).outcome]
    people = crowd(copied)
    secret = kept(people, quasi)
    if secret is None or people.rows < _LEAST:
        return found
    for word in TARGETS:
        say(f"a list joined to the table, {word}")
        found.append(learned(people, quasi, secret, named(word)).outcome)
    say("people named by facts that are not all right")
    facts = Sparse.facts(copied if copied.rows <= _ROWS else people)
    levels = [many for many in _FACTS if many <= facts.most]
    if levels:
        found.append(fuzzy(facts, levels, days=(0,), phi=_PHI, name=copied.name).outcome)
    return found
