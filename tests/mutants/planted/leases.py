"""Planted bugs of `ledger`: leases that beat, takeovers, debits that are found again."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "ledger/lease.py",
        "expires=max(now + self.seconds, self.expires + _TICK)",
        "expires=now + self.seconds",
        "a renewal on a clock that was set back does not move the lease's end",
        (
            "ledger/test_heartbeat.py",
            "ledger/test_lease.py",
        ),
    ),
    SourceMutant(
        "ledger/lease.py",
        "return Lease(self.key, self.fence + 1, seconds, now + seconds)",
        "return Lease(self.key, self.fence, seconds, now + seconds)",
        "who takes over has the fence of the worker before",
        (
            "ledger/test_lease.py",
            "ledger/test_takeover.py",
        ),
    ),
    SourceMutant(
        "ledger/lease.py",
        "monotonic() - self.since >= lease.seconds",
        "monotonic() - self.since >= lease.seconds / 2",
        "who waits takes a lease over when half of it has passed",
        (
            "ledger/test_lease.py",
            "ledger/test_heartbeat.py",
        ),
    ),
    SourceMutant(
        "ledger/lease.py",
        "return max(self.expires, self.expires - self.seconds + ALONE * first) if self.expires else 0.0",
        "return self.expires",
        "work that nobody else can go on with is settled as failed while it may be going on",
        (
            "ledger/test_lease.py",
            "ledger/test_takeover.py",
            "ledger/test_sealed_key.py",
        ),
    ),
    SourceMutant(
        "ledger/ledger.py",
        "held.fence != mine.fence or not held.expires:",
        "held.fence != mine.fence:",
        "a renewal takes back a lease that was given up",
        ("ledger/test_heartbeat.py",),
    ),
    SourceMutant(
        "ledger/ledger.py",
        "        if self._is_held(held, watch):\n            return None\n        now",
        "        now",
        "a lease that someone holds is taken",
        (
            "ledger/test_lease.py",
            "ledger/test_ledger.py",
        ),
    ),
    SourceMutant(
        "ledger/takeover.py",
        "key = opened() if begun < MOST_BEGUN else None",
        "key = opened() if begun <= MOST_BEGUN else None",
        "a debit is begun once more than is said",
        ("ledger/test_lease.py",),
    ),
    SourceMutant(
        "ledger/debit.py",
        '    if transaction.get(Settled, debit.sequence) is not None:\n        why = "it has an answer, and its debit was restored to an older state"\n        raise Tampered(f"entry {debit.sequence}", why=why, sequence=debit.sequence)\n',
        "",
        "a debit that was put back to before its answer draws again",
        (
            "ledger/test_rows.py",
            "ledger/test_ledger.py",
            "ledger/integrity/test_seal.py",
        ),
    ),
    SourceMutant(
        "ledger/debit.py",
        "    for table in charge.tables:\n        if not grant.covers(table):",
        "    for table in [*charge.tables][:1]:\n        if not grant.covers(table):",
        "a grant is asked for the first table of a question alone",
        ("ledger/test_grant.py",),
    ),
    SourceMutant(
        "ledger/debit.py",
        "if permit is None or permit.analyst != charge.analyst:",
        "if permit is None:",
        "a grant pays for the questions of someone else",
        ("ledger/test_grant.py",),
    ),
    SourceMutant(
        "ledger/debit.py",
        'if alike and entry is not None and entry.record()["analyst"] == charge.analyst:',
        "if alike and entry is not None:",
        "a fresh question that another analyst gave up is taken for one's own",
        (
            "ledger/test_takeover.py",
            "ledger/test_lease.py",
            "ledger/test_ledger.py",
        ),
    ),
    SourceMutant(
        "ledger/limit.py",
        "_LAST_DIGITS = 1 - Fraction(1, 10**9)",
        "_LAST_DIGITS = Fraction(1, 2)",
        "a charge of half of what its loss costs verifies",
        (
            "ledger/integrity/test_verify.py",
            "ledger/test_delta.py",
        ),
    ),
    SourceMutant(
        "ledger/ledger.py",
        "Draws(key or new_key(), beat.check)",
        "Draws(key or new_key())",
        "who lost the lease goes on drawing",
        ("ledger/test_heartbeat.py::test_a_worker_who_lost_the_lease_draws_nothing_more_and_settles_nothing",),
    ),
    SourceMutant(
        "ledger/debit.py",
        "ended = max(ended, charged.timestamp()) + _KEPT.total_seconds()",
        "ended = charged.timestamp() + _KEPT.total_seconds()",
        "who has worked for more than a day loses the question to a sweep",
        ("ledger/test_heartbeat.py::test_who_has_worked_for_more_than_a_day_is_not_swept_away",),
    ),
]
