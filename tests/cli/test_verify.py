"""discreet verify: a vault in order, and exit code 5 for one that is not."""

import shutil

from discreet.cli.shared.exits import Exit
from discreet.curator.curator import Curator


def test_a_vault_in_order_says_what_was_checked(vault, run):
    code, out, _ = run("verify")
    assert code == Exit.DONE
    for words in ("The vault is in order.", "entries, each chained", "the anchor: signed", "head", "public key"):
        assert words in out


def test_a_head_kept_elsewhere_is_found_on_the_chain(vault, run, result):
    kept = result("verify")
    run("refresh", "visits")
    found = result("verify", "--head", kept["head"])
    assert found["entries"] > kept["entries"]
    assert (found["against"], found["public_key"]) == (kept["head"], kept["public_key"])
    assert "the given head: on the chain" in run("verify", "--head", kept["head"])[1]


def test_a_head_that_is_not_there_is_tampering(vault, run):
    code, _, err = run("verify", "--head", "00" * 32)
    assert code == Exit.REFUSED
    assert "entries were lost or exchanged" in err


def test_a_changed_byte_is_tampering(vault, run):
    content = vault.read_bytes()
    assert content.count(b'"visits"') > 0
    vault.write_bytes(content.replace(b'"max_rows":5', b'"max_rows":6'))
    assert vault.read_bytes() != content
    assert run("verify")[0] == Exit.REFUSED


def test_an_older_copy_is_tampering(vault, run):
    shutil.copy(vault, "old")
    run("refresh", "visits")
    shutil.copy("old", vault)
    code, _, err = run("verify")
    assert code == Exit.REFUSED
    assert "charges are lost" in err


def test_a_file_that_is_no_vault_is_refused(folder, run):
    code, _, _ = run("verify", "--vault", "visits.csv")
    assert code == Exit.REFUSED


def test_a_head_is_found_however_it_was_copied(vault, result):
    head = result("verify")["head"]
    assert result("verify", "--head", f" {head.upper()} ")["head"] == head


def test_limits_on_work_that_are_not_the_default_are_shown(vault, run, result):
    assert result("verify")["work"] == {}
    with Curator(vault, create=False) as curator:
        curator.work(deadline=600)
    assert result("verify")["work"] == {"deadline": 600}
    assert "not the default: deadline = 600" in run("verify")[1]
