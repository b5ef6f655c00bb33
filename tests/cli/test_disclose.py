"""discreet disclose: an entry is printed or written, with what is left to fill in."""

from discreet.cli.shared.exits import Exit


def test_an_entry_is_written_and_says_what_is_open(vault, result, run, tmp_path):
    place = tmp_path / "entry.yaml"
    words = "disclose", "--curator", "City Hospital", "--intended-use", "Planning", "--out", str(place)
    found = result(*words)
    assert found["open"] == ["region", "description", "author"]
    assert 'data_curator: "City Hospital"' in place.read_text()
    code, out, _ = run("disclose", "visits")
    assert code == Exit.DONE
    assert out.startswith('status: "Draft"\n')
    assert run("disclose", "nothing")[0] == Exit.USAGE
