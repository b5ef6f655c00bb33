"""discreet clock: the vault's time, and its correction after a clock ran ahead."""

from datetime import UTC, datetime

from discreet.cli.shared.exits import Exit
from discreet.ledger import Ledger


def test_a_vault_whose_time_is_right_says_so_and_needs_no_correction(vault, run, result):
    found = result("clock")
    assert found["vault"] == found["machine"]
    assert found["corrected"] is None
    code, out, _ = run("clock", "--correct")
    assert code == Exit.DONE
    assert out.startswith("There was nothing to correct.\nvault:")


def test_a_clock_that_ran_ahead_is_corrected_and_a_grant_opens_again(vault, run, result):
    token = result("grant", "alice", "visits", "--expires", "90d")["token"]
    with Ledger.open(vault, clock=lambda: datetime(2099, 1, 1, tzinfo=UTC)) as ledger:
        ledger.refused("alice", "SELECT", "a test")
    code, _, err = run("budget", "--token", token)
    assert code == Exit.REFUSED
    assert "it expired at" in err
    assert "run discreet clock --correct" in run("clock")[1]
    assert result("clock", "--correct")["corrected"].startswith("2099-01-01T00:00")
    assert run("budget", "--token", token)[0] == Exit.DONE
    assert run("verify")[0] == Exit.DONE
