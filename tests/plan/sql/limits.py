"""Reads texts that are too much in one way or another, and prints how long each took and how much memory all did."""

import json
import re
import resource
import sys
import time
from pathlib import Path

from discreet.core.errors import Refusal
from tests.plan.sql.tables import read

V = " FROM visits"


def nested(before, inner, after, depth):
    """Put something into itself many times."""
    return before * depth + inner + after * depth


LAUGHS = "".join(f", a{i + 1} AS (SELECT * FROM a{i} UNION ALL SELECT * FROM a{i})" for i in range(40))
MEETINGS = "".join(f", a{i + 1} AS (SELECT x.id, x.age FROM a{i} x JOIN a{i} y USING (id))" for i in range(40))
TEXTS = {
    "10,000 terms": f"SELECT SUM({'+'.join(['age'] * 10_000)}){V}",
    "1,000 terms": f"SELECT SUM({'+'.join(['age'] * 1_000)}){V}",
    "3,000 subtractions": f"SELECT SUM({'-'.join(['age'] * 3_000)}){V}",
    "2,000 conditions": f"SELECT COUNT(*){V} WHERE {' AND '.join(['age > 1'] * 2_000)}",
    "a list of 4,000": f"SELECT COUNT(*){V} WHERE age IN ({','.join(map(str, range(4_000)))})",
    "1,500 branches": f"SELECT SUM(CASE {'WHEN age = 1 THEN 1 ' * 1_500} END){V}",
    "100 subqueries": f"SELECT COUNT(*) FROM {nested('(SELECT * FROM ', 'visits', ') AS q', 100)}",
    "28 subqueries": f"SELECT COUNT(*) FROM {nested('(SELECT age FROM ', 'visits', ') AS q', 28)}",
    "28 brackets": f"SELECT COUNT(*){V} WHERE {nested('(', 'age = 1', ')', 28)}",
    "50,000 brackets": "(" * 50_000,
    "1,000 NOTs": f"SELECT COUNT(*){V} WHERE {'NOT ' * 1_000} urgent",
    "1,000 CASEs": f"SELECT SUM({nested('CASE WHEN urgent THEN ', 'age', ' END', 1_000)}){V}",
    "3,000 casts": f"SELECT SUM(age{'::int' * 3_000}){V}",
    "3,000 IS NULLs": f"SELECT COUNT(*){V} WHERE age{' IS NULL' * 3_000}",
    "a sum of 2,000 counts": f"SELECT {'+'.join(['COUNT(*)'] * 2_000)}{V}",
    "1,000 columns": f"SELECT {','.join(['COUNT(*)'] * 1_000)}{V}",
    "150 unions": f"SELECT COUNT(*) FROM ({' UNION ALL '.join(['SELECT age FROM visits'] * 150)}) AS u",
    "a trillion unions": f"WITH a0 AS (SELECT * FROM visits){LAUGHS} SELECT COUNT(*) FROM a40",
    "a trillion joins": f"WITH a0 AS (SELECT id, age FROM visits){MEETINGS} SELECT COUNT(*) FROM a40",
    "1,000 names": f"WITH {','.join(f'c{i} AS (SELECT * FROM visits)' for i in range(1_000))} SELECT COUNT(*) FROM c1",
    "1,000 keys": f"SELECT COUNT(*){V} GROUP BY {','.join(f'age + {i}' for i in range(1_000))}",
    "a cube of 30": f"SELECT COUNT(*){V} GROUP BY CUBE ({','.join(f'age + {i}' for i in range(30))})",
    "1,000 derived columns": f"SELECT COUNT(*) FROM (SELECT {','.join(f'age + {i}' for i in range(1_000))}{V}) AS t",
    "a pattern of 40,000": f"SELECT COUNT(*){V} WHERE ward LIKE '{'%_' * 20_000}'",
    "a number of 50,000 digits": f"SELECT COUNT(*){V} WHERE age < {'9' * 50_000}",
    "an exponent": f"SELECT COUNT(*){V} WHERE age < 1e999999999",
    "places": f"SELECT SUM(ROUND(age, 999999999)){V}",
    "a long text": f"SELECT COUNT(*){V} WHERE city = '{'x' * 99_000}'",
    "a longer text": f"SELECT COUNT(*){V} WHERE city = '{'x' * 200_000}'",
    "an open quote": f"SELECT COUNT(*){V} WHERE city = '{'x' * 90_000}",
    "5,000 statements": "SELECT 1;" * 5_000,
    "1,000 bounds": f"SELECT SUM(age{', contribution_bounds_per_row => (0, 1)' * 1_000}){V}",
}


def peak():
    """The most memory that this process ever had, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says on Linux counts the process that started this one
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    found = {}
    for name, text in TEXTS.items():
        begun = time.process_time()
        try:
            read(text)
            ended = "read"
        except Refusal as refusal:
            ended = type(refusal).__name__
        found[name] = [ended, time.process_time() - begun]
    sys.stdout.write(json.dumps({"texts": found, "peak": peak()}))
