"""Files as DuckDB reads them: as declared, whatever the records look like."""

import csv as csv_module
import gzip
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BadParameter, Refusal
from discreet.engines.duckdb.engine import connect
from discreet.engines.duckdb.options import csv, parquet
from discreet.engines.duckdb.source import describe, settle
from discreet.engines.source import SourceMissing, locate
from tests.engines.duckdb.sample_files import parquets, read, read_csv, rows, written


@pytest.fixture(scope="module")
def engine():
    """One engine for many small files; to open one takes longer than to read them."""
    with connect() as opened:
        yield opened


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
        ("", "has no header line"),
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


def test_a_file_that_is_no_parquet_is_refused_without_the_engines_words(tmp_path):
    with pytest.raises(SourceMissing, match="it cannot be read as Parquet"):
        describe(parquet(written(tmp_path, "secret words", "t.parquet")))


def test_describing_a_source_imports_no_frame_library(tmp_path):
    file = written(tmp_path, "a\n1\n")
    script = (
        "import sys; from discreet.engines.source import locate;"
        "from discreet.engines.duckdb.source import describe, settle;"
        f"describe(settle(locate({str(file)!r})));"
    )
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
