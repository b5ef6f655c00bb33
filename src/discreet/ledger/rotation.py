"""Rotation: the side of a ledger that exchanges the vault's keys: the one that signs, and the random secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from secrets import token_bytes
from typing import Any

from discreet.core.value import dataclass, replace
from discreet.ledger import debit
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.integrity import freeze, keys, vault_secret
from discreet.ledger.integrity.seal import SealedTransaction
from discreet.ledger.integrity.witnesses import Witnesses
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Conflict, Tampered
from discreet.ledger.running import part
from discreet.ledger.running.runs import RunningReleases
from discreet.ledger.store import Attempt, Debit, Paper, Private, Run, Secret, StoredDraw

# Running releases whose price holds where the same rows of a person are kept in all parts, hence in one order alone:
# in another order others are kept, so that somebody's rows would count before an exchange and others after it.
IN_ONE_ORDER = frozenset({"counter"})


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """What an exchange of the secret ended: questions that had died unanswered, parts of running releases, counters."""

    questions: int
    parts: int
    counters: tuple[str, ...] = ()


class Rotations(RunningReleases):
    """A ledger's keys, which are exchanged in one transaction each."""

    def rotate(self) -> str:
        """Sign with a new key from now on, and return its public half; the old one signed up to this.

        Certificates and anchors that the old key signed stay valid, and it signs nothing of later entries. Other
        programs that have the vault open find the new key when they next write.

        Guarantee: the key, and the entry that names it, signed by the old key, are exchanged in one transaction: after
        a crash a vault has the one or the other, and its anchors are those of either.
        """
        private = keys.new_signing_key()
        with self._write() as transaction:
            there = transaction.get(Paper, keys.KIND, keys.NAME)
            known = json.loads(there.record)["rotations"] if there else []
            signer, said = keys.rotated(self._anchors.signer, private, transaction.head().sequence + 1)
            self._enter_keys(transaction, keys.NAME, there, {"rotations": [*known, said]})
            transaction.exchange(Secret("signing", private))
            policy = freeze.policy_of(transaction)
        self._anchors = Witnesses.of(self.place, signer, self._given, policy)
        self._anchors.put(self._seen)  # all of them: an older copy of the vault, which has the old key, knows none
        return signer.public_key

    def rotate_secret(self) -> RotatedSecret:
        """Put a new random secret in the place of the vault's, and seal every row with it; return what that ended.

        The vault is verified first, since rows that somebody changed with the old secret would get a new seal. While
        somebody works on a question it is refused. What nobody works on is settled as failed: its draws belong to
        rows in the old order. Running releases go on, but for counters, which have failed since they need one order of
        rows; a part that was begun has failed. What people are known again by stays. Other programs that have the vault
        open find the new secret when they next look.

        Guarantee: one transaction, so that a vault is sealed by the one or the other; no budget, answer, grant, file or
        entry changes; and copies of people and rows are found as before.
        """
        if self.frozen is not None:
            raise freeze.refused(self.place, self.frozen)
        self.verify()
        new = token_bytes(32)
        with self._write() as transaction:
            _refuse_work(transaction, self._clock().timestamp())
            transaction.check_total()
            ended = self._end_draws(transaction)
            before, there = self._secret, transaction.get(Paper, keys.KIND, vault_secret.NAME)
            after = before.exchanged(new)
            said = after.said(json.loads(there.record) if there else None, transaction.head().sequence + 1)
            self._enter_keys(transaction, vault_secret.NAME, there, said)
            for row in [*transaction.all(Private)]:
                if row.seal != keys.seal(before.value, row.kind, row.name, str(row.revision), row.record):
                    raise Tampered(f"the {row.kind} {row.name!r}", why="what is stored beside it was changed")
                seal = keys.seal(new, row.kind, row.name, str(row.revision), row.record)
                transaction.put(replace(row, seal=seal))
            transaction.exchange(Secret("secret", new))
            transaction.exchange(Secret(vault_secret.RECOGNITION, after.recognition))
            transaction.seal_anew(after.sealer)
        self._secret = after
        for key in ended.counters:
            self._states.forget(key)
        with self._read() as look:
            self._forget_outside(look)
        return ended

    def _enter_keys(
        self, transaction: SealedTransaction, name: str, there: Paper | None, record: dict[str, Any]
    ) -> None:
        named = {"kind": keys.KIND, "name": name, "revision": there.revision + 1 if there else 1}
        enter(transaction, "document", {**named, "record": record, "at": written(self._clock())})

    def _end_draws(self, transaction: SealedTransaction) -> RotatedSecret:
        """Settle as failed whatever could be drawn again: the same draws on other rows would tell their difference."""
        questions, parts, counters = 0, 0, list[str]()
        for draw in [*transaction.all(StoredDraw)]:
            there, run = transaction.get(Debit, draw.key), transaction.get(Run, draw.key)
            held = transaction.get(Lease, draw.key) or Lease.unbegun(draw.key, self._lease_seconds)
            if there is None:
                raise Tampered("a sealed key", why="it is for no charge that waits for its answer")
            if run is None:
                debit.settle(transaction, there, held.fence, self._clock(), None)
                transaction.delete(held)
                questions += 1
            elif run.kind in IN_ONE_ORDER:
                for row in (transaction.get(Lease, draw.key), transaction.get(Attempt, draw.key)):
                    if row is not None:
                        transaction.delete(row)
                debit.settle(transaction, there, held.fence, self._clock(), None)
                counters.append(draw.key)
            elif transaction.get(Attempt, run.key) is not None:
                part.settle(transaction, run, held, self._clock(), None, "")
                parts += 1
        return RotatedSecret(questions, parts, tuple(counters))


def _refuse_work(transaction: SealedTransaction, now: float) -> None:
    """Refuse while somebody may be at work: on rows in the old order, with a lease that lasts."""
    leases = [held.expires for held in transaction.all(Lease) if held.expires > now]
    if leases:
        last = datetime.fromtimestamp(max(leases), UTC).isoformat(timespec="seconds")
        are = f"{len(leases):,} question{'s are' if len(leases) > 1 else ' is'}"
        why = f"{are} being worked on, with rows in the order it gives"
        fix = f"repeat it once they are answered, or after stopping the server; a killed worker's lease ends by {last}"
        raise Conflict("exchanging the vault's secret", why=why, fix=fix, value=len(leases))
