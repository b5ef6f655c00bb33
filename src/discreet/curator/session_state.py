"""Session states: what a session has read of one state of its vault, so that it reads nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.ask.work_limits import WorkLimits
    from discreet.ledger.grant import Grant
    from discreet.ledger.standing import Standing
    from discreet.measures.minimum_frequency import MinimumFrequency

# Answers, and previews, that a session keeps of one state; beyond, all are read again.
MOST_REPLIES = 1024


@dataclass(frozen=True, slots=True, eq=False)
class SessionState:
    """What a session has read of one state of its vault.

    `replies` are settled answers by their questions, with the tables they are about and what was left then; `previews`
    the same of previews. What is left changes with the state and, where windows begin anew, with the day, so both are
    looked at.
    """

    state: str
    grants: Sequence[Grant] = ()
    tables: dict[str, Registered] = field(default_factory=dict)
    publics: list[dict[str, PublicTable]] = field(default_factory=list)
    standings: dict[str, tuple[Standing, ...]] = field(default_factory=dict)
    limits: list[WorkLimits] = field(default_factory=list)
    frequency: list[MinimumFrequency] = field(default_factory=list)
    replies: dict[tuple[str, str], tuple[Mapping[str, Registered], object]] = field(default_factory=dict)

    previews: dict[tuple[str, str], object] = field(default_factory=dict)
