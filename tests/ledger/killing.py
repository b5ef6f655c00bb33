"""A nursery of short lives: children ask a question and are killed at every step of it; run as a program of its own.

`python -m tests.ledger.killing VAULT KILLS SEED KIND BEGIN` prints one line of JSON for each life; the vault is a path
or a URL, and the step at which first lives end goes on from BEGIN. The kind says what is asked for: a "text", a "file"
that is published with it, "beats" (work that outlives its lease, which is renewed meanwhile), "parts", the next two of
a running release, or "secret": the vault's own is exchanged. A question's first life ends at a given step, the next at
any step or at any moment, and the last one may live.
Children are forked here, where there are no threads.
"""

import json
import os
import random  # noqa: TID251  (when to kill is no noise)
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from discreet import noise
from discreet.ledger import Ledger
from discreet.ledger.artefacts.settlement import Filed
from discreet.ledger.place import is_url
from tests.ledger.helpers import charge, epsilon

LEASE = 0.001
# How long work goes on that outlives its lease: two renewals.
BEATS = 0.13


class Steps:
    """Counts steps and dies at one of them, as a power cut would have it."""

    def __init__(self, last):
        self.left, self.paused = last, False

    def __call__(self, _name=None):
        if self.paused:
            return
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """An object whose methods each take a step before and one after."""

    def __init__(self, inner, step):
        self.inner, self.step = inner, step

    def __getattr__(self, name):
        found = getattr(self.inner, name)
        if not callable(found):
            return found

        def call(*arguments):
            self.step(name)
            result = found(*arguments)
            self.step(name)
            return result

        return call


class Mortal(Ledger):
    """A ledger that takes a step around every statement, commit and anchor."""

    step = staticmethod(lambda _name=None: None)

    @contextmanager
    def _write(self, *wanted):
        self.step()
        with super()._write(*wanted) as transaction:
            yield Watched(transaction, self.step)
            self.step()
        self.step()


def watch_network(step):
    """Take a step before and after everything that goes to the server: statements wait, and then go out together."""
    from discreet.ledger.postgres.transaction import PostgresTransaction

    sent = PostgresTransaction._sent

    def watched(self, *arguments):
        step()
        result = sent(self, *arguments)
        step()
        return result

    PostgresTransaction._sent = watched


def between(step, real):
    """Return a function that takes a step before and after what another does."""

    def watched(*arguments):
        step()
        result = real(*arguments)
        step()
        return result

    return watched


def watch_rows(step):
    """Take a step before and after every row that is written to a file."""
    from discreet.ledger.sqlite.store import SqliteTransaction

    for name in ("put", "delete", "append"):
        setattr(SqliteTransaction, name, between(step, getattr(SqliteTransaction, name)))


def watch_files(step):
    """Take a step before and after everything that writes a file."""
    from discreet.ledger.artefacts import draft

    for home, name in (
        *((draft, each) for each in ("flushed", "content", "flush_folder")),
        *((draft.ArtefactDraft, each) for each in ("_made", "finish", "release")),
        (Path, "rename"),
    ):
        setattr(home, name, between(step, getattr(home, name)))


def ask(path, question, step, tell, kind):
    """One child's life: open, ask, work, and tell the world the answer, and us what was drawn for it."""
    with Mortal.open(path, lease_seconds=LEASE) as ledger:
        ledger.step = step
        if is_url(path):
            watch_network(step)
        ledger._anchors = Watched(ledger._anchors, step)
        if kind == "file":
            watch_files(step)

        if kind == "parts":
            go_on(ledger, step, tell)
            return
        if kind == "secret":
            exchange(path, ledger, step, tell)
            return

        def work(draws):
            step()
            paid = ledger.spent("people").loss
            assert paid > 0, "work before the debit"
            with draws.at("noise"):
                drawn = str(noise.laplace(10**12))
            tell({"drawn": drawn})
            step()
            if kind == "beats":
                time.sleep(BEATS)
            if kind == "file":
                with ledger.artefacts.draft("text/plain", ".txt") as draft:
                    draft.file.write(published(drawn))
                    step()
                    return Filed(drawn, (draft,))
            return drawn

        answer, receipt = ledger.run(charge(question), work)
        step()
        tell({"answer": answer, "sequence": receipt.sequence})


