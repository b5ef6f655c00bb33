"""discreet deny: the analyst reads the reason, and has paid nothing."""

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator


def test_a_denied_question_costs_nothing_and_says_why(vault, result, run):
    with Curator(vault) as curator:
        curator.charging(approval=["visits"])
    token = result("grant", "ann", "visits")["token"]
    words = "ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5", "--token", token
    assert run(*words)[0] == Exit.REFUSED
    (request,) = result("approve")["pending"]
    denied = result("deny", request["request"][:8], "--reason", "ask by month")["request"]
    assert (denied["state"], denied["reason"]) == ("denied", "ask by month")
    code, _, err = run(*words)
    assert code == Exit.REFUSED
    assert "denied it: ask by month" in " ".join(err.split())
    with Curator(vault) as curator:
        assert not any(map(float, curator.ledger.spent("visits").texts()[0].split()))
        (seen,) = curator.session(token).pending()
    assert (seen.state, seen.reason) == ("denied", "ask by month")
