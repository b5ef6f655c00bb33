"""The ledger: the one place where every question is paid for before it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Refusal
from discreet.core.log import logger
from discreet.core.value import replace
from discreet.ledger import debit, takeover
from discreet.ledger.artefacts.settlement import Answered, Settlement, check_answer
from discreet.ledger.charge import Charge, Receipt
from discreet.ledger.clock import Clock, wall_clock
from discreet.ledger.debit import StandingCharge
from discreet.ledger.integrity.attestation import statement
from discreet.ledger.lease import ALONE, SECONDS, Heartbeat, Lease, LeaseWatch
from discreet.ledger.refusals import Conflict, LeaseLost, QuestionFailed, Unavailable
from discreet.ledger.rotation import Rotations
from discreet.ledger.sealed_key import NewKey
from discreet.ledger.store import Debit, Settled, Store, StoredDraw, Transaction
from discreet.ledger.takeover import KeptAnswer, KeptAnswers, keeping

if TYPE_CHECKING:
    from discreet.noise.draws import Draws


class Ledger(Rotations):
    """A vault's accounts, documents, grants and charges; made by `Ledger.create` and `Ledger.open`.

    Threads may share a ledger, processes may open the same vault, and a fork is survived.

    Guarantee: whatever crashes or races, what was answered is together within every account's budget, because the
    debit of a question is on disk before its work begins, and only its one settled answer is ever returned.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = SECONDS,
        anchor: str | Path | None = None,
    ) -> None:
        super().__init__(store, clock=clock, lease_seconds=lease_seconds, anchor=anchor)
        self._kept = KeptAnswers()

    def close(self) -> None:
        """Let go of the file or the connection; harmless when repeated."""
        for kept in [*self._kept.values()]:
            with suppress(Refusal):  # what still cannot be stored is lost
                self._settle_kept(kept.charge)
        super().close()

    def run(
        self,
        charge: Charge,
        work: Callable[[Draws], Answered],
        *,
        fresh: bool = False,
        engine: Callable[[], str] = lambda: "",
        alive: Callable[[], bool] = lambda: True,
    ) -> tuple[str, Receipt]:
        """Return the settled answer to a question and its receipt; charge for it and do the work where need be.

        A settled answer is replayed at no charge. A debit whose worker died is worked on again at no new charge, by one
        worker at a time, with the same draws. `fresh` pays again, for an answer of its own, unless one was paid for so
        and given up before it was answered. An exception out of `work` settles the debit as failed, permanently, and is
        not raised: everyone gets the one text of `QuestionFailed`. So does the seventeenth try. Anyone who asks for
        work that is done `once` while someone does it is refused, and so is anyone who cannot continue what someone
        else began, until six hours after that: then it has failed.
        `engine` says what computes the answer, in which version; it is asked before the charge, and never for a replay.
        Files that work returns with its text (`Filed`), and a text that is too long for the ledger, lie in the vault's
        folder; a replay looks at the file, and a file that was lost or changed is refused, never made again.
        While `work` runs, and `alive` says that it is not stuck, its lease is renewed: whoever else asks waits, however
        long it takes.

        Guarantee: `work` is called only after the question's debit is durable; however often it is called for one
        debit, it draws the same noise, or it is not called again at all.
        """
        before = self._given_up(charge) if fresh else None
        asked, watch = before or (charge.fresh() if fresh else charge), LeaseWatch()
        taken_up = not self._settle_kept(asked) and before is not None
        seconds = self._lease_seconds * (ALONE if fresh or charge.once else 1)
        while True:
            try:
                found, mine, key = self._take(asked, watch, engine, seconds)
            except Unavailable as error:
                if not fresh or self._is_found_again(asked):
                    raise
                raise takeover.perhaps_paid(error) from None
            if taken_up and mine is None:  # someone was faster, or it cannot be gone on with
                asked, taken_up = charge.fresh(), False
                continue
            taken_up = False
            if found.failed:
                raise QuestionFailed
            if found.answer is not None:
                return self._told(found.answer), self._signed(found.receipt)
            if mine is not None:
                done = self._worked(asked, found.receipt, mine, work, key, alive)
                if done is not None:
                    text, said = done
                    return text, self._signed(replace(found.receipt, replayed=False, attested=said))
            elif charge.once or found.stranded:
                raise takeover.busy(found, self._lease_seconds)
            time.sleep(watch.next_pause())

    def charge(self, charge: Charge) -> Receipt:
        """Take a question's losses from every account, window and cap it touches, or from none.

        A key that was charged before is not charged again. A refusal is recorded, and raised with what was requested,
        what remains, the difference and what would fit.

        Guarantee: when this returns, the debit is durable.
        """
        with self._refusals_recorded(charge) as transaction:
            found = debit.find(transaction, charge, self._clock())
            return found.receipt if found else debit.make(transaction, charge, self._clock(), self._new_key(charge, ""))

    def bill(self, charge: Charge) -> Receipt:
        """Charge for work that is done elsewhere, and settle that at once.

        Guarantee: when this returns, the debit is durable; a key is billed once, and with one meaning.
        """
        with self._refusals_recorded(charge) as transaction:
            receipt = debit.pay(transaction, charge, self._clock())
        return self._signed(receipt)

    def lease(self, receipt: Receipt) -> Lease:
        """Take the right to work on a charge that has no answer; refused while someone else holds it."""
        with self._write() as transaction:
            there = transaction.get(Debit, receipt.key)
            if there is None or there.settled is not None or there.sequence != receipt.sequence:
                why, fix = "it is no charge that waits for its answer", "run the question to have its answer"
                raise Conflict(f"the key {receipt.key}", why=why, fix=fix, value=receipt.key)
            held = transaction.get(Lease, receipt.key)
            mine = self._leased(transaction, receipt.key, held, LeaseWatch(), self._lease_seconds)
            if mine is None:
                why, fix = "someone is working on it", "wait for their answer"
                raise Conflict(f"the key {receipt.key}", why=why, fix=fix, value=receipt.key)
            return mine

    def settle(self, receipt: Receipt, lease: Lease, answer: Answered) -> None:
        """Store the answer of a charge, permanently; one that comes after someone else took over is refused.

        Guarantee: a charge has at most one answer.
        """
        self._settle(receipt, lease, self._written(answer))

    def _settle(self, receipt: Receipt, lease: Lease, answer: Settlement | None) -> Mapping[str, Any]:
        """Store the answer of a charge, or that it has failed; let go of its files; return what can be attested."""
        try:
            said = self._store_answer(receipt, lease, answer)
        except LeaseLost:
            if answer is not None:
                answer.discard()
            raise
        if answer is not None:
            answer.release()
        return said

    def _store_answer(self, receipt: Receipt, lease: Lease, answer: Settlement | None) -> Mapping[str, Any]:
        digest, files = (answer.digest, answer.artefacts) if answer else (None, ())
        with self._write((Debit, lease.key), (Lease, lease.key)) as transaction:
            there = transaction.get(Debit, lease.key)
            held = transaction.get(Lease, lease.key)
            if there is None or held is None or (there.sequence, held.fence) != (receipt.sequence, lease.fence):
                why, fix = "another worker has taken the question over", "use the answer that is settled"
                raise LeaseLost(f"the answer to {lease.key}", why=why, fix=fix, value=lease)
            debit.settle(transaction, receipt, held.fence, self._clock(), digest, files)
            if answer is not None and answer.text is not None:
                transaction.put(Settled(there.sequence, answer.text))
            transaction.delete(held)
            return statement(transaction, receipt.losses)

    def settle_abandoned(self) -> int:
        """Settle as failed what nobody works on and nobody will ask for again; return how many charges that were.

        Those are charges with a key of their own (`fresh`) whose lease has ended, and all whose lease ended a day ago,
        or that were charged a day ago and given up.
        The key outside the database is forgotten once nothing waits for its answer.
        """
        with self._read() as look:
            waiting = [*debit.abandoned(look, self._clock())]
        if waiting:
            with self._write() as transaction:
                waiting = [*debit.abandoned(transaction, self._clock())]
                for there, held in waiting:
                    debit.settle(transaction, there, held.fence if held else 0, self._clock(), None)
                    if held is not None:
                        transaction.delete(held)
            with self._read() as look:
                self._forget_outside(look)
        return len(waiting)

    # How a run proceeds ----------------------------------------------------------------------------------------------

    def _take(
        self, charge: Charge, watch: LeaseWatch, engine: Callable[[], str], seconds: float
    ) -> tuple[StandingCharge, Lease | None, bytes | None]:
        """Find the charge or make it, and the lease on it if that is free, with the key to draw by.

        Looks before locking out other writers. A charge that may not be worked on a second time is settled as failed.
        """
        # What is refused here is refused, and recorded, below.
        with suppress(Refusal), self._read(*debit.sought(charge)) as look:
            found = debit.find(look, charge, self._clock())
            if found and (found.answer is not None or found.failed or self._is_held(found.lease, watch)):
                return found, None, None
        mine: Lease | None = None
        key: bytes | None = None
        paid = False
        computed_by = "" if charge.once else engine()
        try:
            with self._refusals_recorded(charge) as transaction:
                found = debit.find(transaction, charge, self._clock())
                if found is None:
                    new = self._new_key(charge, computed_by)
                    found, key = (
                        StandingCharge(debit.make(transaction, charge, self._clock(), new)),
                        new.key if new else None,
                    )
                    if charge.once:  # begun in a transaction of its own: what was never begun is known by that
                        transaction.put(Lease.unbegun(charge.key, seconds))
                        paid = True
                    else:
                        mine = self._leased(transaction, charge.key, None, watch, seconds)
                elif found.answer is None and not found.failed and not self._is_held(found.lease, watch):
                    found, key = takeover.continued(
                        transaction,
                        found,
                        partial(self._old_key, transaction, charge, computed_by, found),
                        self._clock(),
                        self._lease_seconds,
                    )
                    if not found.failed and not found.stranded:
                        mine = self._leased(transaction, charge.key, found.lease, watch, seconds)
        except BaseException:  # possibly after the commit, when the anchor could not be written
            if mine is not None:
                self._change(mine, Lease.unbegun(charge.key, seconds) if charge.once else mine.released())
            raise
        return self._take(charge, watch, engine, seconds) if paid else (found, mine, key)

    def _given_up(self, charge: Charge) -> Charge | None:
        """Return a charge like this one, under a key of its own, that nobody has answered and nobody holds."""
        if (kept := self._kept.like(charge)) is not None:
            return kept
        with self._read() as look:
            key = debit.unanswered(look, charge)
        return None if key is None else replace(charge, key=key)

    def _is_found_again(self, charge: Charge) -> bool:
        """Whether a charge under a key of its own was not made, or is found by whoever asks again."""
        with suppress(Refusal), self._read() as look:
            return look.get(Debit, charge.key) is None or debit.unanswered(look, charge) is not None
        return False

    def _settle_kept(self, charge: Charge) -> bool:
        """Settle the answer to a charge that could not be settled before; say whether there was one."""
        kept = self._kept.pop(charge.key, None)
        if kept is None:
            return False
        try:
            with suppress(LeaseLost):  # it was settled after all, or given up
                self._settle(kept.receipt, kept.lease, kept.answer)
        except Unavailable as error:
            self._kept.add(kept)
            raise keeping(error) from None
        return True

    def _new_key(self, charge: Charge, engine: str) -> NewKey | None:
        """Return the key of a new debit, sealed; None for work that is never done twice."""
        return None if charge.once else self._outside.new(charge, engine)

    def _old_key(self, transaction: Transaction, charge: Charge, engine: str, found: StandingCharge) -> bytes | None:
        """Return the key of a debit that was charged before, if it may be worked on again: all is as it was then."""
        if charge.once or found.repriced:
            return None
        return self._outside.opened(charge, engine, transaction.get(StoredDraw, charge.key), found.commitment)

    def _worked(
        self,
        charge: Charge,
        receipt: Receipt,
        mine: Lease,
        work: Callable[[Draws], Answered],
        key: bytes | None,
        alive: Callable[[], bool],
    ) -> tuple[str, Mapping[str, Any]] | None:
        """Work and settle; None if it failed, or if someone took over meanwhile: what is settled then is the answer.

        A worker that is interrupted leaves the debit to the next one, who repeats its draws. What is done once draws
        from the thread's own stream; no fixed stream comes in from, or goes on to, other work.
        """
        from discreet.noise import bits
        from discreet.noise.draws import Draws, new_key

        text: str | None = None
        answer: Settlement | None = None
        try:
            bits.let_go()
            with Heartbeat(mine, self._renewed, alive) as beat:
                if (done := _tried(work, Draws(key or new_key(), beat.check))) is not None:
                    answer = self._written(done)
                    text = check_answer(done).text
            beat.check()
            said = self._settle(receipt, mine, answer)
        except BaseException as error:
            if isinstance(error, LeaseLost) and error.value == mine:
                if answer is not None:
                    answer.discard()
                return None
            if not charge.once:
                if answer is not None:  # which may be settled: the end of a commit may be unknown
                    answer.release()
                self._release(mine)
                raise
            kept = KeptAnswer(charge, receipt, mine, answer)
            if isinstance(error, Unavailable) and kept.worth_keeping:
                self._kept.add(kept)
                raise keeping(error) from None
            self._fail(replace(kept, answer=None))
            if answer is not None:
                answer.release()
            raise
        finally:
            bits.let_go()
        return None if text is None else (text, said)

    def _fail(self, kept: KeptAnswer) -> None:
        """Settle work that is done once as failed, now or when the vault can next be written from this process."""
        self._kept.add(kept)
        with suppress(Refusal):
            self._settle_kept(kept.charge)


def _tried(work: Callable[[Draws], Answered], draws: Draws) -> Answered | None:
    """Work; None if that failed: which way, and where, might depend on records or draws, and nobody is told."""
    try:
        return check_answer(work(draws))
    except Exception:  # an interruption is none
        logger.warning("a question failed after it was paid for, and is settled as failed")
        return None
