"""Facts: what a ledger and its declarations say of a vault, for those who review or disclose it. No row is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.ask.registered import Registered
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What was declared and charged: tables, and of each entry its kind and what is counted here.

    `losses` counts the mechanisms' losses by account and kind, `bills` the charges for work done elsewhere by account.
    `released` counts what was settled by account, each part of a running release for itself; `first` and `last` are the
    days of the first and the last of these. `keys` counts the exchanges of keys, by what was exchanged.
    """

    tables: tuple[Registered, ...]
    kinds: Mapping[str, int]
    documents: Mapping[str, int]
    keys: Mapping[str, int]
    losses: Mapping[str, Mapping[str, int]]
    bills: Mapping[str, int]
    running: int
    released: Mapping[str, int]
    first: Mapping[str, str]
    last: Mapping[str, str]
    made: str
    codes: tuple[str, ...]

    @classmethod
    def of(cls, ledger: Ledger) -> LedgerFacts:
        """Read a vault, entry by entry."""
        kinds, documents, keys, losses = Counter[str](), Counter[str](), Counter[str](), dict[str, Counter[str]]()
        bills, released, running = Counter[str](), Counter[str](), set[int]()
        first, last, made, codes = dict[str, str](), dict[str, str](), "", dict[str, None]()
        paid: dict[int, list[str]] = {}
        for entry in ledger.entries():
            body = entry.record()
            kinds[entry.kind] += 1
            made = made or body["at"]
            if entry.kind == "document":
                documents[body["kind"]] += 1
                keys[body["name"]] += body["kind"] == "keys"
            elif entry.kind == "charge":
                paid[entry.sequence] = [*body["losses"]]
                for account, loss in body["losses"].items():
                    losses.setdefault(account, Counter()).update(kinds_of(loss))
                    bills[account] += _is_bill(body["question"])
                if "running" in body:
                    running.add(entry.sequence)
            elif entry.kind == "settle":
                codes[body["code"]] = None
            if _tells(entry.kind, body, running):
                for account in paid.get(body["charge"], []):
                    released[account] += 1
                    first.setdefault(account, body["at"][:10])
                    last[account] = body["at"][:10]
        tables = tuple(Registered.from_record(each.record, {}, each.revision) for each in ledger.list("table"))
        found = tuple(sorted(filter(None, codes)))
        return cls(tables, kinds, documents, keys, losses, bills, len(running), released, first, last, made, found)

    def losses_of(self, account: str | None = None) -> str:
        """Say how many losses of each kind were charged, to one account or to all."""
        chosen = self.losses.values() if account is None else [self.losses.get(account, {})]
        found = Counter[str]()
        for each in chosen:
            found.update(each)
        return ", ".join(f"{kind} ({many})" for kind, many in sorted(found.items())) or "none yet"


def _tells(kind: str, body: Mapping[str, Any], running: set[int]) -> bool:
    """Whether an entry settles something that was told: an answer or a part; the end of a running release is none."""
    if kind == "part":
        return body["answer"] is not None
    return kind == "settle" and body["charge"] not in running


def _is_bill(question: str) -> bool:
    try:
        said = json.loads(question)
    except ValueError:
        return False
    return isinstance(said, dict) and "bill" in said


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
