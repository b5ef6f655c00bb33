"""discreet erase: rows in a file are named as the custodian's own to delete."""

from discreet.cli.shared.exits import Exit


def test_rows_in_files_are_the_custodians_to_delete(vault, result, run):
    erased = result("erase", "visits", "--person", "7")
    assert (erased["rows"], erased["elsewhere"]) == ({}, ["visits"])
    code, out, _ = run("erase", "visits", "--person", "7")
    assert code == Exit.DONE
    assert "then run discreet refresh visits" in out
    assert run("erase", "nothing", "--person", "7")[0] == Exit.USAGE
