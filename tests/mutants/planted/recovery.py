"""Planted bugs of what outlives a process: running releases, published files, backups, forfeits, receipts."""

from tests.mutants.mutant import SourceMutant

RUNS = ("ledger/running/test_runs.py",)
FILES = ("ledger/artefacts/test_folder.py", "ledger/artefacts/test_draft.py", "ledger/artefacts/test_settlement.py")
BACKUPS = ("ledger/recovery/test_backup.py", "ledger/recovery/test_restore.py")
FORFEITS = ("ledger/recovery/test_forfeit.py",)

MUTANTS = [
    SourceMutant(
        "ledger/running/runs.py",
        "            if run.parts != known:",
        "            if run.parts < known:",
        "a part is asked for by someone who does not know all parts before it",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/runs.py",
        "asked = charge.fresh()",
        "asked = charge",
        "a running release that is begun again is not charged again",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/runs.py",
        "        self._states.forget(key)\n        with",
        "        with",
        "the private state of a running release stays when it has ended",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/runs.py",
        "self._states.forget(run.key, but=digest)",
        "self._states",
        "every private state that a running release ever had stays on disk",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/part.py",
        'if body["analyst"] != analyst:',
        'if body["analyst"] is None:',
        "an analyst goes on with another one's running release",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/part.py",
        "attempt.binding != bound or attempt.begun >= MOST_BEGUN",
        "attempt.binding != bound",
        "a part is drawn again as often as its workers die",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/part.py",
        "digest(asked, engine, charged, state, canonical(made_by()))",
        "digest(asked, engine, charged, canonical(made_by()))",
        "what binds an attempt at a part leaves the private state out",
        harmless="a private state changes when a part is settled, and no attempt outlives that",
    ),
    SourceMutant(
        "ledger/running/part.py",
        "digest(asked, engine, charged, state, canonical(made_by()))",
        "digest(asked, engine, charged, state)",
        "a part is drawn again with the same draws by other code",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/part.py",
        "if sha256(there.answer.encode()).hexdigest() != row.digest:",
        "if not there.answer:",
        "the text of a settled part may be changed in the database",
        RUNS,
    ),
    SourceMutant(
        "ledger/running/private_state.py",
        "if _digest(sealed) == digest else None",
        "if sealed else None",
        "an older private state is put back in place of the one that was settled",
        RUNS,
    ),
    SourceMutant(
        "ledger/artefacts/folder.py",
        "if (size, found.hexdigest()) != (artefact.size, artefact.sha256):",
        "if size != artefact.size:",
        "a file that is copied out is believed for its length",
        FILES,
    ),
    SourceMutant(
        "ledger/artefacts/folder.py",
        '_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)',
        '_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0)',
        "a link in the place of a published file is followed",
        FILES,
    ),
    SourceMutant(
        "ledger/artefacts/draft.py",
        "os.fchmod(self._held, 0o600)",
        "os.fchmod(self._held, 0o644)",
        "published files may be read by every user of the machine",
        FILES,
    ),
    SourceMutant(
        "ledger/artefacts/draft.py",
        "            self.path = place\n            flush_folder(place.parent)\n",
        "            self.path = place\n",
        "a file is settled before its name is on disk",
        FILES,
    ),
    SourceMutant(
        "ledger/artefacts/settlement.py",
        "        for draft in drafts:\n            draft.discard()\n        if isinstance",
        "        if isinstance",
        "files of an answer that could not be written stay under their names",
        FILES,
    ),
    SourceMutant(
        "ledger/recovery/backup.py",
        "path.is_file() and not path.is_symlink() and not made_again",
        "path.is_file() and not made_again",
        "a backup follows a link out of the folder of rows",
        BACKUPS,
    ),
    SourceMutant(
        "ledger/recovery/copies.py",
        "    *(StoredArtefact, Run, Part, Seal, Root),",
        '    *(__import__("discreet.ledger.store", fromlist=["Row"]).StoredDraw, StoredArtefact, Run, Part, Seal, Root),',
        "a backup has the keys by which waiting questions are drawn",
        BACKUPS,
    ),
    SourceMutant(
        "ledger/recovery/restore.py",
        "if (found.vault, found.entries, found.head) != (said.vault, said.entries, said.head):",
        "if found.vault != said.vault:",
        "an older copy of a vault is restored in the name of a newer backup",
        BACKUPS,
    ),
    SourceMutant(
        "ledger/recovery/restore.py",
        "            target.discard()\n            raise",
        "            raise",
        "a copy that does not verify is left where a vault may be",
        BACKUPS,
    ),
    SourceMutant(
        "ledger/recovery/stores.py",
        "if _exists(place.path.with_name(MANIFEST)):",
        "if not place.path.name:",
        "the vault in a backup is opened, and charges beside the vault itself",
        BACKUPS,
    ),
    SourceMutant(
        "ledger/recovery/forfeit.py",
        "while transaction.head().sequence < upto:",
        "while transaction.head().sequence < last:",
        "the numbers of lost entries are given to new ones",
        FORFEITS,
    ),
    SourceMutant(
        "ledger/recovery/forfeit.py",
        "attested = spent.get(each.account) if not each.analyst and not each.period else None",
        "attested = spent.get(each.account)",
        "a forfeit leaves caps and months what a receipt shows left of the account",
        FORFEITS,
    ),
    SourceMutant(
        "ledger/recovery/forfeit.py",
        "return filter_.holding(amount.most(filter_.spent))",
        "return filter_.holding(amount)",
        "a forfeit gives back what was spent after the receipt that is shown",
        FORFEITS,
    ),
    SourceMutant(
        "ledger/integrity/attestation.py",
        'return f"discreet attestation\\n{vault}\\n{canonical(dict(said))}".encode()',
        "return f\"discreet attestation\\n{vault}\\n{said['sequence']}\\n{said['head']}\".encode()",
        "what a receipt says was spent is not signed",
        ("ledger/integrity/test_attestation.py", *FORFEITS),
    ),
]
