"""discreet rotate: the new public key is printed, and certificates of the old one are still checked."""

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
