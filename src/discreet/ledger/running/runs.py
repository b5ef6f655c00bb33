"""The side of a ledger that keeps running releases: charged once, settled part by part, by one worker at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.log import logger
from discreet.core.value import dataclass, replace
from discreet.ledger import debit
from discreet.ledger.artefacts.settlement import Answered, Settlement, check_answer, written
from discreet.ledger.charge import Charge, Receipt
from discreet.ledger.integrity.attestation import Attestation, statement
from discreet.ledger.lease import Heartbeat, Lease, LeaseWatch
from discreet.ledger.oversight.approval import ApprovalNeeded
from discreet.ledger.refusals import LeaseLost, QuestionFailed, Tampered, Unavailable
from discreet.ledger.running import part
from discreet.ledger.running.part import RunBehind
from discreet.ledger.running.private_state import PrivateStates
from discreet.ledger.standing import History
from discreet.ledger.store import Attempt, Debit, Run, Settled, StoredDraw, Transaction

if TYPE_CHECKING:
    from discreet.noise.draws import Draws


@dataclass(frozen=True, slots=True)
class PartDone:
    """What work on a part returns: its answer, and the private state after it; None leaves that as it was."""

    answer: Answered
    state: bytes | None = None


PartWork = Callable[["Draws", bytes], PartDone]


class RunningReleases(History):
    """A ledger's running releases, and the leases by which work on anything is shared.

    Guarantee: a running release is charged once, in full, before its first part is drawn; every part is settled once,
    under its number, by the holder of the lease; and a part that was begun is drawn again only as it was begun.
    """

    def begin_run(self, charge: Charge, kind: str) -> Receipt:
        """Charge for a running release under a key of its own; `kind` says what it is.

        Guarantee: when this returns, the debit of all its parts is durable.
        """
        asked = charge.fresh()
        with self._refusals_recorded(asked) as transaction:
            debit.check_access(transaction, asked, self._clock())
            receipt = debit.make(transaction, asked, self._clock(), self._outside.new_run(asked), running=kind)
            transaction.put(Lease.unbegun(asked.key, self._lease_seconds))
        return receipt

    def open_run(self, key: str, analyst: str | None) -> tuple[Charge, Receipt]:
        """Return what a running release was charged for, to whoever began it; one that has ended is refused."""
        from discreet.ledger.charge import read_losses

        with self._read() as transaction:
            there, _ = part.found(transaction, key)
            body = part.check_analyst(transaction, there, analyst)
            part.check_open(there)
            entry = transaction.entry(there.sequence)
            assert entry is not None  # check_analyst has seen it
            losses = read_losses(body["losses"])
            said = statement(transaction, losses)
        words = {name: body[name] for name in ("analyst", "grant", "key", "label")}
        charged = Charge(body["question"], losses, body["tables"], **words)
        receipt = Receipt(entry.sequence, key, entry.hash, losses, {}, replayed=True, attested=said)
        return charged, self._signed(receipt)

    def parts(self, key: str, after: int = 0) -> list[tuple[int, str | None]]:
        """Return the settled parts of a running release with greater numbers than `after`; failed ones have no text."""
        with self._read() as transaction:
            _, run = part.found(transaction, key)
            found = [part.settled(transaction, run, number) for number in range(after + 1, run.parts + 1)]
        return [(each.number, None if each.answer is None else self._told(each.answer)) for each in found]

    def part(
        self,
        key: str,
        asked: str,
        work: PartWork,
        *,
        known: int,
        engine: Callable[[], str] = lambda: "",
        alive: Callable[[], bool] = lambda: True,
    ) -> tuple[int, str]:
        """Work on the next part of a running release, settle it, and return its number and its text.

        `asked` says all that is asked in it, and `known` how many parts the caller knows: with others settled meanwhile
        it is refused (`RunBehind`), since what is asked may depend on them. A part that was begun by a worker who died
        is worked on again with the same draws if the same is asked, of the same tables, engine, code and state; else it
        has failed, for good, and what is asked is the part after it. An exception out of `work` settles the part as
        failed. While someone works on a part, others wait.

        Guarantee: `work` draws from the key of the debit at the number of the part and at what is asked, so no two
        parts, and no two questions, share noise; nothing is returned that was not settled.
        """
        computed_by, watch = engine(), LeaseWatch()
        while True:
            begun = self._begin_part(key, asked, computed_by, known, watch)
            if begun is not None:
                break
            time.sleep(watch.next_pause())
        run, mine, drawn = begun
        return self._worked_part(run, mine, drawn, asked, work, alive)

    def end_run(self, key: str, *, failed: bool = False) -> None:
        """End a running release: its key and its private state are removed, and nothing is refunded."""
        with self._write() as transaction:
            there, run = part.found(transaction, key)
            if there.settled is not None:
                return
            for row in (transaction.get(Lease, key), transaction.get(Attempt, key)):
                if row is not None:
                    transaction.delete(row)
            text = f'{{"parts":{run.parts}}}'
            digest = None if failed else sha256(text.encode()).hexdigest()
            debit.settle(transaction, there, 0, self._clock(), digest)
            if not failed:
                transaction.put(Settled(there.sequence, text))
        self._states.forget(key)
        with self._read() as look:
            self._forget_outside(look)

    @property
    def _states(self) -> PrivateStates:
        return PrivateStates(self._outside)

    def _begin_part(
        self, key: str, asked: str, computed_by: str, known: int, watch: LeaseWatch
    ) -> tuple[Run, Lease, bytes] | None:
        """Take the lease and note that the next part is begun; None while someone else holds it."""
        rows = [(kind, key) for kind in (Debit, Run, Lease, Attempt, StoredDraw)]
        with self._write(*rows) as transaction:
            there, run = part.found(transaction, key)
            part.check_open(there)
            if run.parts != known:
                why = f"{run.parts:,} parts are settled, and {known:,} are known here"
                raise RunBehind("the running release", why=why, fix="read the parts since, and ask again", value=known)
            held = transaction.get(Lease, key)
            mine = self._leased(transaction, key, held, watch, self._lease_seconds)
            if mine is None:
                return None
            entry = transaction.entry(there.sequence)
            drawn = self._outside.opened_run(entry.record() if entry else {}, transaction.get(StoredDraw, key))
            if drawn is None:
                why = "the key that its parts are drawn by is not on this machine, or was lost"
                fix = "go on where it was begun; a copy of a vault draws for none, so begin another, which is charged"
                raise Unavailable("the running release", why=why, fix=fix, value=key)
            bound = part.binding(asked, computed_by, there.identity, run.state)
            return part.begin(transaction, run, bound, mine, self._clock()), mine, drawn

    def _worked_part(
        self, run: Run, mine: Lease, drawn: bytes, asked: str, work: PartWork, alive: Callable[[], bool]
    ) -> tuple[int, str]:
        from discreet.noise import bits
        from discreet.noise.draws import Draws

        answer: Settlement | None = None
        text, digest = "", run.state
        try:
            state = self._states.read(run.key, run.state)
            bits.let_go()
            with Heartbeat(mine, self._renewed, alive) as beat:
                draws = Draws(drawn, beat.check).part(f"{run.parts + 1} {sha256(asked.encode()).hexdigest()}")
                if (done := _tried(work, draws, state)) is not None:
                    answer, text = self._written(done.answer), check_answer(done.answer).text
                    if done.state is not None:
                        digest = self._states.write(run.key, done.state)
            beat.check()
            self._settle_part(run, mine, answer, digest)
        except BaseException as error:
            if answer is not None:
                answer.discard() if isinstance(error, LeaseLost) else answer.release()
            self._release(mine)
            raise
        finally:
            bits.let_go()
        if answer is None:
            raise QuestionFailed
        answer.release()
        self._states.forget(run.key, but=digest)
        return run.parts + 1, text

    def _settle_part(self, run: Run, mine: Lease, answer: Settlement | None, state: str) -> None:
        with self._write((Run, run.key), (Lease, run.key), (Attempt, run.key)) as transaction:
            now = part.check_held(transaction, run, mine)
            digest, files = (answer.digest, answer.artefacts) if answer else (None, ())
            sequence = part.settle(transaction, now, mine, self._clock(), digest, state, files)
            if answer is not None and answer.text is not None:
                transaction.put(Settled(sequence, answer.text))
            transaction.put(mine.released())

    # Answers ---------------------------------------------------------------------------------------------------------

    def _written(self, answer: Answered) -> Settlement:
        return written(answer, self._kept_at)

    def _signed(self, receipt: Receipt) -> Receipt:
        """Sign what a receipt attests."""
        said = receipt.attested
        if not said or "signature" in said:
            return receipt
        return replace(receipt, attested=Attestation.signed(said, self._anchors.signer).record())

    # Leases ----------------------------------------------------------------------------------------------------------

    def _is_held(self, held: Lease | None, watch: LeaseWatch) -> bool:
        return held is not None and not watch.expired(held, self._clock().timestamp())

    def _leased(
        self, transaction: Transaction, key: str, held: Lease | None, watch: LeaseWatch, seconds: float
    ) -> Lease | None:
        """Take the lease, unless someone holds it."""
        if self._is_held(held, watch):
            return None
        now = self._clock().timestamp()
        mine = held.next(seconds, now) if held else Lease.first(key, seconds, now)
        transaction.put(mine)
        return mine

    def _renewed(self, mine: Lease) -> Lease | None:
        """Renew a lease and return it; None where it was given back, or someone else has taken over or settled."""
        with self._write((Lease, mine.key)) as transaction:
            held = transaction.get(Lease, mine.key)
            if held is None or held.fence != mine.fence or not held.expires:
                return None
            transaction.put(longer := held.renewed(self._clock().timestamp()))
        return longer

    def _release(self, mine: Lease) -> None:
        """Give a lease back, so the next run of the question need not wait; a vault that fails lets it expire."""
        self._change(mine, mine.released())

    def _change(self, mine: Lease, after: Lease) -> None:
        with suppress(Refusal), self._write() as transaction:
            held = transaction.get(Lease, mine.key)
            if held is not None and held.fence == mine.fence:
                transaction.put(after)

    @contextmanager
    def _refusals_recorded(self, charge: Charge) -> Iterator[Transaction]:
        """Write; a refusal inside becomes an entry of its own before it goes on its way."""
        refusal: Refusal | None = None
        with self._write(*debit.sought(charge), *debit.changed(charge)) as transaction:
            try:
                yield transaction
            except Tampered:  # what was half done is undone with it
                raise
            except ApprovalNeeded as error:  # the request is an entry itself
                refusal = error
            except Refusal as error:
                refusal = error
                debit.refuse(transaction, charge, error, self._clock())
        if refusal is not None:
            raise refusal


def _tried(work: PartWork, draws: Draws, state: bytes) -> PartDone | None:
    """Work; None if that failed: which way, and where, might depend on records or draws, and nobody is told."""
    try:
        done = work(draws, state)
        check_answer(done.answer)
    except Exception:  # an interruption is none
        logger.warning("a part of a running release failed after it was paid for, and is settled as failed")
        return None
    return done
