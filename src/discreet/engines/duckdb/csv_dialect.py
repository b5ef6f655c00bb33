"""The dialect of a CSV file: declared, never sniffed; the names in its first line, and how its lines are read.

A record is one line: CR, LF and CRLF all end it, whichever others do, and quotes do not reach beyond it. Fields that go
on in the next line cannot be told from a stray quote, which would take the lines after it into its own record: a line
whose quotes are odd in number is left out, as are lines that are not UTF-8, or longer than two million bytes. The mark
of a byte order is no part of a line that begins with it, be it the first or not.

Guarantee: what is read of a line is a function of that line alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import BufferedIOBase
from pathlib import Path

from discreet.core.errors import BadParameter
from discreet.engines.duckdb.engine import literal
from discreet.engines.duckdb.options import Csv, check_names
from discreet.engines.source import SourceMissing, missing

# A header longer than this is no header; reading on would be reading records.
_MOST_HEADER = 1 << 20
_LINE = re.compile(rb"[^\r\n]*")
# Lines are read by a delimiter that stands in no file; a line that has it nevertheless ends there.
_NOWHERE = "\x1f\x1e\x1d\x1c"
_MOST_LINE = 2_000_000
_BLOCK = 1 << 20
_END = re.compile(rb"[\r\n]")


def lines_options(dialect: Csv, *, packed: bool) -> str:
    """Write the options by which DuckDB reads a file line by line: CR and LF each end one, and blank ones are nulls.

    Several threads would lose lines where their buffers meet, which one line more or less moves.
    """
    return (
        f"auto_detect=false, columns={{line: 'VARCHAR'}}, delim='{_NOWHERE}', quote='', escape='', new_line='\\n',"
        f" header={str(dialect.header).lower()}, compression='{'gzip' if packed else 'none'}', null_padding=true,"
        f" ignore_errors=true, strict_mode=false, max_line_size={_MOST_LINE}, parallel=false"
    )


def records_sql(dialect: Csv, columns: Sequence[str], lines: str) -> str:
    """Write the records of lines: a line too short is filled with nulls, one too long is cut, empty fields are null."""
    split = f"string_split(line, {literal(dialect.delimiter)})"
    where = "line <> ''"
    if dialect.quote is not None:
        quote = literal(dialect.quote)
        split = f"(CASE WHEN contains(line, {quote}) THEN {_quoted_fields(dialect)} ELSE {split} END)"
        where += f" AND (length(line) - length(replace(line, {quote}, ''))) % 2 = 0"
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    fields = ", ".join(f"NULLIF(fields[{place}], '') AS {name}" for place, name in enumerate(names, 1))
    # The engine takes the mark of a byte order off the first line alone.
    marked = f"(SELECT ltrim(line, chr(65279)) AS line FROM {lines})"  # noqa: S608
    return f"(SELECT {fields} FROM (SELECT {split} AS fields FROM {marked} WHERE {where}))"  # noqa: S608


def left_out(path: Path, dialect: Csv) -> int:
    """Count the lines that are left out: quotes do not pair, bytes are not UTF-8, or too long. For custodians alone."""
    quote = (dialect.quote or "").encode()
    found, rest, header = 0, b"", dialect.header
    with _opened(path) as file:
        while block := file.read(_BLOCK):
            *lines, rest = _END.split(rest + block)
            rest = rest[: _MOST_LINE + 1]  # too long already, whatever follows
            # Most files have neither quotes nor letters beyond ASCII, and then nothing but length to look at.
            plain = not header and len(rest) < _MOST_LINE and block.isascii() and not (quote and quote in block)
            if plain and len(lines) > 1:
                lines = lines[:1]  # which began in the block before
            found += sum(_is_left_out(line, quote) for line in lines[header:])
            header = header and not lines
        found += _is_left_out(rest, quote) and not header
    return found


def _is_left_out(line: bytes, quote: bytes) -> bool:
    if len(line) > _MOST_LINE or (quote and line.count(quote) % 2):
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return False


def _quoted_fields(dialect: Csv) -> str:
    """Write the fields of a line that has quotes; what stands after a closing quote is dropped."""
    delimiter, quote = (f"\\x{ord(character):02x}" for character in (dialect.delimiter, dialect.quote or ""))
    closed = f"{quote}(?:[^{quote}]|{quote}{quote})*{quote}"
    each = f"'({closed}[^{delimiter}]*|[^{delimiter}]*)(?:{delimiter}|$)'"
    one = literal(dialect.quote or "")
    inside = f"regexp_extract(field, '^{closed}')"
    plain = f"replace(substr({inside}, 2, length({inside}) - 2), {one} || {one}, {one})"
    taken = f"CASE WHEN {inside} = '' THEN field ELSE {plain} END"
    return f"list_transform(regexp_extract_all(line, {each}, 1), lambda field: {taken})"


def _opened(path: Path) -> BufferedIOBase:
    if not path.name.lower().endswith(".gz"):
        return path.open("rb")
    import gzip

    return gzip.open(path, "rb")


def header_of(path: Path, dialect: Csv) -> tuple[str, ...]:
    """Return the names in the first line of a file; columns without a name get one by their place."""
    try:
        with _opened(path) as file:
            line = _LINE.match(file.read(_MOST_HEADER))
            text = line[0].decode("utf-8-sig") if line else ""
    except (OSError, EOFError, UnicodeDecodeError):
        raise missing(str(path), "its first line cannot be read as UTF-8 text") from None
    names = _split(text, dialect)
    if not names:
        why = "it is empty and has no header line"
        fix = "write the names into its first line, or give them: csv(path, header=False, names=(...))"
        raise SourceMissing(f"source {path}", why=why, fix=fix, value=str(path))
    named = tuple(name.strip() or f"column{number}" for number, name in enumerate(names))
    check_names(named)
    return named


def _split(line: str, dialect: Csv) -> list[str]:
    if dialect.quote is None:
        return line.rstrip("\r\n").split(dialect.delimiter) if line.strip() else []
    if line.count(dialect.quote) % 2:
        why, fix = "a quoted name goes on in the next line", "name the columns yourself: csv(path, names=(...))"
        raise BadParameter("header", line, why=why, fix=fix)
    return next(csv.reader([line], delimiter=dialect.delimiter, quotechar=dialect.quote), [])
