"""discreet refresh: a changed source becomes the next version, on the same budget."""

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator
from tests.cli.vaults import ROWS


def test_a_changed_source_is_the_next_version(vault, run, folder):
    (folder / "visits.csv").write_text(ROWS + "1,1,A\n")
    code, out, _ = run("refresh", "visits")
    assert (code, out) == (Exit.DONE, "Table visits is at version 2; its budget stays as it was.\n")
    with Curator(vault, create=False) as curator:
        curator.check("visits")


def test_a_new_source_can_be_given(vault, result, folder):
    (folder / "next.csv").write_text(ROWS + "1,1,A\n")
    assert result("refresh", "visits", "next.csv") == {"name": "visits", "version": 2, "account": "visits"}


def test_an_unknown_table_is_refused(vault, run):
    code, _, err = run("refresh", "visit")
    assert code == Exit.USAGE
    assert "did you mean 'visits'?" in err


def test_a_source_that_has_gone_is_refused(vault, run, folder):
    (folder / "visits.csv").unlink()
    code, _, err = run("refresh", "visits")
    assert code == Exit.REFUSED
    assert "there is none" in err
