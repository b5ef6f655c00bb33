"""Witnesses: every place of a vault's heads gets each of them, is asked, and is where its custodian wants it."""

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger import Ledger
from discreet.ledger.entry import Head
from discreet.ledger.integrity import keys
from discreet.ledger.integrity.anchor import AnchorFile
from discreet.ledger.integrity.anchor_log import AnchorLog
from discreet.ledger.integrity.witnesses import KIND, NAME, AnchorPolicy
from discreet.ledger.refusals import Tampered
from tests.ledger.helpers import charge


def newest(place):
    return max((each.place for each in place.anchors()), key=lambda head: head.sequence)


def test_every_place_has_every_head(ledger, path, tmp_path):
    policy = AnchorPolicy(path=str(tmp_path / "disk" / "second.anchor"), log=str(tmp_path / "mount" / "heads.log"))
    ledger.put(KIND, NAME, policy.record())
    ledger.close()
    with Ledger.open(path) as again:  # two places are new: an entry says so, and goes to them
        assert [*again.entries()][-1].record()["absent"] == ["path", "log"]
        again.run(charge(), lambda _: "41")
        places = again._anchors.places
        assert [each.kind for each in places] == ["usual", "state", "path", "log"]
        for each in places:
            assert newest(each) == Head(*again.head)
        assert again._anchors.heads()[0] == Head(*again.head)
        assert again.verify().anchor == again.head[0]
    lines = (tmp_path / "mount" / "heads.log").read_bytes().split(b"\n")
    assert len(lines) == 4  # the entry of the absence, the debit and its settlement, one after the other


def test_an_anchor_that_was_given_takes_the_place_of_both(path, tmp_path):
    with Ledger.create(path, anchor=tmp_path / "mine") as made:
        assert [each.path for each in made._anchors.places] == [tmp_path / "mine"]


def test_a_policy_names_whole_paths_and_keeps_what_is_not_changed(tmp_path):
    policy = AnchorPolicy(True, str(tmp_path / "a"), str(tmp_path / "b"))
    assert AnchorPolicy.from_record(policy.record()) == policy
    assert policy.with_changes({"path": None, "log": ""}) == AnchorPolicy(True, policy.path)
    assert policy.with_changes({"required": False, "path": "/c"}) == AnchorPolicy(False, "/c", policy.log)
    for wrong in ({"required": 1}, {"path": "near"}, {"log": "near"}, {"path": "/a", "log": "/a"}):
        with pytest.raises(BadParameter):
            AnchorPolicy(**wrong)


@pytest.mark.parametrize("kind", [AnchorFile, AnchorLog])
def test_a_place_vouches_for_its_newest_head_and_takes_none_of_another_history(ledger, tmp_path, kind):
    place = kind(tmp_path / "place", ledger._anchors.signer)
    assert place.absent
    assert place.anchors() == []
    known = [Head(number, f"{number}" * 64) for number in range(1, 6)]
    for head in known:
        place.write(head, known.__contains__)
    assert newest(place) == known[-1]
    place.write(known[1], known.__contains__)  # late: another process has been here
    assert newest(place) == known[-1]
    before = (tmp_path / "place").read_bytes()
    for wrong in (place.check, lambda known: place.write(Head(6, "6" * 64), known)):
        with pytest.raises(Exception, match="signed over an entry"):
            wrong(lambda head: head.sequence < 4)
    assert (tmp_path / "place").read_bytes() == before


@pytest.mark.parametrize("kind", [AnchorFile, AnchorLog])
def test_a_place_holds_still_whoever_does_not_know_the_key_that_another_signs_with(ledger, tmp_path, kind):
    before = ledger._anchors.signer
    after, _ = keys.rotated(before, keys.new_signing_key(), 1)
    old, new = (kind(tmp_path / "place", signer) for signer in (before, after))
    first, second, theirs = (Head(number, text * 64) for number, text in ((1, "1"), (2, "2"), (2, "3")))
    old.write(first, [first].__contains__)
    for number in range(12):  # longer than what is read of a log
        new.write(Head(2 + number, "2" * 64), lambda _: True)
        for refused in (
            lambda: old.check([first, theirs].__contains__),
            lambda: old.write(theirs, [first].__contains__),
        ):
            with pytest.raises(Tampered, match="another program has charged"):
                refused()
    assert newest(old) == newest(new)
    assert newest(new).sequence > second.sequence


@pytest.mark.parametrize("kind", [AnchorFile, AnchorLog])
def test_an_exchanged_key_vouches_for_nothing_afterwards(ledger, tmp_path, kind):
    before = ledger._anchors.signer
    after, _ = keys.rotated(before, keys.new_signing_key(), 1)
    stolen, mine = (kind(tmp_path / "place", signer) for signer in (before, after))
    head = Head(1, "1" * 64)
    mine.write(head, [head].__contains__)
    stolen.put(Head(5, "5" * 64))
    mine.check([head].__contains__)
    mine.put(head)
    assert newest(mine) == head
