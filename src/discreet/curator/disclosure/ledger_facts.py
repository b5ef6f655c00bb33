"""Facts: what a ledger and its declarations say of a vault, for those who review or disclose it. No row is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.ask.registered import Registered
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.ledger.entry import Entry
    from discreet.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What was declared and charged: tables, and of each entry its kind and what is counted here.

    `losses` counts the mechanisms' losses by kind, `released` the settled charges by account, `first` and `last` are
    the days of the first and the last settlement of each account.
    """

    tables: tuple[Registered, ...]
    kinds: Mapping[str, int]
    documents: Mapping[str, int]
    losses: Mapping[str, int]
    charged: Mapping[str, int]
    released: Mapping[str, int]
    first: Mapping[str, str]
    last: Mapping[str, str]
    made: str
    codes: tuple[str, ...]

    @classmethod
    def of(cls, ledger: Ledger) -> LedgerFacts:
        """Read a vault, entry by entry."""
        kinds, documents, losses = Counter[str](), Counter[str](), Counter[str]()
        charged, released = Counter[str](), Counter[str]()
        first, last, made, codes = dict[str, str](), dict[str, str](), "", dict[str, None]()
        paid: dict[int, list[str]] = {}
        for entry in ledger.entries():
            body = entry.record()
            kinds[entry.kind] += 1
            made = made or body["at"]
            if entry.kind == "document":
                documents[body["kind"]] += 1
            elif entry.kind == "charge":
                paid[entry.sequence] = [*body["losses"]]
                charged.update(paid[entry.sequence])
                losses.update(kind for loss in body["losses"].values() for kind in kinds_of(loss))
            elif entry.kind == "settle":
                codes[body["code"]] = None
                for account in _settled(entry, paid):
                    released[account] += 1
                    first.setdefault(account, body["at"][:10])
                    last[account] = body["at"][:10]
        tables = tuple(Registered.from_record(each.record, {}, each.revision) for each in ledger.list("table"))
        return cls(
            tables, kinds, documents, losses, charged, released, first, last, made, tuple(sorted(filter(None, codes)))
        )


def kinds_of(loss: Any) -> Iterator[str]:  # noqa: ANN401  (plain JSON values)
    """Yield the kinds of the losses that a record is made of, those of parts in place of a sum."""
    if isinstance(loss, dict):
        inside = [kind for value in loss.values() for kind in kinds_of(value)]
        if inside or "kind" not in loss:
            yield from inside
        else:
            yield str(loss["kind"])
    elif isinstance(loss, list):
        for each in loss:
            yield from kinds_of(each)


def _settled(entry: Entry, paid: Mapping[int, list[str]]) -> list[str]:
    return paid.get(entry.record()["charge"], [])
