"""Overlap: copies are the same people, one account has one unit, and the custodian has the last word."""

import gzip
import math
from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.curator.curator import Curator
from discreet.curator.identifier_sketch import MOST, IdentifierSketch, sketched
from discreet.ledger.refusals import Conflict
from tests.postgres import shared
from tests.spark import MASTER

PEOPLE, VISITS = dp.person("pid", max_rows=20), 2000
COLUMNS = {"age": dp.between(0, 110)}
BUDGET = dp.Budget(epsilon=1)


def numbers(seed, size):
    """Numbers of 62 bits that look like chance and are the same everywhere."""
    digests = (blake2b(f"{seed} {place}".encode(), digest_size=8).digest() for place in range(size))
    return [int.from_bytes(digest) >> 2 for digest in digests]


def frame(first=100_000, seed=1):
    """Visits of 500 people whose identifiers begin at a number, with columns that formats write differently."""
    made = np.array(numbers(seed, VISITS))
    return pd.DataFrame(
        {
            "pid": first + np.arange(VISITS) % 500,
            "age": made % 100,
            "cost": made % 99_991 / 100,
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(made % 887, "D"),
            "ill": made % 11 == 0,
        }
    )


def byte_copy(rows, folder):
    rows.to_csv(folder / "copy.csv", index=False)
    return folder / "copy.csv"


def trailing_newline(rows, folder):
    path = byte_copy(rows, folder)
    path.write_text(path.read_text() + "\n")
    return path


def compressed(rows, folder):
    (folder / "v.csv.gz").write_bytes(gzip.compress(byte_copy(rows, folder).read_bytes()))
    return folder / "v.csv.gz"


def parquet(rows, folder):
    rows.to_parquet(folder / "v.parquet")
    return folder / "v.parquet"


def reversed_folder(rows, folder):
    (folder / "parts").mkdir()
    for number, part in enumerate((rows[1000:], rows[:1000])):
        part[::-1].to_parquet(folder / "parts" / f"{number}.parquet")
    return folder / "parts"


def floating(rows, folder):
    return byte_copy(rows.assign(pid=[float("nan"), *rows["pid"][1:]]), folder)


def padded(rows, folder):
    return byte_copy(rows.assign(pid=[f" 00{number} " for number in rows["pid"]]), folder)


def excerpt(rows, folder):
    return parquet(rows[:400], folder)


def in_memory(rows, folder):
    return rows[::-1].reset_index(drop=True)


def in_database(rows, folder):
    import psycopg

    url = shared().database()
    with psycopg.connect(url) as connection:
        kinds = {"pid": "text", "age": "integer", "cost": "numeric", "day": "timestamp", "ill": "boolean"}
        made = ", ".join(f"{name} {kinds[name]}" for name in rows)
        connection.execute(f"CREATE TABLE visits ({made})")
        listed = [tuple(map(str, row)) for row in rows.itertuples(index=False)]
        marks = ", ".join(["%s"] * len(rows.columns))
        connection.cursor().executemany(f"INSERT INTO visits VALUES ({marks})", listed)
    return dp.postgres("visits", url)


COPIES = [trailing_newline, compressed, parquet, reversed_folder, floating, excerpt, in_memory, in_database]


@pytest.fixture
def curator(tmp_path):
    return Curator(tmp_path / "vault.discreet")


@pytest.fixture
def visits(curator, tmp_path):
    frame().to_csv(tmp_path / "v.csv", index=False)
    return register(curator, tmp_path / "v.csv", "v")


def register(curator, source, name="copy", **terms):
    terms = {"unit": PEOPLE, "columns": COLUMNS, "budget": None if "group" in terms else BUDGET, **terms}
    return curator.register(name, source, **terms)


# Copies ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [byte_copy, padded, *COPIES])
def test_the_same_people_in_another_format_get_no_second_budget(curator, visits, tmp_path, copied):
    source = copied(frame(), tmp_path)
    with pytest.raises(Conflict) as refused:
        register(curator, source)
    assert "group='v'" in refused.value.fix
    assert curator.tables() == ["v"]
    assert register(curator, source, group="v").account == "v"


@pytest.mark.parametrize("copied", [byte_copy, *COPIES])
def test_single_rows_of_the_same_people_get_no_budget_of_their_own(curator, visits, tmp_path, copied):
    source = copied(frame(), tmp_path)
    with pytest.raises(Conflict, match="pays for"):
        register(curator, source, unit=dp.row())


