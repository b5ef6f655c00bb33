"""The anchor: two slots, signed, older ones still valid, torn ones tolerated, forged ones not."""

import shutil

import pytest

from discreet.ledger import Frozen, Ledger, Tampered
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity.anchor import SLOT, Anchor
from discreet.ledger.place import state_anchor
from tests.ledger.helpers import charge, kinds, surgery


def never(_draws):
    raise AssertionError("nothing is worked on")


@pytest.fixture
def anchor(path):
    return path.with_name(path.name + ".anchor")


def slots(anchor):
    content = anchor.read_bytes()
    assert len(content) == 2 * SLOT
    return [Anchor.from_slot(content[:SLOT]), Anchor.from_slot(content[SLOT:])]


def test_the_anchor_has_the_head_after_every_commit(ledger, anchor):
    for number in range(3):
        ledger.run(charge(f"q{number}"), lambda _: "41")
        newest = max(slots(anchor), key=lambda slot: slot.sequence)
        assert (newest.sequence, newest.head) == ledger.head
        assert (newest.vault, newest.public_key) == (ledger.vault_id, ledger.public_key)
        assert newest.is_of(ledger._anchors.signer)
        assert {slot.sequence for slot in slots(anchor)} == {ledger.head[0], ledger.head[0] - 1}


def test_a_torn_slot_is_tolerated_and_the_other_one_holds(ledger, anchor, path):
    ledger.run(charge(), lambda _: "41")
    newest = [slot.sequence for slot in slots(anchor)].index(ledger.head[0])
    content = bytearray(anchor.read_bytes())
    content[newest * SLOT + 100 : (newest + 1) * SLOT] = b"\x00" * (SLOT - 100)
    anchor.write_bytes(content)
    ledger.close()
    state_anchor(ledger.vault_id).write_bytes(content)
    with Ledger.open(path) as again:
        assert again.verify().anchor == again.head[0] - 1
        again.run(charge("r"), lambda _: "41")
        assert again.verify().anchor == again.head[0]


@pytest.mark.parametrize("field", ["vault", "sequence", "head", "public_key", "signature"])
def test_a_forged_anchor_is_refused(ledger, anchor, path, field):
    forged = []
    for slot in slots(anchor):
        value = getattr(slot, field)
        changed = value + 1 if field == "sequence" else ("1" if value[0] == "0" else "0") + value[1:]
        fields = {name: getattr(slot, name) for name in Anchor.__slots__} | {field: changed}
        forged.append(Anchor(**fields).to_slot())
    anchor.write_bytes(b"".join(forged))
    with pytest.raises(Tampered, match="no head that this vault signed"):
        ledger.verify()
    ledger.close()
    with pytest.raises(Tampered):
        Ledger.open(path)


@pytest.mark.parametrize("lost", ["usual", "state"])
def test_a_vault_that_misses_an_anchor_opens_says_so_in_an_entry_and_makes_it(ledger, anchor, path, lost, caplog):
    ledger.close()
    (anchor if lost == "usual" else state_anchor(ledger.vault_id)).unlink()
    with Ledger.open(path) as again:
        assert kinds(again)[-1] == "anchor"
        assert [*again.entries()][-1].record()["absent"] == [lost]
        assert "an anchor of the vault is missing" in caplog.text
    with Ledger.open(path) as again:
        assert kinds(again).count("anchor") == 1
        assert again.verify().anchor == again.head[0]


def test_a_vault_interrupted_before_its_first_anchor_can_be_opened(path, anchor):
    Ledger.create(path).close()
    anchor.unlink()
    with Ledger.open(path) as ledger:
        assert kinds(ledger) == ["vault"]


def test_an_older_anchor_is_still_on_the_chain(ledger, anchor, path):
    before = anchor.read_bytes()
    ledger.run(charge(), lambda _: "41")
    anchor.write_bytes(before)
    ledger.close()
    with Ledger.open(path) as again:
        assert again.verify().anchor == 4  # the one in the state folder
    state_anchor(ledger.vault_id).write_bytes(before)
    with Ledger.open(path) as again:
        assert again.verify().anchor == 2


def test_a_restored_backup_is_frozen(ledger, path):
    ledger.run(charge("q"), lambda _: "41")
    ledger.close()
    backup = path.read_bytes()
    with Ledger.open(path) as later:
        later.run(charge("r"), lambda _: "41")
    path.write_bytes(backup)
    with Ledger.open(path) as old:
        assert "it ends at entry 4, and a head was signed at entry 6" in old.frozen
        assert old.run(charge("q"), never)[0] == "41"
        with pytest.raises(Frozen, match="charges are lost"):
            old.run(charge("r"), never)
        with pytest.raises(Tampered, match="charges are lost") as refused:
            old.verify()
    assert refused.value.sequence == 5
    assert path.read_bytes() == backup


def test_a_rewritten_past_is_found_by_the_anchor(ledger, path):
    ledger.run(charge(), lambda _: "41")
    ledger.close()
    with surgery(path) as connection:
        previous = connection.execute("SELECT hash FROM entries WHERE sequence = 3").fetchone()[0]
        other = Entry.after(3, previous, "refusal", "{}")
        connection.execute(
            "UPDATE entries SET kind = ?, body = ?, hash = ? WHERE sequence = 4", (other.kind, other.body, other.hash)
        )
    with pytest.raises(Tampered, match="made for another end of it"):
        Ledger.open(path)


def test_a_late_writer_does_not_replace_a_newer_anchor(ledger, anchor):
    ledger.run(charge(), lambda _: "41")
    before = anchor.read_bytes()
    ledger._anchors.write(Head(1, "0" * 64), lambda _: True)
    assert state_anchor(ledger.vault_id).read_bytes() == before
    assert anchor.read_bytes() == before


def test_slots_of_another_vault_give_way(ledger, anchor, tmp_path):
    with Ledger.create(tmp_path / "other") as other:
        for number in range(4):
            other.refused(None, f"q{number}", "why")
    anchor.write_bytes((tmp_path / "other.anchor").read_bytes())
    ledger.refused(None, "q", "why")
    assert ledger.verify().anchor == ledger.head[0]


def test_a_vault_moved_without_its_log_is_not_taken_for_one_that_was_never_finished(ledger, path, anchor, tmp_path):
    ledger.run(charge(), lambda _: "41")
    moved = tmp_path / "elsewhere" / path.name
    moved.parent.mkdir()
    for file in (path, anchor):  # while it is open, or after it was killed, entries lie in the file that ends in -wal
        shutil.copy(file, moved.with_name(file.name))
    with pytest.raises(Tampered, match="its keys and its entries are missing") as caught:
        Ledger.open(moved)
    assert "ends in -wal" in caught.value.fix
    shutil.copy(path.with_name(f"{path.name}-wal"), moved.with_name(f"{path.name}-wal"))
    with Ledger.open(moved) as again:
        assert again.verify().head == ledger.head[1]
