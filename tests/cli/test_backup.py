"""discreet backup: a folder that a vault can be restored from, and nothing written over."""

from discreet.cli.shared.exits import Exit


def test_a_vault_is_backed_up_and_the_backup_is_not_opened_as_a_vault(vault, result, run):
    found = result("backup", "copy")
    assert (found["head"], found["folder"], found["missing"]) == (result("verify")["head"], "copy", [])
    assert run("verify", "--vault", "copy/vault.discreet")[0] == Exit.REFUSED  # a second copy that would charge
    code, out, _ = run("backup", "another")
    assert code == Exit.DONE
    assert "backed up in another" in out


def test_a_backup_onto_itself_or_anything_else_is_refused(vault, run):
    for place in ("vault.discreet", "visits.csv", "."):
        code, _, err = run("backup", place)
        assert code == Exit.REFUSED, err
        assert "nothing is written over" in err
