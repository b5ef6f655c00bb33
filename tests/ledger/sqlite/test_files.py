"""Files under an open vault: exchanged, removed or named twice, they give not one answer more than the budget."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.core.errors import Refusal
from discreet.ledger import Ledger, Tampered, Unavailable
from discreet.ledger.sqlite import files
from tests.ledger.helpers import charge, epsilon

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed there")


def answered(ledger, tag):
    """How many questions are answered until one is refused, and why that was."""
    for number in range(20):
        try:
            ledger.run(charge(f"{tag}{number}"), lambda _: "41")
        except Refusal as refusal:
            return number, refusal
    raise AssertionError("there is no end to it")


OTHER = """
import sys
from discreet.core.errors import Refusal
from discreet.ledger import Ledger
from tests.ledger.sqlite.test_files import answered
try:
    with Ledger.open(sys.argv[1]) as ledger:
        for _ in sys.stdin:
            print(answered(ledger, "b")[0], flush=True)
except Refusal as refusal:
    print("refused", refusal.why, flush=True)
"""


class Other:
    """Another process with the vault open; in this one SQLite would know both connections."""

    def __init__(self, path):
        words = [sys.executable, "-c", OTHER, str(path)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answers(self):
        told, _ = self.process.communicate("\n")
        first = told.split()[0]
        return int(first) if first.isdigit() else 0


@pytest.fixture
def path(tmp_path):
    (tmp_path / "one").mkdir()
    return tmp_path / "one" / "vault"


def beside(path, ending):
    return Path(f"{path}{ending}")


def test_a_log_that_is_removed_under_an_idle_vault_gives_nothing_back(path):
    with Ledger.create(path) as made:
        made.add_account("people", epsilon(1))
    with Ledger.open(path) as idle:
        for ending in ("-wal", "-shm"):
            beside(path, ending).unlink()
        assert Other(path).answers() == 10
        number, refusal = answered(idle, "a")
        assert number == 0
        assert isinstance(refusal, Tampered)
        assert "open it again" in refusal.fix


def test_the_newest_state_put_back_by_renaming_is_used_by_one_of_two(ledger, path):
    ledger.run(charge("first"), lambda _: "41")
    for file in [*path.parent.iterdir()]:
        copy = shutil.copy(file, path.parent / f"{file.name}~")
        os.replace(copy, file)  # noqa: PTH105
    beside(path, "-shm").unlink()
    assert Other(path).answers() == 9
    number, refusal = answered(ledger, "a")
    assert (number, type(refusal)) == (0, Tampered)
    with pytest.raises(Tampered, match="moved, removed or replaced"):
        ledger.spent("people")  # the old files would tell of a smaller loss


@pytest.mark.parametrize("how", ["removed", "moved", "folder"])
def test_a_vault_that_is_gone_answers_nothing_more(ledger, path, how):
    ledger.run(charge("first"), lambda _: "41")
    if how == "folder":
        path.parent.rename(path.parent.with_name("elsewhere"))
    for ending in ("", "-wal", "-shm") if how != "folder" else ():
        file = beside(path, ending)
        file.unlink() if how == "removed" else file.rename(file.with_name(f"x{file.name}"))
    number, refusal = answered(ledger, "a")
    assert (number, type(refusal)) == (0, Tampered)
    with pytest.raises(Tampered, match="moved, removed or replaced"):
        ledger.run(charge("first"), pytest.fail)  # whoever may see it may have been revoked elsewhere


@pytest.mark.parametrize("anchor", ["linked", "copied"])
def test_a_vault_with_two_names_is_refused_under_either(ledger, path, tmp_path, anchor):
    ledger.run(charge("first"), lambda _: "41")
    other = tmp_path / "vault"
    os.link(path, other)
    (os.link if anchor == "linked" else shutil.copy)(beside(path, ".anchor"), beside(other, ".anchor"))
    with pytest.raises(Unavailable, match="hard link"):
        Ledger.open(other)
    with pytest.raises(Unavailable, match="hard link"):
        Ledger.open(path)
    assert answered(ledger, "a")[0] == 0
    other.unlink()
    assert answered(ledger, "a")[0] == 9


def test_a_name_that_is_given_and_taken_away_before_the_commit_is_no_way_around(ledger, path, tmp_path):
    with pytest.raises(Tampered, match="moved, removed or replaced"), ledger._write():
        path.rename(tmp_path / "vault")
    (tmp_path / "vault").rename(path)
    assert ledger.head[0] == 2


def test_what_is_committed_to_files_that_are_exchanged_at_that_moment_is_not_answered(ledger, path, monkeypatch):
    check, seen = ledger._store.check_place, []

    def exchanged():
        seen.append(None)
        if len(seen) == 2:  # after the commit
            beside(path, "-wal").rename(beside(path, "-kept"))
        check()

    monkeypatch.setattr(ledger._store, "check_place", exchanged)
    with pytest.raises(Tampered, match="moved, removed or replaced"):
        ledger.run(charge(), pytest.fail)


def test_a_file_that_is_mounted_alone_is_refused(ledger, path, monkeypatch, tmp_path):
    mounts, real = tmp_path / "mounts", os.path.realpath(path)
    monkeypatch.setattr(files, "_MOUNTS", mounts)
    monkeypatch.setattr(files.sys, "platform", "linux")
    line = "36 35 98:0 /mnt1 {} rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
    mounts.write_text(line.format("/") + line.format(os.path.dirname(real)))  # noqa: PTH120
    Ledger.open(path).close()
    mounts.write_text(line.format("/") + line.format(real))
    with pytest.raises(Unavailable, match="mount point") as refused:
        Ledger.open(path)
    assert "mount the folder" in refused.value.fix


def test_a_mount_point_is_found_by_the_name_that_the_system_writes(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "_MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(files.sys, "platform", "linux")
    path = Path(os.path.realpath(tmp_path)) / "a vault\\ä"
    assert not files._is_mounted(path)  # no /proc
    escaped = str(path).replace("\\", "\\134").replace(" ", "\\040")
    (tmp_path / "mounts").write_text(f"36 35 98:0 /v {escaped} rw - ext4 /dev/root rw\n")
    assert files._is_mounted(path)


def test_of_two_states_that_share_an_anchor_one_goes_on(ledger, path, tmp_path):
    """As of a file that two names lead to without its showing: the anchor is the last to tell."""
    ledger.run(charge("first"), lambda _: "41")
    ledger.close()
    other = tmp_path / "vault"
    shutil.copy(path, other)
    beside(other, ".anchor").symlink_to(beside(path, ".anchor"))
    with Ledger.open(path) as one, Ledger.open(other) as two:
        assert answered(one, "a")[0] == 9
        number, refusal = answered(two, "b")
        assert (number, type(refusal)) == (0, Tampered)
        assert "under another name" in refusal.why
        assert two.spent("people").loss * 10 == 1  # and nothing was charged


def test_of_two_states_that_commit_at_the_same_moment_one_answers(ledger, path, tmp_path, monkeypatch):
    ledger.close()
    other = tmp_path / "vault"
    shutil.copy(path, other)
    beside(other, ".anchor").symlink_to(beside(path, ".anchor"))
    with Ledger.open(path) as one, Ledger.open(other) as two:
        check = two._anchors.check

        def late(on_chain):
            check(on_chain)
            assert one.run(charge("a"), lambda _: "41")[0] == "41"

        monkeypatch.setattr(two._anchors, "check", late)
        with pytest.raises(Tampered, match="under another name"):
            two.run(charge("b"), pytest.fail)
