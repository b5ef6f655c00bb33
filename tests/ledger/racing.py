"""A race of processes for the last unit of an account, round after round; run as a program of its own."""

import json
import multiprocessing
import sys

from discreet.account.budgets.budget import BudgetExceeded
from discreet.ledger import Ledger
from tests.ledger.helpers import charge, epsilon


def runner(number, path, rounds, barrier, results):
    with Ledger.open(path, patience=60) as ledger:
        for lap in range(rounds):
            if number == 0:
                ledger.add_account(f"lap {lap}", epsilon(1))
            barrier.wait()
            try:
                answer, _ = ledger.run(charge(f"{lap} {number}", 1, f"lap {lap}"), lambda _: f"by {number}")
            except BudgetExceeded:
                answer = None
            shared, _ = ledger.run(charge(f"shared {lap}", 1, "shared"), lambda _: f"by {number}")
            results.put((lap, number, answer, shared))
            barrier.wait()


def main(path, processes, rounds):
    context = multiprocessing.get_context("fork")
    with Ledger.create(path) as ledger:
        ledger.add_account("shared", epsilon(rounds))
    # A runner that fails breaks the barrier for all, and none outlives this program.
    barrier, results = context.Barrier(processes, timeout=60), context.Queue()
    given = (path, rounds, barrier, results)
    crew = [context.Process(target=runner, args=(number, *given), daemon=True) for number in range(processes)]
    for each in crew:
        each.start()
    for _ in range(processes * rounds):
        sys.stdout.write(json.dumps(results.get(timeout=120)) + "\n")
    for each in crew:
        each.join()
        assert each.exitcode == 0


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