@pytest.mark.parametrize("copied", [byte_copy, *(each for each in COPIES if each is not floating)])
def test_the_same_rows_in_another_format_get_no_second_budget(curator, tmp_path, copied):
    rows = frame().drop(columns="pid")
    rows.to_csv(tmp_path / "v.csv", index=False)
    register(curator, tmp_path / "v.csv", "v", unit=dp.row())
    with pytest.raises(Conflict, match="'v' pays for"):
        register(curator, copied(rows, tmp_path), unit=dp.row())


def test_people_under_another_column_name_are_found(curator, visits):
    renamed = frame().rename(columns={"pid": "patient"})
    with pytest.raises(Conflict, match="people='same'"):
        register(curator, renamed, unit=dp.person("patient", max_rows=5))
    with pytest.raises(Conflict, match=r"unit=person\('patient', max_rows=20\)"):
        register(curator, renamed, unit=dp.row())


DECLARED = {**COLUMNS, "pid": dp.between(0, 10**6)}


@pytest.mark.parametrize("declared", [DECLARED, {**COLUMNS, "pid": dp.one_of(*range(100_000, 100_500))}])
def test_people_are_found_in_a_column_that_is_declared(curator, visits, declared):
    with pytest.raises(Conflict, match="group='v'"):
        register(curator, frame(), unit=dp.row(), columns=declared)
    numbered = frame().assign(k=range(VISITS))
    with pytest.raises(Conflict, match=r"unit=person\('pid', max_rows=20\)"):
        register(curator, numbered, unit=dp.person("k", max_rows=1), columns=declared)
    renamed = frame().rename(columns={"pid": "number"})
    with pytest.raises(Conflict, match="values of 'number'"):
        register(curator, renamed, unit=dp.row(), columns={**COLUMNS, "number": dp.between(0, 10**6)})


def test_people_are_found_in_the_last_of_many_columns(curator, visits):
    many = pd.DataFrame({f"x{place}": numbers(place, VISITS) for place in range(20)})
    with pytest.raises(Conflict, match="group='v'"):
        register(curator, many.assign(age=7, pid=frame()["pid"]), unit=dp.row())


def test_people_whose_table_protects_rows_are_found_when_the_next_one_protects_them(curator):
    register(curator, frame(), "v", unit=dp.row(), columns=DECLARED)
    with pytest.raises(Conflict, match="'v' pays for"):
        register(curator, frame())


@pytest.mark.parametrize("unit", [dp.row(), PEOPLE])
def test_the_same_rows_under_fresh_numbers_are_found(curator, unit):
    register(curator, frame(), "v", unit=unit)
    numbered = frame() if unit == dp.row() else frame().drop(columns="pid")
    with pytest.raises(Conflict, match="'v' pays for"):
        register(curator, numbered.assign(k=range(VISITS)), unit=dp.person("k", max_rows=1))


def test_people_told_apart_by_days_are_found(curator):
    days = pd.DataFrame({"born": pd.to_datetime("1950-01-01") + pd.to_timedelta(range(500), "D"), "age": 7})
    register(curator, days.assign(born=days["born"].dt.strftime("%Y-%m-%d")), "v", unit=dp.person("born", max_rows=1))
    with pytest.raises(Conflict, match="'v' pays for"):
        register(curator, days, unit=dp.row(), columns={**COLUMNS, "born": dp.date("1900-01-01", "2020-01-01")})


def test_few_declared_numbers_that_are_identifiers_too_are_noted(curator):
    register(curator, {"pid": [*range(100)], "age": [7] * 100}, "v")
    ages = {"name": [f"p{number}" for number in range(100)], "age": [*range(100)]}
    (note,) = register(curator, ages, unit=dp.person("name", max_rows=1)).noted
    assert "of the values of 'age' and the people of 'v'" in note


def test_columns_that_are_not_compared_are_named(curator, visits, tmp_path):
    frame(first=500_000, seed=2).assign(photo=b"x").to_parquet(tmp_path / "w.parquet")
    (note,) = register(curator, tmp_path / "w.parquet").noted
    assert "the columns photo were not compared" in note


def test_people_of_a_version_long_gone_are_still_known(curator, visits, tmp_path):
    curator.refresh("v", frame(first=500_000, seed=2))
    with pytest.raises(Conflict, match="the people of 'copy'"):
        register(curator, parquet(frame(), tmp_path))


