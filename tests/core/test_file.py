"""New files: nothing is written over without force, and vaults, stores, anchors and links never."""

import re
import sqlite3
import stat
from pathlib import Path

import pytest

import discreet
import discreet as dp
import discreet.core.file as core_file
from discreet.core.errors import BadParameter
from discreet.core.file import Occupied, check_place, new_file, write_file
from discreet.engines.duckdb.files import files, reads
from discreet.engines.duckdb.options import csv


@pytest.fixture
def vault(tmp_path):
    place = tmp_path / "v.discreet"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE one (a)")
    connection.close()
    return place


def test_a_new_file_is_written_and_nothing_is_left_beside_it(tmp_path):
    write_file(tmp_path / "a.json", "text")
    assert (tmp_path / "a.json").read_text() == "text"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_a_private_file_is_for_its_owner_alone(tmp_path):
    write_file(tmp_path / "key", "secret", private=True)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_file_that_is_there_is_kept_unless_forced(tmp_path):
    place = tmp_path / "a.json"
    place.write_text("mine")
    with pytest.raises(Occupied, match="already exists"):
        write_file(place, "other")
    assert place.read_text() == "mine"
    write_file(place, "other", force=True)
    assert place.read_text() == "other"


@pytest.mark.parametrize(
    "name", ["v.discreet", "v.discreet-wal", "v.discreet-shm", "v.discreet.anchor", "v.discreet.x"]
)
def test_a_vault_and_what_belongs_to_it_is_never_written_over(vault, name):
    before = vault.read_bytes()
    with pytest.raises(Occupied, match="vault or a store"):
        write_file(vault.with_name(name), "other", force=True)
    assert vault.read_bytes() == before


@pytest.mark.parametrize("name", ["collection.json", "collection.key", "discreet.toml"])
def test_collections_and_policies_are_never_written_over(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(Occupied, match="belongs to"):
        write_file(tmp_path / name, "other", force=True)


def test_an_anchor_elsewhere_is_never_written_over(tmp_path):
    from discreet.core import record

    (tmp_path / "head").write_text(record.write("anchor", {"head": "0"}))
    with pytest.raises(Occupied, match="belongs to"):
        write_file(tmp_path / "head", "other", force=True)


@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_not_followed(tmp_path, force):
    target, link, loose = tmp_path / "target", tmp_path / "link", tmp_path / "loose"
    target.write_text("mine")
    link.symlink_to(target)
    loose.symlink_to(tmp_path / "nothing")
    for place in (link, loose):
        with pytest.raises(Occupied, match="link"):
            write_file(place, "other", force=force)
    assert target.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_what_appears_meanwhile_is_kept(tmp_path):
    place = tmp_path / "a.json"

    def race():
        with new_file(place) as fresh:
            fresh.write_text("other")
            place.write_text("mine")

    with pytest.raises(Occupied):
        race()
    assert place.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_work_that_fails_leaves_what_was_there(tmp_path):
    place = tmp_path / "a.json"
    place.write_text("mine")

    def fail():
        with new_file(place, force=True) as fresh:
            fresh.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert place.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="cannot be written"):
        write_file(tmp_path / "none" / "a.json", "text")
    with pytest.raises(Occupied):
        check_place(tmp_path, force=True)


# Modules that write files by themselves, each with its reason.
WRITERS = {
    "core/file.py": "the one way to write a new file",
    "cli/explain.py": "writes into the place that cli.shared.files gives it",
    "cli/shared/account_plot.py": "writes into the place that cli.shared.files gives it",
    "engines/duckdb/frame_copy.py": "rows from memory, in the folder of the vault",
    "engines/duckdb/kept_rows.py": "the cache of kept rows, in the folder of the vault",
    "lab/audits/made_up_rows.py": "made-up rows in a folder that goes away",
    "ledger/integrity/anchor_log.py": "the log of anchors is appended to",
    "ledger/integrity/anchor.py": "the anchor is written in its place, slot by slot",
    "curator/erasure.py": "a copy of rows, in the folder of the vault, through engines.duckdb.frame_copy",
    "ledger/recovery/backup.py": "a backup in a folder that gets its name when all of it is there",
    "ledger/running/private_state.py": "the sealed state of a running release, beside the vault",
    "serve/api/watch.py": "the log of requests is appended to",
    "ledger/sealed_key.py": "the key file of a vault",
    "serve/parquet_sketches.py": "writes into the place that cli.shared.files gives it",
    "local/client_file.py": "a client's own ledger, replaced in one step",
}
WRITES = re.compile(
    r"\.write_text\(|\.write_bytes\(|\.savefig\(|COPY .* TO |\bopen\([^)]*[\"'][wax]b?[\"']|os\.write\("
)


