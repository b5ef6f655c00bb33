"""Sources: read as declared, whatever the records look like; what changed is noticed."""

import csv as csv_module
import gzip
import os
import stat
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BadParameter, Refusal
from discreet.engines.duckdb.connection import connect
from discreet.engines.duckdb.files import files, same_files
from discreet.engines.duckdb.fingerprint import check_unchanged, digest, fingerprint, stamp
from discreet.engines.duckdb.frame_copy import copy, is_memory
from discreet.engines.duckdb.options import Csv, csv, parquet
from discreet.engines.duckdb.source import describe, from_sql, settle
from discreet.engines.source import Source, SourceChanged, SourceMissing, locate

KEY = bytes(range(32))


def rows(source):
    """Return all rows as the engine reads them."""
    with connect() as engine:
        return read(engine, source)


def read(engine, source):
    return engine.execute(f"SELECT * FROM {from_sql(source)}").fetchall()


@pytest.fixture(scope="module")
def engine():
    """One engine for many small files; to open one takes longer than to read them."""
    with connect() as opened:
        yield opened


def written(folder, content, name="t.csv"):
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def read_csv(folder, content, **options):
    return rows(settle(csv(written(folder, content), **options)))


def test_a_source_is_found_by_the_ending_of_its_path(tmp_path):
    assert locate("a/visits.csv") == csv("a/visits.csv")
    assert locate("visits.CSV.gz").kind == "csv"
    assert locate("visits.tsv").options.delimiter == "\t"
    assert locate("visits.parquet") == parquet("visits.parquet")
    assert locate("visits/*.parquet").kind == "parquet"
    assert locate(tmp_path).kind == "parquet"
    assert locate(parquet("odd.bin")) == parquet("odd.bin")


def test_a_source_is_written_as_json_and_comes_back():
    named = csv("a.csv", delimiter=";", quote=None, names=("a", "b"), header=False)
    for source in (parquet("a.parquet"), csv("a.csv"), named):
        assert Source.from_json(source.to_json()) == source


def test_no_record_decides_a_type(tmp_path):
    whole = "n\n" + "7\n" * 20_000
    integers, text = (
        settle(csv(written(tmp_path, whole, "i.csv"))),
        settle(csv(written(tmp_path, whole + "x\n", "x.csv"))),
    )
    assert describe(integers) == describe(text) == {"n": "VARCHAR"}
    assert rows(text)[-1] == ("x",)
    assert len(rows(text)) == 20_001


def test_no_record_decides_the_dialect(tmp_path):
    assert read_csv(tmp_path, "a,b\n1;2,3\n1;2,3\n4;5,6\n") == [("1;2", "3"), ("1;2", "3"), ("4;5", "6")]


# Each is a record, or the end of a file, that a strict reader would raise on or guess from.
ODD = {
    "too short": ("1,2\n", [("1", "2", None)]),
    "too long": ("1,2,3,4,5\n", [("1", "2", "3")]),
    "blank": ("\n", []),
    "without an end": ("1,2,3", [("1", "2", "3")]),
    "with another end": ("1,2,3\r\n", [("1", "2", "3")]),
    "quoted": ('1,"2,""3""",4\n', [("1", '2,"3"', "4")]),
    "over two lines": ('1,"2\n3",4\n', []),
    "with text after a quote": ('1,"2"x,3\n', [("1", "2", "3")]),
    "with a quote inside": ('1,x"2,3\n', []),
    "with quotes inside": ('1,x"2"y,3\n', [("1", 'x"2"y', "3")]),
    "never closed": ('1,"2,3\n', []),
    "not UTF-8": (b"1,\xff\xfe,3\n", []),
    "with NUL": (b"1,\x00,3\n", [("1", "\0", "3")]),
    "endless": ("1," + "x" * 3_000_000 + ",3\n", []),
    "empty fields": (',"",3\n', [(None, None, "3")]),
    "unicode": ("é,北京,🙂\n", [("é", "北京", "🙂")]),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_raises_nothing_and_leaves_the_others_alone(tmp_path, odd):
    content, expected = ODD[odd]
    content = content if isinstance(content, bytes) else content.encode()
    assert read_csv(tmp_path, b"a,b,c\n7,8,9\n" + content) == [("7", "8", "9"), *expected]


def test_a_file_without_quotes_is_one_record_per_line(tmp_path):
    found = read_csv(tmp_path, 'a,b\n1,"2\n3,4\n', quote=None)
    assert found == [("1", '"2'), ("3", "4")]


def test_names_come_from_the_header_and_a_blank_one_from_its_place(tmp_path):
    file = written(tmp_path, '\ufeff,age,"the, cost"\n0,41,5\n')
    assert list(describe(settle(csv(file)))) == ["column0", "age", "the, cost"]
    assert rows(settle(csv(file))) == [("0", "41", "5")]


def test_a_file_without_a_header_needs_names(tmp_path):
    file = written(tmp_path, "1,2\n3,4\n")
    assert rows(settle(csv(file, header=False, names=("a", "b")))) == [("1", "2"), ("3", "4")]
    with pytest.raises(BadParameter, match="names of all columns"):
        csv(file, header=False)


def test_given_names_replace_the_header(tmp_path):
    assert describe(settle(csv(written(tmp_path, "a,b\n1,2\n"), names=("x", "y")))) == dict.fromkeys("xy", "VARCHAR")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "there is no line of names"),
        ("a,A\n", "capital letters do not count"),
        ('a,"b\nc"\n', "goes on in the next line"),
        (b"\xff\xfe\n", "cannot be read as UTF-8 text"),
    ],
)
def test_a_header_that_cannot_name_columns_is_refused(tmp_path, content, words):
    with pytest.raises(Refusal, match=words):
        settle(csv(written(tmp_path, content)))


