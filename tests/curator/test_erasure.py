"""Erasure: nothing that the vault keeps has a person's rows any more, whatever spells them; all else stays."""

import os
import time
from pathlib import Path

import duckdb
import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.curator.curator import Curator
from discreet.engines.duckdb.frame_copy import copies_in
from discreet.engines.duckdb.kept_rows import Ranks
from discreet.ledger.refusals import Unavailable

COLUMNS = {"age": dp.between(0, 99)}
NEEDLE = 77  # an age that is hers alone


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as made:
        yield made


def register(curator, name="visits", identifier=(1, 2, 2, 3), ages=(10, NEEDLE, NEEDLE, 12), **more):
    unit = more.pop("unit", dp.person("id", max_rows=3))
    rows = {"id": [*map(str, identifier)], "age": [*map(str, ages)], **more.pop("rows", {})}
    return curator.register(name, rows, unit=unit, columns=COLUMNS, **{"budget": dp.Budget(epsilon=4), **more})


def held(curator):
    """All rows of all files that lie in the vault's folder."""
    files = [*curator.ledger.folder.rglob("*.parquet")]
    with duckdb.connect() as engine:
        return [row for file in files for row in engine.execute(f"SELECT * FROM '{file}'").fetchall()]


def has(curator, value=NEEDLE):
    return any(str(value) in map(str, row) for row in held(curator))


def test_a_person_is_in_no_file_of_the_vault_afterwards_and_the_others_are(curator):
    before = register(curator)
    assert has(curator)
    found = curator.erase("visits", 2)
    assert dict(found.rows) == {"visits": 2}
    assert not has(curator)
    assert sorted(row[0] for row in held(curator)) == ["1", "3"]
    after = curator.table("visits")
    assert (after.version, after.account, dict(after.physical)) == (
        before.version + 1,
        before.account,
        dict(before.physical),
    )
    session = curator.session(curator.grant("ann", "visits"))
    assert session.table("visits").agg(n=dp.count()).release(epsilon=1).receipt
    curator.verify()


def test_the_entry_that_says_so_and_the_whole_chain_name_nobody(curator, caplog):
    register(curator, identifier=("anna", "berta-4711", "berta-4711", "carl"))
    curator.erase("visits", "berta-4711")
    chain = "".join(entry.body for entry in curator.ledger.entries())
    assert "erasure" in chain
    assert "4711" not in chain + caplog.text
    before = curator.ledger.head
    assert dict(curator.erase("visits", "nobody-4712").rows) == {"visits": 0}
    assert curator.ledger.head[0] == before[0] + 1  # an entry like any other: nobody's presence follows from it


@pytest.mark.parametrize("spelled", ["7", 7])
def test_numbers_are_the_same_however_they_are_stored(curator, spelled):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [7.0, 8.0, None], "age": [NEEDLE, 2, 3]})
    curator.register("visits", frame, unit=dp.person("id", max_rows=1), columns=COLUMNS, budget=dp.Budget(epsilon=1))
    assert dict(curator.erase("visits", spelled).rows) == {"visits": 1}
    assert not has(curator)
    assert len(held(curator)) == 2


def test_tables_of_the_account_and_those_that_refer_to_its_people_are_erased_too(curator):
    curator.register(
        "people",
        {"id": ["1", "2"], "key": ["a", "b"], "age": ["5", "6"]},
        unit=dp.person("id", max_rows=1),
        columns={**COLUMNS, "key": dp.text()},
        budget=dp.Budget(epsilon=4),
    )
    via = dp.person(via=dp.link("ref", "people", "key"), max_rows=2)
    columns = {**COLUMNS, "ref": dp.text()}
    curator.register(
        "stays", {"ref": ["b", "a", "b"], "age": [str(NEEDLE), "1", str(NEEDLE)]}, unit=via, columns=columns
    )
    found = curator.erase("people", "2")
    assert dict(found.rows) == {"stays": 2, "people": 1}
    assert not has(curator)
    assert len(held(curator)) == 2


def test_kept_rows_are_forgotten_and_made_anew(curator):
    register(curator, unit=dp.person("id", max_rows=1, bound="table"))
    session = curator.session(curator.grant("ann", "visits"))
    count = session.table("visits").agg(n=dp.count())
    count.release(epsilon=1)
    assert [*curator.ledger.folder.glob("*.kept.parquet")]
    assert curator.erase("visits", 2).files == 1
    assert not has(curator)
    session.table("visits").agg(n=dp.count()).release(epsilon=0.5)
    assert not has(curator)


def test_rows_that_lie_elsewhere_are_named_and_their_caches_forgotten(curator, tmp_path):
    (tmp_path / "visits.csv").write_text(f"id,age\n1,10\n2,{NEEDLE}\n")
    unit = dp.person("id", max_rows=1, bound="table")
    curator.register("visits", str(tmp_path / "visits.csv"), unit=unit, columns=COLUMNS, budget=dp.Budget(epsilon=1))
    curator.session(curator.grant("ann", "visits")).table("visits").agg(n=dp.count()).release(epsilon=0.5)
    found = curator.erase("visits", 2)
    assert (dict(found.rows), found.files, found.elsewhere) == ({}, 1, ("visits",))
    assert not has(curator)


def test_copies_that_a_killed_process_left_go_and_those_of_a_living_one_stay(curator):
    register(curator)
    (copy,) = copies_in(curator.ledger.folder)
    old, new = (Path(copy.parent, f"visits-{digit * 16}.parquet") for digit in "ab")
    for each in (old, new):
        each.write_bytes(copy.read_bytes())
    hours = time.time() - 7200
    os.utime(old, (hours, hours))
    assert curator.erase("visits", "nobody").files == 1
    assert (old.exists(), new.exists(), copy.exists()) == (False, True, True)


def test_an_erasure_that_is_broken_off_leaves_the_table_as_it_was_and_can_be_repeated(curator, monkeypatch):
    before = register(curator)

    def broken(*_, **__):
        raise Unavailable("the disk", why="it broke", fix="repair it")

    with monkeypatch.context() as patched:
        patched.setattr(curator.ledger, "put", broken)
        with pytest.raises(Unavailable):
            curator.erase("visits", 2)
    assert len(copies_in(curator.ledger.folder)) == 1
    assert curator.table("visits").version == before.version
    assert dict(curator.erase("visits", 2).rows) == {"visits": 2}
    assert not has(curator)


def test_tables_of_single_rows_have_nobody_to_erase(curator):
    register(curator, unit=dp.row())
    assert dict(curator.erase("visits", 2).rows) == {"visits": 0}


@pytest.mark.parametrize("person", ["", None, True, 1.5])
def test_what_is_no_identifier_is_refused(curator, person):
    register(curator)
    with pytest.raises(BadParameter, match="tell anybody apart"):
        curator.erase("visits", person)


def test_kept_rows_of_the_other_tables_stay_and_those_of_no_table_go(tmp_path):
    now, before = Ranks(tmp_path, b"s"), Ranks(tmp_path, b"former")
    files = [now.path("visits", 1, "a"), now.path("stays", 1, "a"), before.path("stays", 1, "a")]
    for file in files:
        file.touch()
    assert now.remove(but=["stays"]) == 2
    assert [*tmp_path.iterdir()] == [files[1]]
    assert now.remove() == 1
