"""discreet approve: what waits is listed, and an approved question is answered once it is asked again."""

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator


def waiting(vault, result):
    """A question of ann's that waits, as the words by which she asks it."""
    with Curator(vault) as curator:
        curator.charging(approval=["*"])
    token = result("grant", "ann", "visits")["token"]
    return "ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5", "--token", token


def test_a_question_waits_is_approved_and_answered(vault, result, run):
    words = waiting(vault, result)
    code, _, err = run(*words)
    assert code == Exit.REFUSED
    assert "nothing was charged" in err
    (request,) = result("approve")["pending"]
    assert (request["analyst"], request["state"]) == ("ann", "pending")
    assert "loss: visits: epsilon 0.5, DiscreteLaplace" in run("approve")[1]
    code, out, _ = run("approve", request["request"][:8])
    assert code == Exit.DONE
    assert out.startswith("ann may ask this once:")
    assert run(*words)[0] == Exit.DONE
    assert result("approve")["pending"] == []
    assert run("approve")[1] == "Nothing waits for approval.\n"


def test_a_request_that_is_none_is_refused(vault, run):
    code, _, err = run("approve", "12345678")
    assert code == Exit.USAGE
    assert "request" in err