def test_a_file_of_a_header_alone_has_no_rows(tmp_path):
    assert read_csv(tmp_path, "a,b\n") == []


def test_the_header_is_looked_at_once_until_the_source_is_settled_again(tmp_path):
    source = settle(csv(written(tmp_path, "a,b\n1,2\n")))
    written(tmp_path, "b,a\n2,1\n")
    assert list(describe(source)) == ["a", "b"]
    assert list(describe(settle(source.unsettled))) == ["b", "a"]


def test_a_packed_file_reads_the_same(tmp_path):
    plain = written(tmp_path, "a,b\n1,é\n")
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows(settle(locate(packed))) == rows(settle(locate(plain)))
    assert describe(settle(locate(packed))) == describe(settle(locate(plain)))


@pytest.mark.parametrize(
    "bad", [{"delimiter": ",,"}, {"quote": ","}, {"delimiter": "\n"}, {"names": ()}, {"quote": "é"}]
)
def test_a_dialect_that_cannot_be_is_refused(bad):
    with pytest.raises(BadParameter):
        Csv(**bad)


def parquets(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder


def test_parquet_is_a_file_a_folder_or_a_pattern(tmp_path):
    folder = parquets(tmp_path / "p", a={"n": [1]}, b={"n": [2]})
    written(folder, "junk", "_SUCCESS")
    for path in (folder, folder / "*.parquet"):
        source = settle(locate(path))
        assert rows(source) == [(1,), (2,)]
        assert describe(source) == {"n": "BIGINT"}
    assert rows(settle(locate(folder / "a.parquet"))) == [(1,)]


def test_files_of_different_schemas_are_refused_at_once(tmp_path):
    folder = parquets(tmp_path / "p", a={"n": [1]}, b={"n": [1e300]})
    with pytest.raises(BadParameter, match=r"differ from those of a\.parquet"):
        describe(parquet(folder))


def test_partition_names_in_paths_are_no_columns(tmp_path):
    parquets(tmp_path / "year=2024", a={"n": [1]})
    assert describe(parquet(tmp_path)) == {"n": "BIGINT"}
    assert rows(parquet(tmp_path)) == [(1,)]


def test_names_of_files_are_no_patterns_and_no_sql(tmp_path):
    folder = parquets(tmp_path / "w[1]*'--", **{"x?": {"n": [1]}, "xy": {"n": [2]}})
    assert rows(parquet(folder / "x?.parquet")) == [(1,)]
    odd = written(tmp_path, "a\n1\n", "o'; DROP.csv")
    assert rows(settle(csv(odd))) == [("1",)]


def test_text_that_is_not_unicode_raises_nothing(tmp_path):
    blobs = pa.array([b"ok", b"\xff\xfe"], type=pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 2, blobs.buffers())
    pq.write_table(pa.table({"s": broken}), tmp_path / "t.parquet")
    assert rows(parquet(tmp_path / "t.parquet"))[0] == ("ok",)
    assert len(rows(parquet(tmp_path / "t.parquet"))) == 2


@pytest.mark.parametrize("path", ["none.csv", "none.parquet", "none/*.parquet", "none"])
def test_a_missing_file_is_refused_with_its_path(tmp_path, path):
    with pytest.raises(SourceMissing) as refusal:
        settle(locate(tmp_path / path))
    assert str(refusal.value).startswith(f"source {tmp_path / path}: ")
    assert refusal.value.fix == "give the path of a file that can be read"


@pytest.mark.parametrize("path", ["/", "//", "/tmp/.."])
def test_the_root_of_all_files_is_no_table(path):
    with pytest.raises(SourceMissing, match="not the folder of one table"):
        settle(locate(path))


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_folder_that_cannot_be_looked_through_is_refused(tmp_path, monkeypatch, error):
    def broken(*_):
        raise error("gone")

    monkeypatch.setattr("pathlib.Path.rglob", broken)
    with pytest.raises(SourceMissing, match="it cannot be looked through"):
        settle(locate(tmp_path))


def test_a_file_that_is_no_parquet_is_refused_without_the_engines_words(tmp_path):
    with pytest.raises(SourceMissing, match="it cannot be read as Parquet"):
        describe(parquet(written(tmp_path, "secret words", "t.parquet")))


def test_an_ending_nobody_knows_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="say what it is"):
        locate(written(tmp_path, "x", "t.xlsx"))


