"""Approvals: questions that wait for the custodian's word, each an entry, and each good for one charge.

A request is known by what would be charged: the question, the versions of its tables, the losses and who asks. Its name
is the hash of these, so that an approval never fits another question, price, version or analyst.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, replace
from discreet.ledger.charge import Charge, read_losses
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import digest
from discreet.ledger.oversight.charge_policy import document_body
from discreet.ledger.refusals import Conflict
from discreet.ledger.store import Paper, Transaction

KIND = "approval"
State = Literal["pending", "approved", "denied", "used"]
_FIELDS = ("analyst", "identity", "label", "losses", "price", "question", "reason", "state", "tables")
# So much of a request's name tells it apart for a person.
_SHORTEST = 8


class ApprovalNeeded(Refusal):
    """A question that waits for its custodian's approval, or was denied: nothing was charged, read or drawn."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What an analyst wants released: its name, how it stands, and all that the custodian decides about.

    Guarantee: the name is the hash of question, table versions, losses and analyst, which are what a charge under the
    approval has.
    """

    name: str
    at: str
    analyst: str
    identity: str
    label: str
    losses: Mapping[str, PrivacyLoss]
    price: str
    question: str
    reason: str
    state: State
    tables: Mapping[str, int]

    @classmethod
    def of(cls, charge: Charge, at: str) -> ApprovalRequest:
        """Return the request for a charge."""
        return cls(
            name_of(charge),
            at,
            charge.analyst or "",
            charge.identity,
            charge.label,
            charge.losses,
            charge.price,
            charge.question,
            "",
            "pending",
            charge.tables,
        )

    def record(self) -> dict[str, Any]:
        """Return what its entry says, as plain JSON values."""
        losses = {account: loss.record() for account, loss in self.losses.items()}
        plain = {name: getattr(self, name) for name in _FIELDS}
        return {**plain, "losses": losses, "tables": dict(self.tables)}

    @classmethod
    def from_record(cls, name: str, at: str, record: object) -> ApprovalRequest:
        """Read what `record` returned."""
        found = records.fields(KIND, record, _FIELDS)
        return cls(name, at, **{**found, "losses": read_losses(found["losses"])})


def name_of(charge: Charge) -> str:
    """Return the name of the request for a charge: the hash of all that is approved."""
    return digest(KIND, charge.identity, charge.price, charge.analyst or "")


def requests(transaction: Transaction, analyst: str | None = None) -> list[ApprovalRequest]:
    """Return all requests, or those of one analyst, in the order in which they last changed."""
    papers = sorted((each for each in transaction.all(Paper) if each.kind == KIND), key=lambda each: each.sequence)
    found = [_read(transaction, each) for each in papers]
    return [each for each in found if analyst in (None, each.analyst)]


def admit(transaction: Transaction, charge: Charge, now: datetime) -> ApprovalRequest:
    """Return the approval that a new charge uses up, or refuse the charge, and enter the request for one.

    Guarantee: what is refused here has charged nothing, and its noise is not drawn.
    """
    request = ApprovalRequest.of(charge, written(now))
    paper = transaction.get(Paper, KIND, request.name)
    there = None if paper is None else _read(transaction, paper)
    if there is not None and there.state == "approved":
        return there
    if there is None or there.state == "used":
        _enter(transaction, request, now)
        there = request
    raise _waits(there)


def use(transaction: Transaction, request: ApprovalRequest, now: datetime) -> None:
    """Note that an approval was used for a charge: for another one it does not do."""
    _enter(transaction, replace(request, state="used"), now)


def decide(transaction: Transaction, named: str, state: State, reason: str, now: datetime) -> ApprovalRequest:
    """Approve or deny the request of that name, or of a name that begins so."""
    found = requests(transaction)
    chosen = [each for each in found if each.name.startswith(named)] if len(named) >= _SHORTEST else []
    if len(chosen) != 1:
        raise UnknownName("request", named, (each.name for each in found if each.state == "pending"))
    (request,) = chosen
    if request.state == "used":
        why, fix = "its approval was used: the question is charged", "wait until it is asked for once more"
        raise Conflict(f"the request {request.name[:_SHORTEST]}", why=why, fix=fix, value=request.name)
    decided = replace(request, state=state, reason=reason)
    if decided != request:
        _enter(transaction, decided, now)
    return decided


def check_reason(reason: object) -> str:
    """Return the words of a custodian that an analyst will read, or refuse what is no line of text."""
    if isinstance(reason, str) and reason.isprintable() and len(reason) <= 1000:
        return reason
    raise BadParameter("reason", reason, why="it is a line of text for the analyst", fix="say it in a few words")


def _waits(request: ApprovalRequest) -> ApprovalNeeded:
    short = request.name[:_SHORTEST]
    if request.state == "denied":
        why = f"the custodian denied it{f': {request.reason}' if request.reason else ''}"
        fix = "ask something else, or talk to the custodian; nothing was charged"
    else:
        why = "the policy wants the custodian's approval, and it waits for that; nothing was charged"
        fix = f"ask the same again once it is approved: discreet approve {short}"
    return ApprovalNeeded(f"the question {short}", why=why, fix=fix, value=request.name)


def _enter(transaction: Transaction, request: ApprovalRequest, now: datetime) -> None:
    enter(transaction, "document", document_body(transaction, KIND, request.name, request.record(), written(now)))


def _read(transaction: Transaction, paper: Paper) -> ApprovalRequest:
    entry = transaction.entry(paper.sequence)
    return ApprovalRequest.from_record(paper.name, entry.record()["at"] if entry else "", json.loads(paper.record))
