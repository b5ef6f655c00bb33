"""discreet alerts: shares are set, and the charges that passed them listed."""

from discreet.cli.shared.exits import Exit


def test_a_budget_that_falls_below_a_share_is_listed(vault, result, run):
    assert run("alerts")[1].endswith("Nothing alerts: set a share with --at 0.2.\n")
    assert result("alerts", "--at", "0.5", "--at", "1/10") == {"at": [0.5, 0.1], "alerts": []}
    bill = result("bill", "visits", "--loss", "pure:2", "--label", "training")
    (alert,) = result("alerts")["alerts"]
    assert (alert["account"], alert["below"], alert["charge"]) == ("visits", 0.5, bill["sequence"])
    assert "visits: less than 0.5 left" in run("alerts")[1]
    assert result("alerts", "--none")["at"] == []


def test_a_share_that_is_none_is_refused(vault, run):
    for share in ("2", "0", "half"):
        assert run("alerts", "--at", share)[0] == Exit.USAGE