FRAME = {"name": ["é", None, "北京"], "age": [41, 7, 12]}


@pytest.fixture(params=["pandas", "polars", "pyarrow", "reader", "dict"])
def frame(request):
    return {
        "pandas": lambda: pd.DataFrame(FRAME),
        "polars": lambda: pl.DataFrame(FRAME),
        "pyarrow": lambda: pa.table(FRAME),
        "reader": lambda: pa.table(FRAME).to_reader(),
        "dict": lambda: FRAME,
    }[request.param]()


def test_frames_of_all_kinds_are_equal(frame, tmp_path):
    assert is_memory(frame)
    source = copy(frame, tmp_path / "v.data")
    found = rows(source.resolved(tmp_path / "v.data"))
    assert [(name, int(age)) for name, age in found] == [("é", 41), (None, 7), ("北京", 12)]


def test_the_copy_is_for_its_owner_alone(frame, tmp_path):
    before = os.umask(0)
    try:
        source = copy(frame, tmp_path / "v.data", name="../visits")
    finally:
        os.umask(before)
    file = tmp_path / "v.data" / source.path
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in (tmp_path / "v.data").iterdir()] == [source.path]
    assert source.kind == "memory-copy"


def test_objects_become_text_whatever_they_are(tmp_path):
    mixed = pd.DataFrame({"o": [1, 2, "x"], "b": [True, None, False], "l": [[1], None, []]}, dtype=object)
    plain = pd.DataFrame({"o": [1, 2, 3], "b": [True, None, False], "l": [[1], None, []]}, dtype=object)
    kinds = [describe(copy(data, tmp_path / "d").resolved(tmp_path / "d")) for data in (mixed, plain)]
    assert kinds[0] == kinds[1] == dict.fromkeys("obl", "VARCHAR")


def test_a_dict_is_text_whatever_its_values_are(tmp_path):
    source = copy({"n": [1, 2.5, None, "x\0"]}, tmp_path / "d").resolved(tmp_path / "d")
    assert describe(source) == {"n": "VARCHAR"}
    assert rows(source) == [("1",), ("2.5",), (None,), (None,)]


