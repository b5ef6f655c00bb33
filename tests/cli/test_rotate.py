"""discreet rotate: the new public key is printed, certificates of the old one are still checked; another secret."""

from discreet.cli.shared.exits import Exit


def test_certificates_of_the_old_key_are_checked_after_a_rotation(vault, result, run, tmp_path):
    sequence = result("bill", "visits", "--loss", "pure:0.1", "--label", "training")["sequence"]
    file = tmp_path / "old.json"
    result("certificate", "make", str(sequence), "--out", str(file))
    rotated = result("rotate")
    assert rotated["public_key"] != rotated["former"]
    assert run("certificate", "check", str(file), "--key", rotated["former"])[0] == Exit.DONE
    assert run("certificate", "check", str(file), "--vault", str(vault))[0] == Exit.DONE
    assert run("certificate", "check", str(file), "--key", rotated["public_key"])[0] == Exit.REFUSED
    assert result("verify")["public_key"] == rotated["public_key"]


def test_the_secret_is_exchanged_and_everything_goes_on(vault, result, run):
    sequence = result("bill", "visits", "--loss", "pure:0.1", "--label", "training")["sequence"]
    before = result("verify")
    rotated = result("rotate", "--secret")
    assert (rotated["secret"], rotated["failed"]) == ("exchanged", {"questions": 0, "parts": 0, "counters": 0})
    after = result("verify")
    assert (after["public_key"], after["entries"] > before["entries"]) == (before["public_key"], True)
    assert result("releases")["releases"][-1]["sequence"] == sequence
    assert "sealed with it" in run("rotate", "--secret")[1]