def test_a_refresh_does_not_bring_in_the_people_of_another_account(curator, visits):
    register(curator, frame(first=500_000, seed=2), "others")
    with pytest.raises(Conflict, match="the people of 'others'"):
        curator.refresh("others", frame()[::-1].reset_index(drop=True))
    assert curator.table("others").version == 1


def test_a_refresh_is_not_told_to_change_its_group(curator, visits):
    register(curator, frame(first=500_000, seed=2), "others")
    for rows in (frame()[::-1].reset_index(drop=True), frame()):
        with pytest.raises(Conflict) as refused:
            curator.refresh("others", rows)
        assert refused.value.fix.startswith("keep 'others' as it is and register ")


def test_the_share_is_said_of_the_table_whose_it_is(curator, visits):
    many = pd.concat([frame(), frame(first=500_000, seed=2)], ignore_index=True)
    with pytest.raises(Conflict, match="about 100% of the people of 'v', which 'v' pays for, are values of 'pid' here"):
        register(curator, many, "many")
    with pytest.raises(Conflict, match="about 100% of the values of 'pid' are people of 'v'"):
        register(curator, frame(seed=2)[:100], "few")


def test_the_same_source_under_a_second_name_has_one_budget_and_the_same_people(curator, tmp_path):
    path = byte_copy(frame(), tmp_path)
    register(curator, path, "v")
    with pytest.raises(Conflict, match="it reads the same source as 'v'"):
        register(curator, path, "w", budget=dp.Budget(epsilon=2))
    with pytest.raises(BadParameter, match="it reads the same source as 'v'"):
        register(curator, path, "w", people="distinct")


def test_other_people_are_registered_without_a_word(curator, visits):
    assert register(curator, frame(first=500_000, seed=2), "others", columns=COLUMNS).noted == ()


def test_a_small_overlap_is_noted_for_the_custodian(curator, visits):
    some = register(curator, frame(first=100_400, seed=2), "some")
    assert "of the values of 'pid' are people of 'v'" in some.notes[0]


def test_a_column_of_small_numbers_is_no_identifier(curator):
    register(curator, frame(first=1), "v")
    counted = {"key": [f"p{number}" for number in range(40)], "number": [*range(40)], "age": [7] * 40}
    assert register(curator, counted, "w", unit=dp.person("key", max_rows=1)).noted == ()


def test_spark_finds_the_people_that_duckdb_found(curator, visits, tmp_path):
    rows = frame().astype({"day": "datetime64[us]"})
    source = dp.spark(reversed_folder(rows, tmp_path), master=MASTER)
    with pytest.raises(Conflict, match="the people of 'copy'"):
        register(curator, source)
    register(curator, source, group="v")
    known = curator.ledger.list("registry")[0].private["sketches"]
    assert known["v"]["columns"]["pid"] == known["copy"]["columns"]["pid"]


# The custodian's word -------------------------------------------------------------------------------------------------


def test_what_the_custodian_declares_distinct_is_recorded_and_holds_from_then_on(curator, visits):
    rows = frame()[::-1].reset_index(drop=True)
    others = register(curator, rows, "others", people="distinct")
    assert others.distinct == ("v",)
    documents = [each.record() for each in curator.ledger.entries() if each.kind == "document"]
    assert documents[-1]["record"]["distinct"] == ["v"]
    curator.refresh("others", rows.assign(age=1))
    curator.refresh("v", rows.assign(age=2))  # the other side of the same word
    with pytest.raises(Conflict, match="the people of 'third'"):
        register(curator, rows.assign(age=3), "third")
    curator.verify()


def test_sketches_stay_beside_the_chain_and_are_keyed(curator, visits, tmp_path):
    stored = curator.ledger.list("registry")[0]
    hashes = stored.private["sketches"]["v"]["columns"]["pid"]
    assert len(hashes) == 500
    chain = "".join(entry.body for entry in curator.ledger.entries())
    assert not any(str(each) in chain for each in hashes)
    other = sketched(curator.table("v"), b"another secret")
    assert not {*hashes} & {*other.columns["pid"].hashes}


def test_an_engine_that_fails_refuses_no_table(curator, tmp_path, monkeypatch):
    from discreet.engines.duckdb.engine import DuckDBEngine, EngineFailed

    def fail(*_):
        raise EngineFailed

    monkeypatch.setattr(DuckDBEngine, "rows", fail)
    assert "could not be compared" in register(curator, frame(), "v").notes[0]