def go_on(ledger, step, tell):
    """Settle the next two parts of the one running release, whose private state is a sum of all that was drawn."""
    from discreet.ledger.running.runs import PartDone

    (release,) = [entry.record()["key"] for entry in ledger.entries() if entry.kind == "charge"]
    for _ in range(2):
        step.paused = True  # or the growing list would take all the steps
        known = len(ledger.parts(release))
        step.paused = False

        def work(draws, state, known=known):
            with draws.at("noise"):
                drawn = noise.laplace(10**12)
            tell({"part": known + 1, "drawn": str(drawn), "before": state.decode()})
            step()
            return PartDone(str(drawn), str(int(state or b"0") + drawn).encode())

        number, text = ledger.part(release, "the next number", work, known=known)
        step()
        tell({"part": number, "answer": text})


def exchange(path, ledger, step, tell):
    """Ask, exchange the secret, and ask again: the answer is the one that was settled, whatever was exchanged."""
    if not is_url(path):
        watch_rows(step)
    verify = ledger.verify

    def unwatched():
        step.paused = True  # or the growing chain, which is derived again, would take all the steps
        found = verify()
        step.paused = False
        return found

    ledger.verify = unwatched
    answer, _ = ledger.run(charge("settled"), lambda _: "41")
    ledger.rotate_secret()
    step()
    again, receipt = ledger.run(charge("settled"), lambda _: "42")
    tell({"answer": again, "drawn": answer, "sequence": receipt.sequence})


def published(drawn):
    """What is in the file of an answer."""
    return f"{drawn}\n".encode() * 1000


def live(path, question, step, kind, delay=None):
    """Fork a child that asks; return what it told before it died, and whether it was killed."""
    return live_child(lambda tell: ask(path, question, step, tell, kind), delay)


def live_child(life, delay=None):
    """Fork a child that lives a life; return what it told before it died, and whether it was killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            life(lambda told: os.write(write, json.dumps(told).encode() + b"\n"))
            os._exit(0)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
    os.close(write)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if status and not killed:
        raise SystemExit(f"a child failed with status {status}")
    return [json.loads(line) for line in told.splitlines()], killed


def people(ledger):
    """Put into a vault what an exchange of the secret has to leave as it is, and what it ends."""
    from discreet.ledger.running.runs import PartDone

    ledger.put("table", "visits", {"rows": "declared"}, private={"digest": "of rows"})
    ledger.grant("alice", ["visits"], {"people": epsilon(1)})
    key = ledger.begin_run(charge("running"), "numbers").key
    ledger.part(key, "a", lambda _draws, _state: PartDone("1", b"kept"), known=0)
    ledger.charge(charge("waits"))


def main(path, kills, seed, kind, begin):
    Ledger.create(path).close()
    with Ledger.open(path) as ledger:
        ledger.add_account("people", epsilon(kills))
        if kind == "parts":
            ledger.begin_run(charge("running"), "numbers")
        if kind == "secret":
            people(ledger)
    draw, done, question = random.Random(seed), 0, 0
    first = begin
    while done < kills:
        question += 1
        # The steps around a file, and around all rows of a vault, are many: most questions about those die once.
        again = kind not in ("file", "secret") or question % 4 == 0
        steps = [first, *([draw.randrange(1, 20)] if again else []), None]
        for life, step in enumerate(steps):
            delay = draw.random() * 0.02 if life == 1 and question % 3 == 0 else None
            last = -1 if step is None or delay is not None else step
            told, killed = live(path, f"q{question}", Steps(last), kind, delay)
            done += killed
            line = {"question": question, "life": life, "step": last, "killed": killed, "told": None, "drawn": None}
            line["all"] = told
            for each in told:
                line |= {"drawn": each["drawn"]} if "drawn" in each else {"told": each}
            sys.stdout.write(json.dumps(line) + "\n")
            if life == 0:
                first = first + 1 if killed else begin  # a first life that outlives its step has seen all of them


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