@pytest.mark.parametrize("bad", [{"a": [1], "b": [1, 2]}, {}, {"a": "text"}, {1: [2]}, {"a": 3}])
def test_a_dict_that_is_no_table_is_refused_and_leaves_no_file(bad, tmp_path):
    with pytest.raises(BadParameter):
        copy(bad, tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_a_polars_frame_needs_no_pyarrow(tmp_path):
    script = f"""
from importlib.machinery import PathFinder
found = PathFinder.find_spec
hide = lambda cls, name, path=None, target=None: None if name.startswith("pyarrow") else found(name, path, target)
PathFinder.find_spec = classmethod(hide)
import polars, sys
from pathlib import Path
from discreet.engines.frame_copy import copy
folder = Path({str(tmp_path)!r}, "d")
assert copy(polars.DataFrame({{"a": [1]}}), folder).kind == "memory-copy"
assert "pyarrow" not in sys.modules
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def settled(source):
    """Return a fingerprint taken long after the files were written."""
    found = fingerprint(source, KEY)
    return found | {"taken": found["taken"] + 10**10}


def test_an_unchanged_source_passes_by_its_stamp_alone(tmp_path, monkeypatch):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    monkeypatch.setattr("discreet.engines.duckdb.fingerprint.digest", None)  # must not be needed
    assert check_unchanged("visits", source, stored, KEY) is None


def test_a_file_written_just_before_its_stamp_is_read_again(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    renewed = check_unchanged("visits", source, fingerprint(source, KEY), KEY)
    assert renewed["digest"] == digest(source, KEY)


def test_a_touched_source_passes_by_its_digest_and_is_stamped_anew(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    os.utime(source.path, ns=(1, 1))
    assert check_unchanged("visits", source, stored, KEY)["stamp"] == stamp(source) != stored["stamp"]


def test_a_changed_source_is_refused_with_the_command_that_helps(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    written(tmp_path, "a\n2\n")
    with pytest.raises(SourceChanged) as refusal:
        check_unchanged("visits", source, stored, KEY)
    assert str(refusal.value) == (
        "the source of 'visits' changed: its rows are no longer those that were registered, and answers name the"
        " version they are about. Fix: run discreet refresh visits, which keeps the budget and counts a new version."
    )


def test_a_vanished_source_is_refused_without_its_path(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    files(source)[0].unlink()
    with pytest.raises(SourceMissing) as refusal:
        check_unchanged("visits", source, stored, KEY)
    assert str(refusal.value) == (
        "the source of 'visits' is missing: its files are not where they were registered."
        " Fix: put them back, or run discreet refresh visits."
    )


def test_a_new_file_in_a_folder_is_a_change(tmp_path):
    folder = parquets(tmp_path / "p", a={"n": [1]})
    stored = settled(parquet(folder))
    parquets(folder, b={"n": [2]})
    with pytest.raises(SourceChanged):
        check_unchanged("visits", parquet(folder), stored, KEY)


def test_digests_depend_on_the_key_and_the_contents_but_not_on_names(tmp_path):
    one, two = (
        parquets(tmp_path / "p", a={"n": [1]}, b={"n": [2]}),
        parquets(tmp_path / "q", a={"n": [2]}, b={"n": [1]}),
    )
    assert digest(parquet(one), KEY) == digest(parquet(two), KEY)
    assert digest(parquet(one), KEY) != digest(parquet(one), bytes(32))
    assert digest(parquet(one), KEY) != digest(parquet(one / "a.parquet"), KEY)


def test_the_same_file_is_known_by_any_path(tmp_path):
    file = written(tmp_path, "a\n1\n")
    (tmp_path / "soft.csv").symlink_to(file)
    os.link(file, tmp_path / "hard.csv")
    written(tmp_path, "a\n1\n", "copy.csv")
    sources = {name: settle(csv(tmp_path / name)) for name in ("t.csv", "soft.csv", "hard.csv", "copy.csv")}
    assert same_files(sources["t.csv"], sources["soft.csv"])
    assert same_files(sources["t.csv"], sources["hard.csv"])
    assert not same_files(sources["t.csv"], sources["copy.csv"])


def test_files_come_in_the_order_of_their_names(tmp_path):
    folder = parquets(tmp_path / "p", b={"n": [1]}, a={"n": [2]})
    assert [file.name for file in files(parquet(folder))] == ["a.parquet", "b.parquet"]


def test_describing_a_source_imports_no_frame_library(tmp_path):
    file = written(tmp_path, "a\n1\n")
    script = f"import sys; from discreet.engines.source import *; describe(settle(locate({str(file)!r})));"
    script += "sys.exit(any(name in sys.modules for name in ('pandas', 'polars', 'pyarrow', 'duckdb')))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


# Bytes that matter to a reader of CSV, and some that should not.
PIECES = [
    b",",
    b'"',
    b'""',
    b"\n",
    b"\r",
    b"\r\n",
    b"1",
    b"x",
    b"\xff",
    b"\xc3",
    "é".encode(),
    b"\0",
    b" ",
    b"\\",
    b"'",
]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.sampled_from(['"', None]))
def test_no_bytes_whatever_make_reading_fail(tmp_path_factory, engine, content, quote):
    folder = tmp_path_factory.mktemp("csv")
    source = settle(csv(written(folder, b"a,b,c\n" + content), quote=quote))
    assert all(len(found) == 3 for found in read(engine, source))


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=5)] * 2), max_size=20
    )
)
def test_what_a_program_writes_is_read_as_it_was(tmp_path_factory, engine, values):
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv_module.writer(opened, quoting=csv_module.QUOTE_ALL).writerows([("a", "b"), *values])
    # Blank fields are nulls.
    assert read(engine, settle(csv(file))) == [tuple(value or None for value in each) for each in values]
