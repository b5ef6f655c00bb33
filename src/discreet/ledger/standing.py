"""Standings: how much of each limit is spent now, and what a ledger tells of its charges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from discreet.account.budgets.cost import Amount
from discreet.account.budgets.filter import PrivacyFilter
from discreet.core.value import dataclass
from discreet.ledger import debit, limit
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.refusals import Tampered
from discreet.ledger.restoration import Recovery
from discreet.ledger.store import Debit, Limit

if TYPE_CHECKING:
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.integrity.settled_release import SettledRelease

Scope = Literal["account", "grant", "window"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One limit: an account's for life, an analyst's cap over all grants, or a window of either, as it stands.

    `analyst` is None for what all analysts share; `window` is the current period, such as "2026-11".
    """

    scope: Scope
    account: str
    analyst: str | None
    filter: PrivacyFilter
    window: str | None = None

    @classmethod
    def of(cls, row: Limit, at: str) -> Standing:
        """Return a stored limit as it stands at a moment."""
        row, filter_ = limit.current(row, at)
        scope: Scope = "window" if row.period else "grant" if row.analyst else "account"
        return cls(scope, row.account, row.analyst or None, filter_, row.label or None)


class History(Recovery):
    """The side of a ledger that tells and charges nothing: answers, what waits for one, what was spent."""

    def answer(self, key: str) -> str | None:
        """Return the settled answer of a charge; None if there is none, as of one that has failed."""
        with self._read() as transaction:
            there = transaction.get(Debit, key)
            found = debit.settled_answer(transaction, there) if there and there.digest is not None else None
        return None if found is None else self._told(found)

    def answered(self, key: str) -> bool:
        """Whether a charge has its settled answer; a file that has it is not looked at."""
        with self._read() as transaction:
            there = transaction.get(Debit, key)
            return there is not None and there.digest is not None

    def failed(self, key: str) -> bool:
        """Whether a charge was paid for and failed."""
        with self._read() as transaction:
            there = transaction.get(Debit, key)
            return there is not None and there.failed

    def unsettled(self) -> tuple[tuple[int, str], ...]:
        """Return the number and the key of every charge that waits for its answer."""
        with self._read() as transaction:
            waiting = ((each.sequence, each.key) for each in transaction.all(Debit) if each.settled is None)
            return tuple(sorted(waiting))

    def refused(self, analyst: str | None, question: str, why: str) -> None:
        """Record a question that was refused before it came to a charge."""
        # Nobody has checked this text yet; half characters, which cannot be stored, are written as escapes.
        asked = debit.cut(question.encode(errors="backslashreplace").decode())
        with self._write() as transaction:
            body = {"analyst": analyst, "question": asked, "refused": {"why": why}, "at": written(self._clock())}
            enter(transaction, "refusal", body)

    def spent(self, account: str, analyst: str | None = None) -> Amount:
        """Return what was spent of an account, as its filter counts, by all or by one analyst."""
        with self._read() as transaction:
            filter_ = limit.account_filter(transaction, account)
            return filter_.spent if analyst is None else limit.tally(transaction, account, analyst, filter_)

    def standing(self, analyst: str | None = None) -> tuple[Standing, ...]:
        """Return every limit as it stands now; for one analyst, their own, which last when their grants have ended."""
        with self._read() as transaction:
            at = written(self._clock())
            found = [Standing.of(each, at) for each in transaction.all(Limit)]
        return tuple(each for each in found if analyst in (None, each.analyst))

    # Certificates ----------------------------------------------------------------------------------------------------

    def released(self, sequence: int) -> SettledRelease:
        """Return the release whose charge is the entry of that number; what has no answer is refused."""
        from discreet.ledger.integrity.settled_release import SettledRelease

        with self._read() as transaction:
            return SettledRelease.find(transaction, sequence)

    def declared(self, kind: str, name: str, before: int) -> Mapping[str, Any]:
        """Return what was declared under a kind and a name when the entry of that number was written."""
        from discreet.ledger.integrity.settled_release import declared

        with self._read() as transaction:
            return declared(transaction, kind, name, before)

    def certify(self, release: SettledRelease, said: Mapping[str, Any]) -> Certificate:
        """Sign what the chain says of a release, and what its declarations say.

        Guarantee: entries, question, losses and the answer's hash are those of the chain, whatever is `said`.
        """
        from discreet.ledger.integrity.certificate import Certificate

        with self._read() as transaction:
            known = release.claims(transaction)
        signer = self._signer()
        named = {"vault": self.vault_id, "public_key": signer.public_key}
        return Certificate.signed({**said, **known, **named}, signer.sign)

    def check_certificate(self, text: str) -> Certificate:
        """Read a certificate of this vault, and compare it with the chain as well.

        Guarantee: it was signed by the key that the vault had when what it certifies was settled, or has now.
        """
        from discreet.ledger.integrity.certificate import checked

        signer = self._signer()
        certificate = checked(text, (signer.public_key, *signer.retired), self.vault_id)
        with self._read() as transaction:
            if not signer.is_key_of(certificate.claims["public_key"], certificate.claims["settled"]["sequence"]):
                why = "it is signed by a key that the vault had exchanged before that release"
                raise Tampered("the certificate", why=why, fix="have it made again, and rotate no key back")
            certificate.check_chain(transaction)
        return certificate
