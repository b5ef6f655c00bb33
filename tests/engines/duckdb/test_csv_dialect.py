"""Lines of CSV files: what is read of a line is a function of that line alone, whatever stands around it."""

import csv as csv_module
import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import Refusal
from discreet.engines.duckdb.csv_dialect import header_of, lines_options, records_sql
from discreet.engines.duckdb.engine import connect
from discreet.engines.duckdb.options import Csv, csv
from discreet.engines.duckdb.source import from_sql, left_out, settle

NAMES = ("a", "b", "c")
PIECES = [
    b",",
    b",",
    b'"',
    b'""',
    b"\n",
    b"\r",
    b"\r\n",
    b"0",
    b"x y",
    b"\xff",
    b"\xc3",
    "é".encode(),
    b"\0",
    b"\\",
    b"'",
]
BYTES = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)


@pytest.fixture(scope="module")
def engine():
    with connect() as opened:
        opened.execute("SET threads = 2")
        yield opened


def line_read(line, quote, width=3):
    """Read a line as a reference: a list of fields, or None for one that is left out."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    if not text or (quote and text.count(quote) % 2):
        return None
    if quote is None or quote not in text:
        fields = text.split(",")
    else:
        fields = [found[1] for found in re.finditer(r'("(?:[^"]|"")*"[^,]*|[^,]*)(?:,|$)', text)]
        fields = [unquoted(field) for field in fields]
    return tuple((field or None) for field in [*fields, *[None] * width][:width])


def unquoted(field):
    closed = re.match(r'"(?:[^"]|"")*"', field)
    return field if closed is None else closed[0][1:-1].replace('""', '"')


def expected(content, quote):
    found = (line_read(line, quote) for line in re.split(rb"[\r\n]", content))
    return [each for each in found if each is not None]


def read(engine, source):
    return engine.execute(f"SELECT * FROM {from_sql(source)}").fetchall()


def source_of(folder, content, quote, packed=False):
    file = folder / ("t.csv.gz" if packed else "t.csv")
    file.write_bytes(gzip.compress(content) if packed else content)
    return settle(csv(file, quote=quote))


@settings(max_examples=150, deadline=None)
@given(BYTES, st.sampled_from(['"', None]), st.booleans())
def test_every_line_is_read_by_itself(tmp_path_factory, engine, content, quote, packed):
    source = source_of(tmp_path_factory.mktemp("csv"), b"a,b,c\n" + content, quote, packed)
    assert sorted(read(engine, source), key=repr) == sorted(expected(content, quote), key=repr)


@settings(max_examples=100, deadline=None)
@given(BYTES, BYTES, BYTES, st.sampled_from(['"', None]), st.sampled_from([b"\n", b"\r", b"\r\n"]))
def test_a_record_never_changes_what_is_read_of_others(tmp_path_factory, engine, before, line, after, quote, end):
    line = line.translate(None, b"\r\n")
    folder = tmp_path_factory.mktemp("csv")
    without = read(engine, source_of(folder, b"a,b,c" + end + before + end + after, quote))
    more = read(engine, source_of(folder, b"a,b,c" + end + before + end + line + end + after, quote))
    for row in without:
        more.remove(row)
    mine = line_read(line, quote)
    assert more == ([] if mine is None else [mine])


@pytest.mark.parametrize("quote", ['"', None])
def test_a_carriage_return_at_the_end_of_a_record_stays_there(tmp_path, engine, quote):
    source = source_of(tmp_path, b"a,b,c\r\n1,2,3\r\r\n0,5,6\n7,8,9\r0,1,2\r\n", quote)
    assert read(engine, source) == [("1", "2", "3"), ("0", "5", "6"), ("7", "8", "9"), ("0", "1", "2")]


@settings(max_examples=60, deadline=None)
@given(st.lists(BYTES, max_size=12).map(b"\n".join), st.integers(40, 90))
def test_lines_are_the_same_wherever_the_buffers_of_the_reader_end(tmp_path_factory, engine, content, size):
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    file.write_bytes(b"a,b,c\n" + content)
    options = lines_options(Csv(), packed=False).replace("2000000", "40") + f", buffer_size={size}"
    found = engine.execute(f"SELECT * FROM {records_sql(Csv(), NAMES, f'read_csv([{str(file)!r}], {options})')}")
    short = [line for line in re.split(rb"[\r\n]", content) if len(line) < 30]
    wanted = [row for row in (line_read(line, '"') for line in short) if row is not None]
    rows = found.fetchall()
    for row in wanted:
        rows.remove(row)
    assert len(rows) <= len(re.split(rb"[\r\n]", content)) - len(short)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "]", "\\", "-", "'"])
@pytest.mark.parametrize("quote", ['"', "'", "\\", "^"])
def test_what_a_program_writes_is_read_in_any_dialect(tmp_path, engine, end, delimiter, quote):
    if delimiter == quote:
        pytest.skip("no dialect")
    values = [("1", f"x{delimiter}y", f"{quote}z{quote}"), ("é", "a''b", f"{quote}{quote}"), ("]", "^", "\\d")]
    file = tmp_path / "t.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv_module.writer(
            opened, delimiter=delimiter, quotechar=quote, lineterminator=end, quoting=csv_module.QUOTE_ALL
        )
        writer.writerows([NAMES, *values])
    assert read(engine, settle(csv(file, delimiter=delimiter, quote=quote))) == values


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_the_header_is_the_first_line_whatever_ends_it(tmp_path, engine, end):
    source = source_of(tmp_path, b"\xef\xbb\xbfa,b,c" + end + b"1,2,3" + end, '"')
    assert source.options.columns == NAMES
    assert read(engine, source) == [("1", "2", "3")]


@pytest.mark.parametrize("marks", [1, 2])
def test_a_mark_of_the_byte_order_is_no_part_of_any_line(tmp_path, engine, marks):
    file, line = tmp_path / "t.csv", b"\xef\xbb\xbf" * marks + b"1,2\n"
    for before in (b"", b"x\n", line):
        file.write_bytes(before + line)
        assert read(engine, settle(csv(file, header=False, names=("a", "b"))))[-1] == ("1", "2")


def test_an_empty_file_has_no_header(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes(b"\n1,2\n")
    with pytest.raises(Refusal, match="no header line"):
        header_of(file, Csv())


def test_a_line_too_long_is_left_out_and_its_neighbours_are_read(tmp_path, engine):
    long = b"8," + b"x" * 3_000_000 + b",9"
    source = source_of(tmp_path, b"a,b,c\n1,2,3\n" + long + b"\n4,5,6\r\n" + long + b"\r7,8,9\n", '"')
    assert read(engine, source) == [("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_that_are_left_out_are_counted_as_they_are_left_out(tmp_path, engine, monkeypatch, end, packed):
    monkeypatch.setattr("discreet.engines.duckdb.csv_dialect._BLOCK", 50)
    monkeypatch.setattr("discreet.engines.duckdb.csv_dialect._MOST_LINE", 1000)
    plain, odd = [b"1,2,3"] * 30, [b'1,"2,3', b"1,\xff,3", b"1," + b"x" * 3000, b'"', b'1,"2"",3']
    even = [b'1,"2",3', 'ä,"ö""",ü'.encode(), b"", b"x" * 60]
    lines = [b"a,b,c", *plain, *odd, *plain, *even, *odd]
    content = end.join(lines)
    file = tmp_path / ("t.csv.gz" if packed else "t.csv")
    file.write_bytes(gzip.compress(content) if packed else content)
    source = settle(csv(file))
    assert left_out(source) == 10
    assert len(read(engine, source)) == len(lines) - 1 - 10 - 1  # the header, what is left out, the blank line
