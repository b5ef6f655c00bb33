"""discreet grant: a token, shown once, that opens some tables up to a cap."""

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator


def test_the_token_is_shown_on_a_line_of_its_own(vault, run):
    code, out, _ = run("grant", "alice", "visits")
    assert code == Exit.DONE
    token = out.splitlines()[1]
    assert "shown only once" in out
    with Curator(vault, create=False) as curator:
        assert curator.ledger.authenticate(token).analyst == "alice"
        assert token not in "".join(entry.body for entry in curator.ledger.entries())


def test_caps_months_and_expiry_are_kept(vault, result):
    words = ("--epsilon", "1", "--delta", "1e-6", "--monthly-rho", "0.01", "--expires", "30d")
    found = result("grant", "alice", "visits", *words)
    assert found["grant"] == found["token"].partition("_")[0]
    with Curator(vault, create=False) as curator:
        grant = curator.ledger.authenticate(found["token"])
        limits = {each.scope: each.filter.figures.currency for each in curator.budgets(grant) if each.analyst}
    assert limits == {"grant": "epsilon", "window": "rho"}
    assert grant.expires is not None


def test_a_grant_to_nothing_is_refused(vault, run):
    assert run("grant", "alice")[0] == Exit.USAGE
    code, _, err = run("grant", "alice", "vists")
    assert code == Exit.USAGE
    assert "did you mean 'visits'?" in err


def test_an_expiry_that_is_none_is_refused(vault, run):
    code, _, err = run("grant", "alice", "visits", "--expires", "soon")
    assert code == Exit.USAGE
    assert "write 30d, 12h, 8w or 2027-01-31" in err


def test_a_second_cap_says_what_it_means(vault, run, result):
    run("grant", "alice", "visits", "--epsilon", "1")
    code, _, err = run("grant", "alice", "visits", "--epsilon", "1")
    assert code == Exit.REFUSED
    assert "--replace or --add" in err
    assert result("grant", "alice", "visits", "--epsilon", "1", "--add")["caps"] == [
        "epsilon=2 of visits, of which 100% are left"
    ]
    _, out, _ = run("grant", "alice", "visits", "--epsilon", "0.5", "--replace")
    assert "Over all grants of alice together: epsilon=0.5 of visits, of which 100% are left." in out


def test_two_words_about_one_cap_are_refused(vault, run):
    code, _, err = run("grant", "alice", "visits", "--epsilon", "1", "--replace", "--add")
    assert (code, "--replace --add" in err) == (Exit.REFUSED, True)


def test_a_cap_outlives_its_grants_until_it_is_ended_in_so_many_words(vault, run, result):
    run("grant", "alice", "visits", "--epsilon", "1", "--monthly-epsilon", "0.5")
    run("revoke", "alice")
    assert len(result("grant", "alice", "visits")["caps"]) == 2
    found = result("grant", "alice", "visits", "--epsilon", "2", "--replace")
    assert ([each.partition(" of ")[0] for each in found["caps"]], found["ended"]) == (["epsilon=2", "epsilon=0.5"], [])
    assert "--end-caps" in run("grant", "alice", "visits", "--replace")[2]
    _, out, _ = run("grant", "alice", "visits", "--epsilon", "2", "--end-caps")
    assert "The cap of alice has ended: epsilon=0.5 of visits a month." in out


def test_an_expiry_in_the_past_is_refused(vault, run):
    code, _, err = run("grant", "alice", "visits", "--expires", "2020-01-01")
    assert (code, "it has passed" in err) == (Exit.USAGE, True)
