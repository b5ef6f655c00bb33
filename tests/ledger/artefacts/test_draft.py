"""Drafts: private, held while they are written, named when they are on disk, and gone when they fail."""

import errno
import os
import sys

import pytest

from discreet.ledger import Unavailable
from discreet.ledger.artefacts import draft as drafts
from discreet.ledger.artefacts.draft import ArtefactDraft
from discreet.ledger.artefacts.folder import ArtefactFolder


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vault.files"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_file_and_its_folder_are_for_their_owner_alone(folder):
    old = os.umask(0)
    try:
        with ArtefactDraft(folder, "text/plain", ".txt") as draft:
            draft.path.chmod(0o644)  # as a program does that writes by name
            draft.file.write(b"41")
            made = draft.finish()
    finally:
        os.umask(old)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / made.name).stat().st_mode & 0o777 == 0o600


def test_a_draft_has_no_name_before_it_is_flushed(folder, monkeypatch):
    seen = []

    def flushed(file):
        seen.append(("file", [path.name for path in folder.iterdir()]))
        os.fsync(file)

    def flush_folder(path):
        seen.append(("folder", [each.name for each in path.iterdir()]))

    monkeypatch.setattr(drafts, "flushed", flushed)
    monkeypatch.setattr(drafts, "flush_folder", flush_folder)
    with ArtefactDraft(folder, "text/plain", ".txt") as draft:
        draft.file.write(b"41")
        made = draft.finish()
    assert seen == [("file", [f".{made.name}.draft"]), ("folder", [made.name])]


def test_a_draft_that_fails_is_removed(folder):
    with pytest.raises(ValueError, match="forty"), ArtefactDraft(folder, "text/plain", ".txt") as draft:
        draft.file.write(bytes(str(int("forty")), "ascii"))
    assert [*folder.iterdir()] == []


def test_whoever_writes_by_the_name_may_make_another_file_of_it(folder):
    with ArtefactDraft(folder, "text/plain", ".txt") as draft:
        draft.path.unlink()
        draft.path.write_bytes(b"another")
        made = draft.finish()
        assert made.size == 7
        assert ArtefactFolder(folder).strangers(lambda _: False) == []  # it is held as well
        draft.release()
    assert ArtefactFolder(folder).strangers(lambda _: False) == [made.name]


def test_a_full_disk_is_a_refusal_with_the_fix(folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(drafts, "flushed", full)
    with pytest.raises(Unavailable, match="No space left") as refused, ArtefactDraft(folder, "text/plain", "") as draft:
        draft.finish()
    assert "make room in" in refused.value.fix
    assert [*folder.iterdir()] == []
