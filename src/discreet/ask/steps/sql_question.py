"""A question in SQL at a desk, as a request has it: the text, and what is said beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.core.value import dataclass
from discreet.plan.nodes import Public

if TYPE_CHECKING:
    from discreet.ask.desk import Desk


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """A SELECT at a desk, keys of columns that have none, and public tables that it may join."""

    desk: Desk
    text: str
    keys: Mapping[str, Sequence[object]]
    public: tuple[Public, ...] = ()
