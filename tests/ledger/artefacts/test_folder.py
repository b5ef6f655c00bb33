"""The folder of published files: whole or refused, links never followed, orphans found and living drafts left alone."""

import hashlib
import subprocess
import sys

import pytest

from discreet.ledger import Tampered, Unavailable
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.artefacts.folder import ArtefactFolder


@pytest.fixture
def folder(tmp_path):
    return ArtefactFolder(tmp_path / "files")


@pytest.fixture
def made(folder):
    with folder.draft("text/plain", ".txt") as draft:
        draft.file.write(b"forty-one")
        made = draft.finish()
        draft.release()
    return made


def test_what_was_written_is_read_checked_and_copied(folder, made, tmp_path):
    assert made == Artefact(made.name, 9, hashlib.sha256(b"forty-one").hexdigest(), "text/plain")
    assert folder.text(made) == "forty-one"
    folder.check(made)
    folder.copy(made, tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_bytes() == b"forty-one"


@pytest.mark.parametrize("content", [b"forty-two", b"forty", b"forty-one and more"])
def test_a_changed_file_is_refused_wherever_it_is_read(folder, made, tmp_path, content):
    (folder.path / made.name).write_bytes(content)
    for read in (folder.text, folder.check, lambda file: folder.copy(file, tmp_path / "copy.txt")):
        with pytest.raises(Tampered, match="not what was settled") as refused:
            read(made)
        assert made.sha256 in refused.value.fix
    assert not (tmp_path / "copy.txt").exists()


def test_a_lost_file_is_refused_with_what_to_put_back(folder, made):
    (folder.path / made.name).unlink()
    with pytest.raises(Unavailable, match="not there"):
        folder.text(made)
    assert not folder.is_there(made)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_in_the_place_of_a_file_is_not_followed(folder, made, tmp_path):
    (folder.path / made.name).rename(tmp_path / "elsewhere")
    (folder.path / made.name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        folder.check(made)
    assert not folder.is_there(made)


def test_a_name_that_leads_out_of_the_folder_is_refused_before_anything_is_opened(folder, tmp_path):
    (tmp_path / "secret").write_bytes(b"x")
    with pytest.raises(Tampered, match="no ledger gives such a name"):
        folder.text(Artefact("../secret", 1, hashlib.sha256(b"x").hexdigest(), "text/plain"))


@pytest.mark.skipif(sys.platform == "win32", reason="files are held by locks")
def test_what_a_living_writer_holds_is_no_orphan_and_what_a_killed_one_left_is(folder):
    program = (
        "import sys, os, signal; from pathlib import Path\n"
        "from discreet.ledger.artefacts.folder import ArtefactFolder\n"
        "with ArtefactFolder(Path(sys.argv[1])).draft('text/plain', '.txt') as draft:\n"
        "    draft.file.write(b'41'); draft.finish() if sys.argv[2] == 'named' else None\n"
        "    print(draft.path.name, flush=True); sys.stdin.read(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    for kind in ("named", "draft"):
        words = [sys.executable, "-c", program, str(folder.path), kind]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            name = writer.stdout.readline().strip()
            assert folder.remove_strangers(lambda _: False) == []
            assert (folder.path / name).exists()
            writer.stdin.close()
            writer.wait()
        assert folder.strangers(lambda _: False) == [name]
        assert folder.remove_strangers(lambda _: False) == [name]
        assert [*folder.path.iterdir()] == []


def test_settled_files_and_those_of_others_are_no_orphans(folder, made):
    (folder.path / "notes.txt").write_text("mine")
    asked = []
    assert folder.strangers(lambda name: not asked.append(name)) == []
    assert asked == [made.name]
    assert folder.remove_strangers(lambda name: name != made.name) == [made.name]
    assert [path.name for path in folder.path.iterdir()] == ["notes.txt"]
