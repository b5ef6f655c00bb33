"""Questions whose workers are killed once they have drawn, and then asked again; run as a program of its own.

`python -m tests.curator.killed FOLDER begin` makes a vault in the folder, and lets a child die in the middle of every
question, after it has left its answer, which nobody was told, in a file. `... FOLDER again THREADS WARM` asks all of
them again and prints the settled answers as one line of JSON.
"""

import json
import os
import signal
import sys
from pathlib import Path

import discreet as dp
from discreet import noise
from discreet.ask.programme import Programme
from discreet.engines.duckdb import engine

COLUMNS = {
    "ward": dp.one_of("A", "B", "C"),
    "age": dp.between(0, 110),
    "cost": dp.between(0, 50, step=0.5),
    "city": dp.text(),
}
PRICES = {"pure": {"epsilon": 1}, "gaussian": {"epsilon": 1, "delta": 1e-6}, "rho": {"rho": 0.1}}


def questions(visits):
    """Every kind of answer: sums, choices, bins, selected keys, bought bounds and parts, at every kind of price."""
    groups = visits.group_by("ward")
    asked = {
        "sums": groups.agg(n=dp.count(), p=dp.people(), c=dp.sum("cost"), m=dp.mean("age"), s=dp.std("age")),
        "pairs": visits.agg(c=dp.covariance("age", "cost"), r=dp.correlation("age", "cost")),
        "ranks": groups.agg(a=dp.median("age"), q=dp.quantile("cost", 0.1, 0.9), low=dp.min("age"), high=dp.max("age")),
        "histogram": groups.agg(h=dp.histogram("age", edges=[0, 20, 40, 110])),
        "many": visits.agg(h=dp.histogram("age", edges=[*range(111)])),
        "cdf": visits.agg(f=dp.cdf("age", [10, 20, 50])),
        "best": visits.agg(w=dp.top_k("ward", 2)),
    }
    for name, report in asked.items():
        for word, price in PRICES.items() if name in ("sums", "many") else [("pure", PRICES["pure"])]:
            yield f"{name} {word}", lambda report=report, price=price: report.release(**price)
    selected = visits.group_by("city").agg(n=dp.count(), a=dp.mean("age"))
    yield "selected", lambda: selected.release(epsilon=2, delta=0.01)
    yield "auto", lambda: groups.agg(n=dp.count(), c=dp.sum("cost")).release(epsilon=1, max_rows="auto")
    parts = visits.partition("ward")
    yield "parts", lambda: parts.release(lambda part: part.agg(n=dp.count(), a=dp.median("age")), epsilon=1)


def text(answer):
    """All that an answer says, but for its receipt."""
    if isinstance(answer, dict):
        return {key: text(each) for key, each in answer.items()}
    return json.loads(answer.received(None, "").to_json())


def made(folder):
    """Write the table and register it, in a process of its own, since DuckDB's threads do not survive a fork."""
    rows = [f"{n % 300},{'ABC'[n * n % 3]},{n * 7 % 100},{n % 97 / 2},city {n % 11 * (n % 7)}" for n in range(2000)]
    (folder / "visits.csv").write_text("\n".join(["id,ward,age,cost,city", *rows]))
    curator = dp.Curator(folder / "vault.discreet")
    budget = dp.Budget(epsilon=10**6, delta=0.5)
    unit = dp.person("id", max_rows=5)
    curator.register("visits", folder / "visits.csv", unit=unit, columns=COLUMNS, budget=budget)
    (folder / "token").write_text(curator.grant("ann", "visits"))
    curator.close()


def opened(folder):
    """Open a session whose leases end at once."""
    session = dp.connect(folder / "vault.discreet", (folder / "token").read_text())
    session.desk._curator.ledger._lease_seconds = 0.001
    return session


def begin(folder):
    """Let a child die in every question."""
    if (child := os.fork()) == 0:
        made(folder)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    (folder / "drawn").mkdir()
    with opened(folder) as session:
        names = [name for name, _ in questions(session.table("visits"))]
    for name in names:
        if (child := os.fork()) == 0:
            die_after_drawing(folder, name)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def die_after_drawing(folder, name):
    """Ask one question, and die once its answer is known and not settled."""
    session, told = opened(folder), []
    run = Programme.run

    def last(*arguments):
        told.append(run(*arguments))
        wanted = 3 if name == "parts" else 1
        if len(told) == wanted:
            found = dict(zip("ABC", told, strict=True)) if wanted > 1 else told[0]
            (folder / "drawn" / name).write_text(json.dumps(text(found)))
            os.kill(os.getpid(), signal.SIGKILL)
        return told[-1]

    Programme.run = last
    dict(questions(session.table("visits")))[name]()
    os._exit(1)


def again(folder, threads, warm):
    """Ask all of them again, by another number of threads and after other draws."""
    engine.os.cpu_count = lambda: threads
    if warm:
        for scale in (1, 2, 5, 10, 20, 40, 100):
            noise.laplace(scale, 1000)
            noise.gaussian(scale, 1000)
    with opened(folder) as session:
        before = session.remaining()
        told = {name: text(ask()) for name, ask in questions(session.table("visits"))}
        assert str(session.remaining()) == str(before)
        assert session.desk._curator.ledger.unsettled() == ()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    if sys.argv[2] == "begin":
        begin(Path(sys.argv[1]))
    else:
        again(Path(sys.argv[1]), int(sys.argv[3]), sys.argv[4] == "warm")
