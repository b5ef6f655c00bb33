"""discreet certificate: made by the custodian or by whoever has the answer, checked by anyone with the public key."""

import json

import pytest

from discreet.cli.shared.exits import Exit


@pytest.fixture
def answer(vault, result, run):
    """An answer of ann's, as she saved it, and her token."""
    token = result("grant", "ann", "visits")["token"]
    code, _, err = run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5", "--token", token, "--save", "a.json")
    assert code == Exit.DONE, err
    return vault.parent / "a.json", token


def test_a_certificate_is_made_and_checked_without_the_vault(answer, vault, result, run):
    file, token = answer
    key = result("verify")["public_key"]
    entry = json.loads(file.read_text())["answer"]["receipt"]["sequence"]
    assert run("certificate", "make", str(entry), "--out", "c.json")[0] == Exit.DONE
    assert run("certificate", "make", "--answer", str(file), "--token", token, "--out", "d.json")[0] == Exit.DONE
    assert (vault.parent / "c.json").read_bytes() == (vault.parent / "d.json").read_bytes()
    assert run("certificate", "make", str(entry))[1] == (vault.parent / "c.json").read_text()
    assert result("certificate", "check", "c.json", "--vault", str(vault))["chain"]
    vault.rename(vault.parent / "elsewhere")
    code, out, _ = run("certificate", "check", "c.json", "--key", key.upper())
    assert code == Exit.DONE
    assert "signed by that key" in out
    assert "one person (patient_id)" in out


def test_a_certificate_that_was_changed_is_refused(answer, vault, result, run):
    file, _ = answer
    run("certificate", "make", "--answer", str(file), "--out", "c.json")
    key, text = result("verify")["public_key"], (vault.parent / "c.json").read_text()
    (vault.parent / "c.json").write_text(text.replace("0.5", "0.4", 1))
    code, _, err = run("certificate", "check", "c.json", "--key", key)
    assert (code, "not that of its claims" in " ".join(err.split())) == (Exit.REFUSED, True)
    assert run("certificate", "check", "c.json", "--key", "0" * 64)[0] == Exit.REFUSED


def test_a_certificate_of_another_vault_is_refused(answer, vault, run):
    file, _ = answer
    run("certificate", "make", "--answer", str(file), "--out", "c.json")
    assert run("init", "other.discreet")[0] == Exit.DONE
    code, _, err = run("certificate", "check", "c.json", "--vault", "other.discreet")
    assert (code, "another vault" in err) == (Exit.REFUSED, True)


def test_a_check_needs_a_key_and_a_certificate_an_entry(answer, vault, run):
    file, token = answer
    run("certificate", "make", "--answer", str(file), "--out", "c.json")
    for words in (
        ("check", "c.json"),
        ("check", "c.json", "--key", "abc"),
        ("make",),
        ("make", "3", "--answer", str(file)),
        ("make", "3", "--token", token),
    ):
        assert run("certificate", *words)[0] == Exit.USAGE
    assert run("certificate", "make", "1")[0] == Exit.REFUSED
