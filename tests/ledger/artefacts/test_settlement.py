"""Settlements: short texts stay in the ledger, long ones and those that are files go to the folder."""

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger.artefacts.folder import ArtefactFolder
from discreet.ledger.artefacts.settlement import Filed, check_answer, written


@pytest.fixture
def place(tmp_path):
    return lambda: (ArtefactFolder(tmp_path / "files"), 20_000)


def test_a_short_answer_is_a_text_and_nobody_asks_for_the_folder():
    found = written("41", lambda: pytest.fail("the policy was read"))
    assert (found.text, found.artefacts) == ("41", ())


def test_an_answer_that_is_longer_than_the_policy_says_is_a_file(place):
    assert written("x" * 20_000, place).text == "x" * 20_000
    found = written("x" * 20_001, place)
    assert (found.text, found.artefacts[0].size, found.digest) == (None, 20_001, found.artefacts[0].sha256)
    assert place()[0].text(found.artefacts[0]) == "x" * 20_001


def test_an_answer_that_is_a_file_is_one_however_short(place):
    assert written(Filed("41", alone=True), place).artefacts[0].size == 2


def test_files_are_removed_if_one_of_them_cannot_be_finished(place):
    first, second = (place()[0].draft("text/plain") for _ in range(2))
    second.path.unlink()
    with pytest.raises(Exception, match="cannot be written"):
        written(Filed("41", (first, second)), place)
    assert [*place()[0].path.iterdir()] == []


@pytest.mark.parametrize("answer", [41, None, b"41", Filed(41)])
def test_what_is_no_text_is_refused(answer):
    with pytest.raises(BadParameter, match="stored as text"):
        check_answer(answer)


def test_a_text_that_cannot_be_encoded_is_refused():
    with pytest.raises(BadParameter, match="no valid text"):
        check_answer("\ud800")
