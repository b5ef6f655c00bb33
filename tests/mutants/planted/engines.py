"""Planted bugs of `engines`: secrets that everyone knows, failures that quote a record, statistics that decide."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "engines/engine.py",
        "key=hashlib.sha256(secret).digest(), digest_size=8)",
        "digest_size=8)",
        "which rows of a person are kept no longer depends on the vault's secret",
        ("plan/to_sql/test_person_bounds.py::test_another_secret_keeps_other_rows_but_no_more",),
    ),
    SourceMutant(
        "engines/engine.py",
        'return 1 + int.from_bytes(found.digest(), "big") % ((1 << _BITS) - 1)',
        "return 1 + row",
        "the secret order has the same multipliers everywhere",
        ("plan/to_sql/test_person_bounds.py::test_another_secret_keeps_other_rows_but_no_more",),
    ),
    SourceMutant(
        "engines/duckdb/engine.py",
        "            self._connection.execute(BARRIER)\n",
        "",
        "DuckDB folds conditions by statistics of a file, which ignore what is no number",
        ("engines/duckdb/test_barrier.py",),
    ),
    SourceMutant(
        "engines/duckdb/engine.py",
        "            raise self._deadline.failure from None\n\n    def run",
        "            raise type(self._deadline.failure)(str(error)) from None\n\n    def run",
        "what an engine says of a failure, which may quote a record, is shown",
        ("engines/duckdb/test_engine.py::test_what_the_engine_says_is_never_shown",),
    ),
    SourceMutant(
        "engines/duckdb/engine.py",
        '        if needed <= self._ordered:\n            return\n        rows = {letter: row[:needed] for letter, row in zip("ab", multipliers(self._secret), strict=True)}',
        '        if needed <= self._ordered:\n            return\n        rows = {letter: row[:needed] for letter, row in zip("ab", multipliers(b""), strict=True)}',
        "DuckDB keeps rows by an empty secret",
        ("plan/to_sql/test_person_bounds.py::test_another_secret_keeps_other_rows_but_no_more",),
    ),
]