def test_every_file_is_written_by_the_one_way_there_is():
    source = Path(discreet.__file__).parent
    texts = {file.relative_to(source).as_posix(): file.read_text(encoding="utf-8") for file in source.rglob("*.py")}
    found = {name for name, text in texts.items() if WRITES.search(text) and "new_file(" not in text}
    assert found - set(WRITERS) == set()


def test_sources_that_were_read_are_never_written_over(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    files(csv(tmp_path / "t.csv"))
    for place in (tmp_path / "t.csv", tmp_path / "x" / ".." / "t.csv"):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(Occupied, match="rows are read from there"):
            check_place(place, force=True)
    check_place(tmp_path / "other.csv", force=True)
    (tmp_path / "linked").symlink_to(tmp_path)
    with pytest.raises(Occupied, match="rows are read from there"):
        check_place(tmp_path / "linked" / "t.csv", force=True)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (
            "real/**/*.parquet",
            ["real/p.parquet", "real/new.parquet", "real/a/b/new.parquet"],
            ["real/a.csv", "p.parquet"],
        ),
        ("link/*/p*.parquet", ["link/a/p.parquet", "real/a/p.parquet", "real/a/pp.parquet"], ["real/a/q.parquet"]),
        ("real/[ab]/?.parquet", ["real/a/q.parquet", "real/b/q.parquet"], ["real/c/q.parquet", "real/a/qq.parquet"]),
        ("real", ["real/a/new.parquet", "real/notes.txt"], ["other/x.parquet"]),
        ("stars/*/p.parquet", ["real/a/p.parquet", "stars/s/p.parquet"], ["stars/s/q.parquet"]),
    ],
)
def test_what_a_source_reads_is_told_for_patterns_and_links(tmp_path, pattern, inside, outside):
    for name in ("real/p.parquet", "real/a/p.parquet", "real/a/q.parquet", "real/b/q.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("rows")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "stars").mkdir()
    (tmp_path / "stars" / "s").symlink_to(tmp_path / "real" / "a")
    for name in inside:
        assert reads(str(tmp_path / pattern), tmp_path / name), name
    for name in outside:
        assert not reads(str(tmp_path / pattern), tmp_path / name), name


def test_looking_at_a_place_leaves_the_locks_of_an_open_vault(tmp_path):
    if not Path("/proc/locks").exists():
        pytest.skip("the system does not tell of locks")
    with dp.Curator(tmp_path / "v.discreet") as curator:
        curator.ledger.grants()
        inode = (tmp_path / "v.discreet").stat().st_ino

        def locked():
            return sum(f":{inode} " in line for line in Path("/proc/locks").read_text().splitlines())

        before = locked()
        for name in ("v.discreet", "v.discreet.csv", "v.discreet-wal"):
            with pytest.raises(Occupied):
                check_place(tmp_path / name, force=True)
        assert locked() == before > 0


def test_the_sources_of_a_vault_are_kept_by_whoever_opens_a_session(tmp_path):
    for name in ("t", "u"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    with dp.Curator(tmp_path / "v.discreet") as curator:
        columns, budget = {"x": dp.between(0, 9)}, dp.Budget(epsilon=1)
        curator.register("t", tmp_path / "t.csv", unit=dp.row(), columns=columns, budget=budget, group="g")
        curator.register("u", tmp_path / "u.csv", unit=dp.row(), columns=columns, group="g")
        core_file.SOURCES.clear()
        session = curator.session(curator.grant("ann", "t"))
        answer = session.table("t").count().release(epsilon=1)
        with pytest.raises(Occupied, match="rows are read from there"):
            answer.to_csv(tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == "x\n1\n"
