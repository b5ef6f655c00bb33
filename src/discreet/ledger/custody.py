"""Custody: what custodians do to a vault: accounts, windows, documents and grants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Relation
from discreet.ledger import limit
from discreet.ledger.cap import Budgets, Caps, Existing, check_analyst, check_existing, filter_like, same_budget
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.document import Document
from discreet.ledger.entry import canonical
from discreet.ledger.grant import Grant, Role, check_expires, check_role, matches, new_token, new_verifier
from discreet.ledger.integrity import keys
from discreet.ledger.oversight import alert, approval
from discreet.ledger.oversight.alert import BudgetAlert
from discreet.ledger.oversight.approval import ApprovalRequest
from discreet.ledger.oversight.charge_policy import ChargePolicy
from discreet.ledger.refusals import AccessRefused, Conflict, Unavailable
from discreet.ledger.shelf import Shelf
from discreet.ledger.store import Limit, Paper, Permit, Private, Transaction


class Custody(Shelf):
    """The custodian's side of a ledger; every change of it is an entry."""

    # Accounts --------------------------------------------------------------------------------------------------------

    def add_account(self, name: str, budget: Budget, relation: Relation = "add_remove") -> None:
        """Open an account: a budget for life, shared by all tables that share people.

        Opening it again with the same budget changes nothing; another budget is refused.

        Guarantee: everything ever charged to the account is together within the budget.
        """
        filter_ = budget.filter(relation=relation)
        with self._write() as transaction:
            there = transaction.get(Limit, _named("account", name), "", "")
            if there is None:
                body = {"account": name, "filter": limit.filter_record(filter_), "at": written(self._clock())}
                enter(transaction, "account", body)
            elif not same_budget(limit.filter_in(there), filter_):
                why = "the account exists with another budget or relation, and a guarantee is not changed"
                raise Conflict(f"account {name!r}", why=why, fix="leave the budget as it is", value=budget)

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts."""
        with self._read() as transaction:
            return tuple(each.account for each in transaction.all(Limit) if not each.analyst and not each.period)

    def window(self, account: str, budget: Budget, period: str = "month") -> None:
        """Restrict an account further, within each day, month or year; a window that is set again starts again.

        The period comes from the clock but never goes back. Windows only restrict: the account's budget always holds.
        """
        limit.check_period(period)
        with self._write() as transaction:
            filter_ = filter_like(limit.account_filter(transaction, account), budget)
            made = {"account": account, "period": period, "filter": limit.filter_record(filter_)}
            enter(transaction, "window", {**made, "at": written(self._clock())})

    # Documents -------------------------------------------------------------------------------------------------------

    def put(
        self,
        kind: str,
        name: str,
        record: Mapping[str, Any],
        *,
        private: Mapping[str, Any] | None = None,
        expected: int | None = None,
    ) -> Document:
        """Store a new revision of a document; with `expected`, only if that is still its newest (0: there is none).

        The record becomes part of the chain, so it must hold nothing computed from data. What was computed from
        data goes into `private`, which stays in the vault beside the chain (left out: as it was).
        """
        text = _json(kind, record)
        hidden = None if private is None else _json("private", private)
        with self._write() as transaction:
            there = transaction.get(Paper, _named("kind", kind), _named("name", name))
            revision = there.revision if there else 0
            if expected is not None and expected != revision:
                why = f"it is at revision {revision} by now, so someone else has changed it meanwhile"
                fix = "look at what it says now, and repeat the change"
                raise Conflict(f"{kind} {name!r} at revision {expected}", why=why, fix=fix, value=expected)
            made = {"kind": kind, "name": name, "revision": revision + 1, "record": json.loads(text)}
            enter(transaction, "document", {**made, "at": written(self._clock())})
            if hidden is not None:
                seal = keys.seal(self._secret.value, kind, name, str(revision + 1), hidden)
                transaction.put(Private(kind, name, revision + 1, hidden, seal))
            return _document(transaction, Paper(kind, name, revision + 1, text, 0))

    def get(self, kind: str, name: str) -> Document:
        """Return the newest revision of a document, or refuse a name that was never declared."""
        with self._read() as transaction:
            found = transaction.get(Paper, kind, name)
            if found is None:
                raise UnknownName(kind, name, (each.name for each in transaction.all(Paper) if each.kind == kind))
            return _document(transaction, found)

    def list(self, kind: str) -> tuple[Document, ...]:
        """Return all documents of a kind, by name."""
        with self._read() as transaction:
            papers = [each for each in transaction.all(Paper) if each.kind == kind]
            return tuple(_document(transaction, each) for each in papers)

    # Approvals and alerts --------------------------------------------------------------------------------------------

    def charge_policy(self) -> ChargePolicy:
        """Return what waits for approval, and at which shares of a budget custodians are told."""
        with self._read() as transaction:
            return ChargePolicy.of(transaction)

    def requests(self, analyst: str | None = None) -> Sequence[ApprovalRequest]:
        """Return the questions that wait for approval, or once did, of all analysts or of one; the newest last."""
        with self._read() as transaction:
            return approval.requests(transaction, analyst)

    def approve(self, request: str) -> ApprovalRequest:
        """Let the question of a request be charged once, as it was asked; named by its name, or how that begins.

        Guarantee: it is used up by one charge of that question, version, price and analyst, and fits no other.
        """
        with self._write() as transaction:
            return approval.decide(transaction, request, "approved", "", self._clock())

    def deny(self, request: str, reason: str = "") -> ApprovalRequest:
        """Refuse the question of a request, whoever approved it before, with a reason that its analyst reads."""
        words = approval.check_reason(reason)
        with self._write() as transaction:
            return approval.decide(transaction, request, "denied", words, self._clock())

    def alerts(self) -> Sequence[BudgetAlert]:
        """Return what the policy's shares have raised, the oldest first."""
        with self._read() as transaction:
            return alert.alerts_in([*transaction.entries()])

    # Grants ----------------------------------------------------------------------------------------------------------

    def grant(
        self,
        analyst: str,
        tables: Iterable[str],
        budgets: Budgets | None = None,
        *,
        monthly: Budgets | None = None,
        expires: datetime | None = None,
        role: Role = "analyst",
        existing: Existing | None = None,
    ) -> str:
        """Let someone ask about tables, within caps per account if given; return the token, which is shown only now.

        `budgets` and `monthly` name the accounts that the tables are paid from; None is an account without a new
        amount. An analyst has one cap on an account, over all grants, and keeps it when they have ended: `existing`
        says whether a second amount takes the place of the first ("replace") or is added to it ("add"), or that the
        caps without a new amount end ("end"). What was spent before counts.

        Guarantee: what is charged to an analyst is, account by account, within their cap as well.
        """
        names = [_named("table", each) for each in ([tables] if isinstance(tables, str) else tables)]
        if not names and check_role(role) == "analyst":
            raise BadParameter("tables", names, why="the grant would allow nothing", fix="name at least one table")
        identifier, secret = new_token()
        salt, hashed = new_verifier(secret)
        made: dict[str, Any] = {"grant": identifier, "analyst": _named("analyst", analyst), "role": check_role(role)}
        made |= {"salt": salt, "hash": hashed, "existing": check_existing(existing, budgets, monthly)}
        made |= {"tables": sorted(set(names)), "accounts": sorted({*(budgets or {}), *(monthly or {})})}
        with self._write() as transaction:
            check_analyst(analyst, transaction.all(Permit))
            now = self._clock()
            made["expires"] = check_expires(expires, now)
            changes = Caps(transaction, analyst, existing, written(now))
            caps, windows = changes.records(budgets or {}, ""), changes.records(monthly or {}, "month")
            enter(transaction, "grant", {**made, "caps": caps, "monthly": windows, "at": written(now)})
        return f"{identifier}_{secret}"

    def authenticate(self, token: str) -> Grant:
        """Return the grant that a token opens; whether its name or its secret is wrong is not said."""
        identifier, _, secret = (token if isinstance(token, str) else "").strip().partition("_")
        with self._read() as transaction:
            permit = transaction.get(Permit, identifier)
        if not matches(permit, secret) or permit is None:
            raise AccessRefused("this token", why="it is not valid here", fix="check that it was copied completely")
        grant = Grant.of(permit)
        self.admit(grant)
        return grant

    def admit(self, grant: Grant) -> None:
        """Refuse a grant that was revoked or has expired; that it has expired is entered when it is first found.

        Guarantee: once a grant was refused for its age it stays refused, wherever the machine's clock is set.
        """
        now = self._clock()
        if grant.ended(now) and not grant.revoked:
            with suppress(Unavailable), self._write() as transaction:  # one that cannot be written refuses all the same
                if grant.outlives(datetime.fromisoformat(transaction.root().at)):
                    asked = {"analyst": grant.analyst, "question": ""}
                    words = {"what": f"the grant {grant.id}", "why": "it has expired"}
                    enter(transaction, "refusal", {**asked, "refused": words, "at": written(now)})
        grant.check(now)

    def stands(self, grant: Grant) -> bool:
        """Whether a grant, as it was read, is neither revoked nor expired by the vault's time as last looked at."""
        return not grant.ended(self._clock())

    def grants(self) -> tuple[Grant, ...]:
        """Return all grants ever made, the ended ones included."""
        with self._read() as transaction:
            return tuple(Grant.of(permit) for permit in transaction.all(Permit))

    def revoke(self, who: str) -> tuple[str, ...]:
        """End a grant, or all grants of an analyst; return the identifiers of those that ended now."""
        with self._write() as transaction:
            permits = [*transaction.all(Permit)]
            chosen = [permit for permit in permits if who in (permit.id, permit.analyst)]
            if not chosen:
                raise UnknownName("grant", who, {name for permit in permits for name in (permit.id, permit.analyst)})
            ended = [permit.id for permit in chosen if permit.revoked is None]
            if ended:
                enter(transaction, "revoke", {"grants": ended, "at": written(self._clock())})
            return tuple(ended)


def _document(transaction: Transaction, paper: Paper) -> Document:
    private = transaction.get(Private, paper.kind, paper.name)
    hidden = json.loads(private.record) if private else {}
    return Document(paper.kind, paper.name, paper.revision, json.loads(paper.record), hidden)


def _named(what: str, name: object) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise BadParameter(what, name, why="a name is a printable text", fix="use letters, digits, - and _")
    return name


def _json(what: str, value: Mapping[str, Any]) -> str:
    try:
        return canonical(dict(value))
    except (TypeError, ValueError) as error:
        why, fix = "it does not consist of plain JSON values", "use texts, numbers, lists and dictionaries"
        raise BadParameter(what, value, why=why, fix=fix) from error
