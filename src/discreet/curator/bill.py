"""Bills of tables: whose account pays for work that was done elsewhere, and by whose word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING

from discreet.account.losses.loss import KINDS, PrivacyLoss
from discreet.core.errors import BadParameter
from discreet.core.printable import printable
from discreet.ledger.charge import Charge, Receipt
from discreet.ledger.entry import canonical, digest

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ledger.grant import Grant
    from discreet.ledger.ledger import Ledger

_LONGEST = 200


def bill(
    ledger: Ledger,
    tables: Sequence[Registered],
    loss: object,
    label: str,
    key: str | None,
    *,
    grant: Grant | None = None,
    check: Callable[[Charge], None] = lambda _: None,
) -> Receipt:
    """Charge a loss to the account of every table, once for each account, in one transaction.

    Guarantee: each account is charged the whole loss, however many of its tables were read: a person may be in all.
    """
    stated = check_loss(loss)
    losses = dict.fromkeys((each.account for each in tables), stated)
    check_relations(losses, {each.account: each.table.unit.relation for each in tables})
    versions = {each.name: each.version for each in tables}
    whose = {} if grant is None else {"analyst": grant.analyst, "grant": grant.id}
    made = bill_of(losses, versions, label, key=key, **whose)
    check(made)
    return ledger.bill(made)


def bill_of(
    losses: Mapping[str, PrivacyLoss],
    tables: Mapping[str, int],
    label: str,
    *,
    key: str | None = None,
    analyst: str | None = None,
    grant: str | None = None,
) -> Charge:
    """Return the charge of a bill: its losses by account, the versions of its tables, and what it was for.

    Two bills are two charges, also if they are alike. `key` is the caller's own name for one of them, by which a retry
    is known; it belongs to the analyst, or to the custodian, and is no key of a question.
    """
    said = {"bill": _label("label", label), "losses": _records(losses), "tables": sorted(tables)}
    owner = () if analyst is None else (analyst,)
    known = token_hex(32) if key is None else digest("bill", *owner, _label("key", key))
    return Charge(canonical(said), losses, tables, analyst, grant, known, label, once=True)


def check_loss(loss: object) -> PrivacyLoss:
    """Return a loss, or refuse what is none, and a loss of nothing: what costs nothing needs no bill."""
    if not isinstance(loss, PrivacyLoss):
        why = "a bill states what happened, as a privacy loss"
        fix = f"use a loss such as Zcdp(0.1) or Pure(1): one of {', '.join(KINDS)}, or a sum of them"
        raise BadParameter("loss", loss, why=why, fix=fix)
    if not loss.peak and not loss.slack:
        raise BadParameter("loss", loss, why="it loses nothing", fix="leave the bill out: this costs nothing")
    return loss


def check_relations(losses: Mapping[str, PrivacyLoss], relations: Mapping[str, str]) -> None:
    """Refuse a loss that holds under another relation than the account counts."""
    for account, loss in losses.items():
        if loss.relation != relations[account]:
            why = (
                f"the budget of {account!r} is counted under {relations[account]!r}, and this is about other neighbours"
            )
            fix = f"work the loss out under {relations[account]!r}, or bill a table whose unit has"
            fix = f"{fix} relation={loss.relation!r}; reports under local privacy hold under 'replace'"
            raise BadParameter("relation", loss.relation, why=why, fix=fix)


def names_of(tables: str | Iterable[str]) -> tuple[str, ...]:
    """Return the tables of a bill, each once, or refuse a bill that names none."""
    names = (tables,) if isinstance(tables, str) else tuple(dict.fromkeys(tables))
    if not names:
        why = "somebody's rows were used, and their budget pays"
        raise BadParameter("tables", names, why=why, fix="name the tables that the work read")
    return names


def _label(name: str, text: object) -> str:
    """Return a few words for people, which every listing can show in a line."""
    if isinstance(text, str) and text.strip() and len(text) <= _LONGEST and printable(text) == text:
        return text
    why = f"it is a line of 1 to {_LONGEST} visible characters"
    raise BadParameter(name, text, why=why, fix="say in a few words what was done, such as 'training on the cluster'")


def _records(losses: Mapping[str, PrivacyLoss]) -> dict[str, object]:
    return {account: losses[account].record() for account in sorted(losses)}
