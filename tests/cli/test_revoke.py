"""discreet revoke: a grant ends, or all grants of an analyst."""

from discreet.cli.shared.exits import Exit


def test_all_grants_of_an_analyst_end(vault, run, result):
    tokens = [result("grant", "alice", "visits")["token"] for _ in range(2)]
    assert sorted(result("revoke", "alice")["ended"]) == sorted(token.partition("_")[0] for token in tokens)
    for token in tokens:
        code, _, err = run("budget", "--token", token)
        assert code == Exit.REFUSED
        assert "it was revoked" in err


def test_one_grant_ends_by_its_identifier(vault, run, result):
    kept, ended = (result("grant", "alice", "visits") for _ in range(2))
    assert run("revoke", ended["grant"])[1] == f"Ended: {ended['grant']}.\n"
    assert run("budget", "--token", kept["token"])[0] == Exit.DONE


def test_ending_what_has_ended_says_so(vault, run, result):
    result("grant", "alice", "visits")
    run("revoke", "alice")
    assert run("revoke", "alice")[1] == "There was nothing left to end.\n"


def test_nobody_is_refused_with_the_nearest(vault, run, result):
    result("grant", "alice", "visits")
    code, _, err = run("revoke", "alicia")
    assert code == Exit.USAGE
    assert "did you mean 'alice'?" in err