@pytest.mark.parametrize("people", ["other", True, ""])
def test_a_word_that_says_nothing_is_refused(curator, people):
    with pytest.raises(BadParameter, match="people='same' or people='distinct'"):
        register(curator, frame(), "v", people=people)


# One account, one unit ------------------------------------------------------------------------------------------------


def test_a_byte_copy_of_single_rows_does_not_join_the_account_of_its_people(curator, visits, tmp_path):
    with pytest.raises(BadParameter, match="would lose many times") as refused:
        register(curator, byte_copy(frame(), tmp_path), unit=dp.row(), group="v")
    assert refused.value.fix == "use unit=person('pid', max_rows=20)"
    assert curator.tables() == ["v"]


def test_people_do_not_join_the_account_of_single_rows(curator, tmp_path):
    register(curator, frame(), "v", unit=dp.row())
    with pytest.raises(BadParameter, match="counted for single rows"):
        register(curator, frame(first=500_000), "w", group="v")


def test_another_identifier_in_a_group_has_to_be_declared_the_same(curator, visits):
    renamed = frame(first=500_000).rename(columns={"pid": "patient"})
    unit = dp.person("patient", max_rows=5)
    with pytest.raises(BadParameter, match="people, identified by 'pid'") as refused:
        register(curator, renamed, unit=unit, group="v")
    assert "people='same' if 'patient' has the same identifiers" in refused.value.fix
    assert register(curator, renamed, unit=unit, group="v", people="same").same
    with pytest.raises(BadParameter, match="counted for people"):
        register(curator, frame(), "rows", unit=dp.row(), group="v", people="same")
    # Either name tells the people of the group apart by now.
    assert register(curator, frame(first=700_000), "third", group="v").account == "v"
    fourth = frame(first=900_000).rename(columns={"pid": "patient"})
    assert register(curator, fourth, "fourth", unit=unit, group="v").account == "v"


def test_limits_of_rows_and_the_case_of_a_name_may_differ(curator, visits):
    renamed = frame(first=500_000).rename(columns={"pid": "PID"})
    unit = dp.person("PID", max_rows=3, max_groups=2)
    assert register(curator, renamed, unit=unit, group="v").account == "v"


# Sketches -------------------------------------------------------------------------------------------------------------


def test_a_sketch_of_many_finds_an_excerpt_and_estimates_a_share():
    everyone = numbers(3, 100_000)
    whole, half = (IdentifierSketch(tuple(sorted(some)[:MOST])) for some in (everyone, everyone[:50_000]))
    first, second, shared = whole.shared(half)
    assert shared == min(first, second)
    others = IdentifierSketch(tuple(sorted([*everyone[:5000], *numbers(4, 15_000)])[:MOST]))
    first, second, shared = whole.shared(others)
    # A quarter of the others, by about 200 of them; false alarm below 1e-6 (Hoeffding).
    assert abs(shared / min(first, second) - 0.25) < math.sqrt(math.log(2e6) / (2 * min(first, second)))


def test_a_union_of_sketches_is_the_sketch_of_the_union():
    one, two = numbers(5, 3000), numbers(6, 700)
    both = IdentifierSketch(tuple(sorted(one)[:MOST])) | IdentifierSketch(tuple(sorted(two)[:MOST]))
    assert both.hashes == tuple(sorted({*one, *two})[:MOST])[: len(both.hashes)]
    assert len(both.hashes) == MOST


@pytest.mark.parametrize("unit", ["person", "row"])
def test_other_people_with_the_same_few_attributes_get_their_own_budget(curator, unit):
    """Rows of age, sex and area are alike in every town: only rows that occur once tell a copy."""
    for town, shift in (("v", 0), ("w", 1)):
        rows = [(n * 7 + shift, (n * (5 + shift)) % 91, "mf"[n % 2], n % 3) for n in range(3000)]
        names = ["pid", "age", "sex", "area"]
        data = pd.DataFrame(rows, columns=names).assign(pid=lambda each, town=town: town + each["pid"].astype(str))
        data = data if unit == "person" else data.drop(columns="pid")
        protected = dp.person("pid", max_rows=1) if unit == "person" else dp.row()
        columns = {"age": dp.between(0, 100), "sex": dp.one_of("m", "f"), "area": dp.between(0, 9)}
        found = curator.register(town, data, unit=protected, columns=columns, budget=dp.Budget(epsilon=1))
        assert found.account == town
