"""Oversight: the side of a curator that tells what a vault did: certificates, and the policy that writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.ask.release_list import Release
    from discreet.ask.work_limits import Late
    from discreet.core.rational import Number
    from discreet.curator.disclosure.evaluation import Evaluation
    from discreet.curator.disclosure.registry_entry import RegistryEntry
    from discreet.ledger.artefacts.artefact import Artefact, ArtefactPolicy
    from discreet.ledger.charge import Receipt
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.integrity.witnesses import AnchorPolicy
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.oversight.alert import BudgetAlert
    from discreet.ledger.oversight.approval import ApprovalRequest
    from discreet.ledger.oversight.charge_policy import ChargePolicy
    from discreet.ledger.recovery.backup import BackedUp
    from discreet.ledger.recovery.forfeit import Forfeited
    from discreet.ledger.rotation import RotatedSecret
    from discreet.measures.minimum_frequency import MinimumFrequency


class Oversight:
    """What a custodian tells others of a vault, and how it outlives its disk; nothing here reads a row."""

    ledger: Ledger

    def certificate(self, sequence: int) -> Certificate:
        """Return the signed certificate of a release, by the number of its charge.

        Guarantee: nothing in it was computed from a record, but the hash of what was published.
        """
        from discreet.curator.disclosure.certificates import certificate

        return certificate(self.ledger, sequence)

    def certificates(self, folder: str | Path | None) -> bool:
        """Write the certificate of each release into a folder as it is settled; return whether that is new.

        None ends it. Certificates that are there stay there.
        """
        from discreet.curator.disclosure.certificates import KIND, NAME, CertificatePolicy

        wanted = CertificatePolicy(None if folder is None else str(Path(folder).absolute()))
        if wanted == CertificatePolicy.of(self.ledger):
            return False
        self.ledger.put(KIND, NAME, wanted.record())
        return True

    def late(self) -> list[Late]:
        """Return the questions that were stopped at their deadline, the oldest first: for custodians alone."""
        from discreet.ask.work_limits import late

        return late(self.ledger)

    def releases(self, analyst: str | None = None) -> list[Release]:
        """Return what was paid for, by everybody or by one analyst, the newest last, with the files of each."""
        from discreet.ask.release_list import releases_of

        return releases_of(self.ledger, analyst)

    def artefact(self, file: str | Artefact, place: str | Path) -> Path:
        """Copy a published file to a new place; one that was lost or changed is refused."""
        found, _ = self.ledger.artefact(file if isinstance(file, str) else file.name)
        self.ledger.artefacts.copy(found, place)
        return Path(place)

    def artefacts(self, *, folder: str | Path | None = None, largest: int | None = None) -> ArtefactPolicy:
        """Say where published files lie, and from how many bytes on an answer is one; return what holds then.

        `folder` is a whole path, "" for the usual folder beside the vault. Files that are there are not moved: move
        them yourself, under their names, before anyone asks for them.
        """
        from discreet.ledger.artefacts.artefact import KIND, NAME

        before = self.ledger.artefact_policy()
        after = before.with_changes({"folder": folder, "largest": largest})
        if after != before:
            self.ledger.put(KIND, NAME, after.record())
        return after

    def anchors(
        self, *, required: bool | None = None, path: str | Path | None = None, log: str | Path | None = None
    ) -> AnchorPolicy:
        """Say where else the head of this vault is kept, and whether it may be missing; return what holds then.

        `path` is a second file, best on another disk; `log` an append-only log; "" ends one. A vault of which an anchor
        is missing opens with an entry that says so, or is frozen if anchors are `required`.
        """
        named = {name: None if place is None else str(place) for name, place in (("path", path), ("log", log))}
        before = self.ledger.anchor_policy()
        after = before.with_changes({"required": required, **named})
        if after != before:
            self.ledger.keep_anchors(after)
        return after

    @property
    def frozen(self) -> str | None:
        """Why the vault is frozen: it is older than a head it was shown, or a required anchor is missing. Else None."""
        return self.ledger.frozen

    def backup(self, folder: str | Path) -> BackedUp:
        """Copy the vault, its published files and its copies of rows into a new folder, while it is in use.

        Guarantee: the copy is one state of the vault, verified; nothing is written over; and it has no key by which a
        question that waits for its answer could be drawn again.
        """
        return self.ledger.backup(folder)

    def vouch(self, *receipts: object) -> str | None:
        """Show receipts to the vault, by your word that the newest there is is among them; return why it is frozen.

        Answers and their receipts serve as well. One that the vault has lost freezes it. A vault that was frozen only
        because an anchor is missing, and has lost none of them, answers again, and an entry says so.
        """
        return self.ledger.vouch(receipts)

    def forfeit(self, *receipts: object) -> Forfeited:
        """Go on with a frozen vault whose newest copy is lost: spend all but what the newest receipt shows left.

        Guarantee: no budget is exceeded by all that was and will be answered, if no receipt is newer than those shown.
        """
        return self.ledger.forfeit(receipts)

    def certify(self, receipt: Receipt) -> None:
        """Keep the certificate of what was released now, where the policy wants one of every release."""
        from discreet.curator.disclosure.certificates import CertificatePolicy

        if not receipt.replayed:
            CertificatePolicy.of(self.ledger).keep(self.ledger, receipt.sequence)

    def withhold(self, *, below: int | None = None) -> MinimumFrequency:
        """Have groups of fewer people withheld in every answer from now on, 0 for none; return the rule that holds.

        A group is judged by a noisy count of its people, which is part of every question's price; see docs/policy.md.
        Answers that were settled before stay as they are.
        """
        from discreet.measures.minimum_frequency import KIND, NAME, MinimumFrequency

        before = MinimumFrequency.of(self.ledger.list(KIND))
        after = before if below is None else MinimumFrequency(below)
        if after != before:
            self.ledger.put(KIND, NAME, after.record())
        return after

    def rotate(self) -> str:
        """Sign certificates and anchors with a new key from now on, and return its public half, to be published.

        Old certificates stay verifiable, with the old public key or with the vault.
        """
        return self.ledger.rotate()

    def rotate_secret(self) -> RotatedSecret:
        """Exchange the vault's random secret, by which rows are sealed and put in order; return what that ended.

        Refused while somebody works on a question. What had died unanswered is settled as failed; budgets, answers,
        grants, files and running releases but counters stay, and so does what people and rows are known again by.

        Guarantee: nothing is given back, and a copy of known rows gets no account of its own.
        """
        from discreet.engines.duckdb.kept_rows import Ranks

        found = self.ledger.rotate_secret()
        Ranks(self.ledger.folder, b"").remove()  # in an order that the vault has no more
        return found

    def charging(
        self, *, approval: Iterable[str] | None = None, alerts: Iterable[Number] | None = None
    ) -> ChargePolicy:
        """Set what waits for your approval, and at which shares you are alerted; return both. None leaves one as it is.

        `approval` names tables, or "*" for all: an analyst's question about one of them is charged only once you have
        approved it. `alerts` are shares, such as 0.2: a charge that leaves less of a budget than that is an entry.
        """
        from discreet.ledger.oversight.charge_policy import EVERY, KIND, NAME, ChargePolicy

        before = self.ledger.charge_policy()
        names = before.approval if approval is None else approval
        after = ChargePolicy.made(names, before.alerts if alerts is None else alerts)
        for name in after.approval:
            if name != EVERY:
                self.ledger.get("table", name)  # refuses an unknown one
        if after != before:
            self.ledger.put(KIND, NAME, after.record())
        return after

    def pending(self) -> list[ApprovalRequest]:
        """Return the questions that wait for your approval, the oldest first."""
        return [each for each in self.ledger.requests() if each.state == "pending"]

    def approve(self, request: str) -> ApprovalRequest:
        """Let a question that waits be asked once more, and answered: that question, version, price and analyst alone.

        `request` is its name, or at least the first eight characters of it.
        """
        return self.ledger.approve(request)

    def deny(self, request: str, reason: str = "") -> ApprovalRequest:
        """Refuse a question that waits; its analyst reads the reason. It has cost nothing, and nothing was drawn."""
        return self.ledger.deny(request, reason)

    def alerts(self) -> Sequence[BudgetAlert]:
        """Return the charges that left less of a budget than a share of the policy, the oldest first."""
        return self.ledger.alerts()

    def evaluate(self) -> Evaluation:
        """Return what a reviewer must see of this vault: what it promises to whom, how, and what was looked at when.

        Guarantee: it is made of declarations and of the ledger, which hold nothing that was computed from a row.
        """
        from discreet.curator.disclosure.evaluation import evaluation

        return evaluation(self.ledger)

    def disclose(self, account: str | None = None, **told: str) -> RegistryEntry:
        """Return an account's entry for the OpenDP deployments registry, as far as the ledger tells it.

        `told` are the fields that no ledger knows: name, curator, intended_use, region, sector, description, author.
        """
        from discreet.curator.disclosure.registry_entry import registry_entry

        return registry_entry(self.ledger, account, told)
