"""Time: how long an answer takes says nothing of one extreme record that anyone could use."""

import statistics
import time

import duckdb
import pytest

import discreet as dp
from discreet.ask.programme import Programme
from discreet.noise.draws import Draws, new_key

ROWS, RUNS, WITHIN = 400_000, 30, 0.05
# Their type in the file, an ordinary record, and an extreme one in its place.
KINDS = {
    "64 bits": ("BIGINT", "17", "9223372036854775807", dp.between(0, 50_000)),
    "floats": ("DOUBLE", "17", "1e308", dp.between(0, 50_000, step=0.01)),
    "128 bits": ("DECIMAL(38, 0)", "17", "9" * 38, dp.between(-(10**12), 10**12)),
    "texts": ("VARCHAR", "'17'", "repeat('9', 900)", dp.between(0, 50_000)),
}
ASKED = {
    "sum": lambda table: table.agg(s=dp.sum("m")),
    "means": lambda table: table.group_by("ward").agg(s=dp.mean("m")),
    "median": lambda table: table.agg(s=dp.median("m")),
}


def session(folder, name, kind, record, column):
    file = folder / f"{name}.parquet"
    values = f"CAST(hash(i) % 50000 AS {kind})"
    duckdb.sql(
        f"COPY (SELECT i // 3 AS id, chr(CAST(65 + i % 3 AS INTEGER)) AS ward, {values} AS m FROM range({ROWS}) t(i)"
        f" UNION ALL SELECT {ROWS}, 'A', CAST({record} AS {kind})) TO '{file}' (FORMAT parquet)"
    )
    curator = dp.Curator(folder / f"{name}.discreet")
    columns = {"m": column, "ward": dp.one_of("A", "B", "C")}
    curator.register("t", file, unit=dp.person("id", max_rows=3), columns=columns, budget=dp.Budget(epsilon=10))
    return curator.session(curator.grant("alice", "t"))


def taken(opened, asked):
    """Seconds of processor time that a whole answer takes, but for the ledger's."""
    with opened.runner(asked.report.query.registered) as runner:
        begun = time.process_time()
        Programme(asked).run(runner, Draws(new_key()))
        return time.process_time() - begun


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_medians_with_and_without_one_extreme_record_lie_within_five_percent(tmp_path, monkeypatch, kind):
    """30 interleaved runs of each, on one thread and by the processor's clock: a busy machine disturbs both alike."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    physical, plain, extreme, column = KINDS[kind]
    worlds = [session(tmp_path, name, physical, record, column) for name, record in (("a", plain), ("b", extreme))]
    for name, ask in ASKED.items():
        questions = [ask(each.table("t")).asked(epsilon=1) for each in worlds]
        times = [[], []]
        for run in range(RUNS + 1):
            for place in (run % 2, 1 - run % 2):
                times[place].append(taken(worlds[place], questions[place]))
        without, extremely = (statistics.median(each[1:]) for each in times)
        assert abs(extremely / without - 1) <= WITHIN, f"{kind}, {name}: {without:.4f} s and {extremely:.4f} s"


def test_a_chain_of_public_joins_takes_one_target_no_longer(tmp_path, monkeypatch):
    """The rows that joins make of a target are bounded, by the plan where the policy has let them through."""
    monkeypatch.setattr("discreet.ask.work_limits.WorkLimits.check_joins", lambda *_: None)
    data = {"id": [1, 2, 3], "k": [1, 2, 2]}
    curator = dp.Curator(tmp_path / "vault.discreet")
    unit, columns = dp.person("id", max_rows=1), {"k": dp.between(0, 9)}
    curator.register("t", data, unit=unit, columns=columns, budget=dp.Budget(epsilon=10))
    found = curator.session(curator.grant("alice", "t"))
    table = found.table("t")
    for place in range(4):
        codes = found.public(f"p{place}", {"k": [1] * 400, f"x{place}": list(range(400))})
        table = table.join(codes, on="k")
    begun = time.process_time()
    table.count().release(epsilon=1)
    # Without the bound 25,600,000,000 rows would be counted.
    assert time.process_time() - begun < 5
