"""A nursery of short lives: children look once more at a watch and are killed on the way; a program of its own.

`python -m tests.ask.killing FOLDER KILLS BEGIN` makes a vault and a watch in the folder, lets children look at it, and
prints one line of JSON for each life: the step at which it was to die, whether it did, and what it told us before.
Children are forked here, where there are no threads and no engine yet.
"""

import json
import os
import sys
from pathlib import Path

import duckdb  # noqa: F401  (children need not load it)
import pandas as pd

import discreet as dp
import discreet.ask.watches.pmw
import discreet.ask.watches.watch
import discreet.curator.curator as custodian
from discreet.ledger.running.private_state import PrivateStates
from discreet.mechanisms.sparse_vector import SparseSession
from tests.ledger.killing import LEASE, Mortal, Steps, Watched, between, live_child

ROWS = {"n": [each % 10 for each in range(100)]}
TERMS = {"threshold": -(10**9), "cutoff": 1000, "answers": 0.5, "questions": 100_000, "epsilon": 1}


class Impatient(Mortal):
    """The vault's ledger, which takes a step around every statement, and leaves nobody alone for long."""

    def __init__(self, store, **more):
        super().__init__(store, **{**more, "lease_seconds": LEASE})


def look(vault, token, key, step, tell):
    """One child's life: open the vault, go on with the watch, look once, and tell what was drawn and what was said."""

    Impatient.step = staticmethod(step)
    with dp.Curator(vault) as curator:
        curator.ledger._anchors = Watched(curator.ledger._anchors, step)
        for name in ("read", "write", "forget"):
            setattr(PrivateStates, name, _stepping(step, getattr(PrivateStates, name)))
        session = curator.session(token)
        visits = session.table("visits")
        watch = session.watch(visits, "sparse_vector", resume=key, **TERMS)
        known, ask = len(watch._said), SparseSession.ask

        def told(self, exact):
            before = self.kept
            found = ask(self, exact)
            tell({"part": known + 1, "drawn": found, "before": before})
            step()
            return found

        SparseSession.ask = told
        found = watch.look(visits.n >= 0)
        step()
        tell({"part": found.number, "answer": found.value})


def _stepping(step, real):
    def watched(*arguments, **more):
        return between(step, lambda: real(*arguments, **more))()

    return watched


def main(folder, kills, begin):
    vault, custodian.Ledger = Path(folder) / "vault.discreet", Impatient
    with dp.Curator(vault) as curator:
        columns = {"n": dp.between(0, 9)}
        curator.register("visits", pd.DataFrame(ROWS), unit=dp.row(), columns=columns, budget=dp.Budget(epsilon=2))
        token = curator.grant("alice", "visits")
        session = curator.session(token)
        key = session.watch(session.table("visits"), "sparse_vector", **TERMS).receipt["key"]
    done, first = 0, begin
    while done < kills:
        for last in (first, -1):
            told, killed = live_child(lambda tell, last=last: look(vault, token, key, Steps(last), tell))
            done += killed
            sys.stdout.write(json.dumps({"step": last, "killed": killed, "all": told}) + "\n")
            if last == first:
                first = first + 1 if killed else begin
    with dp.Curator(vault) as curator:
        said = [None if text is None else json.loads(text)["value"] for _, text in curator.ledger.parts(key)]
        spent = float(curator.ledger.spent("visits").loss)
        curator.verify()
    sys.stdout.write(json.dumps({"said": said, "spent": spent}) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
