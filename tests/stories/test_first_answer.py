"""The first answer: from a file of one's own to figures with error bars, in a process that does nothing else."""

import os
import subprocess
import sys

import discreet as dp
from discreet.lab import rand
from tests.serve.api.served import command, up

ASK = """
import sys
import discreet as dp
session = dp.connect(*sys.argv[1:])
table = session.table("rand")
answer = table.group_by("health").agg(n=dp.count(), spending=dp.mean("spending")).release(epsilon=1)
print(answer)
for name in ("matplotlib", "rich", "pandas", "polars", "pyarrow", "scipy.stats", "sqlglot"):
    # A server is asked through httpx, which loads rich where it is installed.
    assert name not in sys.modules or (name == "rich" and "httpx" in sys.modules), name
"""


def process(folder, *arguments):
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def vault(folder):
    with dp.Curator(folder / "vault.discreet") as curator:
        curator.register(
            "rand",
            rand.path(),
            unit=rand.unit(),
            columns=rand.columns(),
            rows=rand.ROWS,
            budget=dp.Budget(epsilon=5),
        )
        return curator.grant("alice", "rand")


def test_a_new_process_answers_with_error_bars_and_loads_nothing_for_show(tmp_path):
    shown = process(tmp_path, "-c", ASK, "vault.discreet", vault(tmp_path))
    *rows, bounding = shown.splitlines()[2:]
    assert [line.split()[0] for line in rows] == list(rand.HEALTH)
    assert bounding.startswith("not in the intervals: ")
    assert "±" in shown


def test_a_second_process_is_told_the_same_answer_by_the_vault_and_by_a_server_and_nothing_is_charged(tmp_path):
    token = vault(tmp_path)
    first = process(tmp_path, "-c", ASK, "vault.discreet", token)
    with command(tmp_path / "vault.discreet") as (url, _):
        up(url)
        places = ["vault.discreet", url]
        assert [process(tmp_path, "-c", ASK, place, token) for place in places] == [first, first]
    with dp.Curator(tmp_path / "vault.discreet") as curator:
        assert curator.ledger.spent("rand").loss == 1
        assert curator.verify().entries > 0


def test_figures_lie_within_their_intervals_and_the_intervals_are_of_use(tmp_path):
    import duckdb

    token = vault(tmp_path)
    with dp.connect(tmp_path / "vault.discreet", token) as session:
        table = session.table("rand")
        answer = table.group_by("health").agg(n=dp.count(), visits=dp.mean("visits")).release(epsilon=4)
    sql = f"SELECT health, count(*), avg(least(visits, 25)) FROM '{rand.path()}' GROUP BY health"
    exact = {key: (n, mean) for key, n, mean in duckdb.sql(sql).fetchall()}
    for row in answer:
        n, mean = exact[row["health"]]
        # Twelve half-widths are some thirty-six scales of the noise: missed with probability far below 1e-6.
        assert abs(row["n"] - n) <= 6 * (row["n_high"] - row["n_low"])
        assert abs(row["visits"] - mean) <= 6 * (row["visits_high"] - row["visits_low"])
    assert all(row["n_high"] - row["n_low"] <= 40 for row in answer)
