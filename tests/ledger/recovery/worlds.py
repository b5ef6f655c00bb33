"""A vault at two moments, with all that witnesses it: put together in any combination."""

import sqlite3
from contextlib import closing

from discreet.ledger import Ledger
from discreet.ledger.integrity.witnesses import AnchorPolicy
from discreet.ledger.place import state_anchor
from tests.ledger.forging import forger
from tests.ledger.helpers import charge, epsilon

STATES = ("newest", "older", "absent")


class TwoMoments:
    """A vault after its first answer (older) and after its second (newest), with anchors, log and receipts of both."""

    def __init__(self, folder, **policy):
        self.folder, self.saved, self.receipts = folder, {}, {}
        self.path, self.log = folder / "vault.discreet", folder / "elsewhere" / "heads.log"
        with Ledger.create(self.path) as ledger:
            ledger.add_account("people", epsilon(1))
            ledger.add_account("others", epsilon(1))
            ledger.keep_anchors(AnchorPolicy(log=str(self.log), **policy))
            self.anchors = (self.path.with_name("vault.discreet.anchor"), state_anchor(ledger.vault_id))
        for moment, question in (("older", "q"), ("newest", "r")):
            with Ledger.open(self.path) as ledger:
                _, self.receipts[moment] = ledger.run(charge(question), lambda _: "41")
                self.end = ledger.head[0]
            self.saved[moment] = {place: place.read_bytes() for place in (self.path, self.log, *self.anchors)}

    def put(self, vault="newest", log="newest", anchor="newest"):
        """Put files back as they were at a moment, or remove them."""
        wanted = {self.path: vault, self.log: log, **dict.fromkeys(self.anchors, anchor)}
        for place, moment in wanted.items():
            place.unlink(missing_ok=True)
            if moment != "absent":
                place.write_bytes(self.saved[moment][place])
        for ending in ("-wal", "-shm", ".draws"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        return self


def saved(path):
    """Everything that the store of a vault has, as of now."""
    if not hasattr(path, "parent"):
        with forger(path) as stored:
            return stored.all()
    with closing(sqlite3.connect(path)) as connection:
        return connection.serialize()


def put_back(path, content):
    """Put a closed vault back as it was."""
    if not hasattr(path, "parent"):
        with forger(path) as stored:
            stored.restore(content)
        return
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(content)
