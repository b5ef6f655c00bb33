"""The policy of charges: what waits for the custodian's approval, and at which shares of a budget they are alerted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.rational import as_written
from discreet.core.value import dataclass
from discreet.ledger.charge import Charge
from discreet.ledger.store import Paper, Transaction

KIND, NAME = "charges", "vault"
# Stands for all tables.
EVERY = "*"


@dataclass(frozen=True, slots=True)
class ChargePolicy:
    """What a custodian wants to see of charges before and after they are made.

    `approval` names the tables whose questions wait for the custodian's word, or `EVERY`; `alerts` are shares of a
    budget: whenever a charge takes what is left of a limit below one of them, that is an entry.

    Guarantee: what it decides follows from the question, the price and the budgets, and from no row.
    """

    approval: tuple[str, ...] = ()
    alerts: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.approval, str) or not all(isinstance(each, str) and each for each in self.approval):
            why, fix = "it is a list of names of tables", 'write tables = ["visits"], or ["*"] for all'
            raise BadParameter("approval", self.approval, why=why, fix=fix)
        for share in self.alerts:
            if not 0 < share < 1:
                why, fix = "it is a share of the budget that is left", "use a number between 0 and 1, such as 0.1"
                raise BadParameter("alerts", float(share), why=why, fix=fix)
        object.__setattr__(self, "approval", tuple(sorted(set(self.approval))))
        object.__setattr__(self, "alerts", tuple(sorted({*self.alerts}, reverse=True)))

    @classmethod
    def made(cls, approval: object, alerts: object) -> ChargePolicy:
        """Return the policy of some names and some numbers, as a person gave them."""
        shares = tuple(as_written("alerts", each) for each in _listed("alerts", alerts))
        return cls(tuple(_listed("approval", approval)), shares)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values, exact."""
        return {"approval": list(self.approval), "alerts": [str(share) for share in self.alerts]}

    @classmethod
    def from_record(cls, record: object) -> ChargePolicy:
        """Read what `record` returned."""
        found = records.fields(KIND, record, ("approval", "alerts"))
        return cls(tuple(found["approval"]), tuple(map(Fraction, found["alerts"])))

    @classmethod
    def of(cls, transaction: Transaction) -> ChargePolicy:
        """Return the policy of a vault; without one nothing waits and nothing alerts."""
        found = transaction.get(Paper, KIND, NAME)
        return cls.from_record(json.loads(found.record)) if found else _NONE

    def wants_approval(self, charge: Charge) -> bool:
        """Whether a charge of an analyst waits for the custodian; what custodians charge themselves does not."""
        return charge.analyst is not None and (
            EVERY in self.approval or not set(self.approval).isdisjoint(charge.tables)
        )


_NONE = ChargePolicy()


def document_body(transaction: Transaction, kind: str, name: str, record: Mapping[str, Any], at: str) -> dict[str, Any]:
    """Return the body of the entry that stores the next revision of a document."""
    there = transaction.get(Paper, kind, name)
    return {
        "kind": kind,
        "name": name,
        "revision": (there.revision if there else 0) + 1,
        "record": {**record},
        "at": at,
    }


def _listed(name: str, values: object) -> list[Any]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise BadParameter(name, values, why="it is a list", fix="write it in brackets")
    return [*values]
