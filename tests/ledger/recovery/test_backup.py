"""Backups: one verified state of a vault in use, whole files, no key to draw by, and nothing written over."""

import errno
import sys
import threading
from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter, Refusal
from discreet.core.file import Occupied
from discreet.ledger import Ledger, NotAVault, Tampered, Unavailable
from discreet.ledger.artefacts.settlement import Filed
from discreet.ledger.recovery import backup as backups
from discreet.ledger.recovery.backup import MANIFEST, VAULT, BackedUp
from discreet.ledger.store import StoredDraw
from tests.ledger.helpers import charge

EVERY_STORE = True
ONE_IN_A_MILLION = Fraction(1, 10**6)


@pytest.fixture
def used(ledger):
    """A vault with an answer, a file, a copy of rows, and a question that waits for its answer."""

    def work(_):
        with ledger.artefacts.draft("text/csv", ".csv") as draft:
            draft.file.write(b"a table")
            return Filed("41", (draft,))

    ledger.run(charge(), work)
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge("waits"), lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    ledger.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (ledger.folder / "visits-1.parquet").write_bytes(b"rows")
    (ledger.folder / "visits-1.kept.parquet").write_bytes(b"made again")
    return ledger


def test_a_backup_is_the_vault_at_one_moment_and_verifies_by_itself(used, tmp_path):
    made = used.backup(tmp_path / "backup")
    assert (made.entries, made.head, made.vault) == (*used.head, used.vault_id)
    assert BackedUp.of(tmp_path / "backup") == made
    with pytest.raises(NotAVault, match="part of a backup") as refused:
        Ledger.open(tmp_path / "backup" / VAULT)
    assert "discreet restore" in refused.value.fix
    (tmp_path / "backup" / MANIFEST).unlink()
    with Ledger.open(tmp_path / "backup" / VAULT) as copy:
        assert copy.verify().missing == ()
        assert copy.answer(charge().key) == "41"
        assert copy.spent("people") == used.spent("people")
        assert [path.name for path in copy.folder.iterdir()] == ["visits-1.parquet"]


def test_a_backup_has_no_key_to_draw_by(used, tmp_path):
    with used._read() as look:
        (row,) = [*look.all(StoredDraw)]
    used.backup(tmp_path / "backup")
    content = b"".join(path.read_bytes() for path in (tmp_path / "backup").rglob("*") if path.is_file())
    assert row.sealed not in content
    assert not [*(tmp_path / "backup").rglob("*.draws")]


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_backup_is_for_its_owner_alone(used, tmp_path):
    used.backup(tmp_path / "backup")
    for path in [tmp_path / "backup", *(tmp_path / "backup").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_backup_is_consistent_while_others_charge(ledger, path, tmp_path):
    ended = threading.Event()

    def busy():
        with Ledger.open(path) as other:
            number = 0
            while not ended.is_set():
                number += 1
                other.run(charge(f"q{number}", epsilon=ONE_IN_A_MILLION), lambda _: "41")

    other = threading.Thread(target=busy)
    other.start()
    try:
        made = [ledger.backup(tmp_path / f"backup-{number}") for number in range(3)]
    finally:
        ended.set()
        other.join()
    heads = {(entry.sequence, entry.hash) for entry in ledger.entries()}
    assert {(each.entries, each.head) for each in made} <= heads


def test_nothing_is_written_over_not_even_the_vault_itself(used, tmp_path, path):
    places = [tmp_path / "there", tmp_path]
    places[0].write_text("mine")
    if hasattr(path, "parent"):
        places += [path, used.folder, used.artefacts.path]
    for place in places:
        with pytest.raises(Occupied, match="something of that name"):
            used.backup(place)
    assert places[0].read_text() == "mine"


def test_a_full_disk_leaves_nothing_and_says_what_to_do(used, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = {path.name for path in tmp_path.iterdir()}
    for name in ("flushed", "flush_folder", "_copy_files"):
        with monkeypatch.context() as patch:
            patch.setattr(backups, name, full)
            with pytest.raises(Unavailable, match="No space left") as refused:
                used.backup(tmp_path / "backup")
        assert "make room" in refused.value.fix
        assert {path.name for path in tmp_path.iterdir()} == before
    with pytest.raises(Unavailable, match="cannot be written"):
        used.backup(tmp_path / "no" / "such" / "folder")


def test_a_changed_file_is_not_backed_up_and_a_missing_one_is_named(used, tmp_path):
    (file,) = used.artefacts.path.iterdir()
    file.write_bytes(b"a Table")
    with pytest.raises(Tampered, match="not what was settled"):
        used.backup(tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    file.unlink()
    assert used.backup(tmp_path / "backup").missing == (file.name,)


def test_a_link_in_the_folder_of_rows_is_not_followed(tmp_path):
    rows, folder = tmp_path / "rows", tmp_path / "copy"
    rows.mkdir()
    (rows / "visits-1.parquet").write_bytes(b"rows")
    (tmp_path / "secret").write_bytes(b"of somebody else")
    (rows / "visits-2.parquet").symlink_to(tmp_path / "secret")
    backups.copy_rows(rows, folder)
    assert [path.name for path in folder.iterdir()] == ["visits-1.parquet"]


def test_a_folder_that_is_no_backup_is_refused(tmp_path):
    for content in (None, b"{", b"\xff", b'{"discreet": 1, "backup": {}}'):
        if content is not None:
            (tmp_path / MANIFEST).write_bytes(content)
        with pytest.raises(BadParameter, match=r"no backup\.json"):
            BackedUp.of(tmp_path)


def test_a_disk_that_fills_up_under_the_copy_is_a_refusal(used, tmp_path, monkeypatch):
    """SQLite itself says that there is no room."""
    real = backups.SqliteStore.create

    def small(place):
        store = real(place)
        with store._connected() as connection:
            connection.execute("PRAGMA max_page_count = 40")
        return store

    monkeypatch.setattr(backups.SqliteStore, "create", small)
    for number in range(30):
        used.put("kind", f"name {number}", {"text": "x" * 5000})
    with pytest.raises(Refusal, match="full"):
        used.backup(tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
