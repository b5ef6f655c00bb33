"""Lines: where in a TOML file a key stands, which its parser does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

_HEADER = re.compile(r"\s*\[{1,2}(?P<path>[^\[\]=]+)\]{1,2}\s*(#.*)?")
_ASSIGNMENT = re.compile(r"""\s*(?P<path>(?:"[^"]*"|'[^']*'|[A-Za-z0-9_.\-\s])+?)\s*=""")
_LONG_STRING = re.compile(r'"""|' + "'''")

Path = tuple[str, ...]


def line_of(text: str, path: Path) -> int:
    """Return the line, from 1, of a key given by its path, or of the nearest table above it that has one."""
    found = dict(reversed([*_keys(text)]))  # the first place wins
    while path and path not in found:
        path = path[:-1]
    return found.get(path, 1)


def _keys(text: str) -> Iterator[tuple[Path, int]]:
    table: Path = ()
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            if header := _HEADER.fullmatch(line):
                table = _split(header["path"])
                yield from ((table[:depth], number) for depth in range(len(table), 0, -1))
            elif assignment := _ASSIGNMENT.match(line):
                key = table + _split(assignment["path"])
                yield key, number
                # Keys of an inline table stand on the same line.
                for inner in re.finditer(r"[{,]\s*([A-Za-z0-9_-]+)\s*=", line):
                    yield (*key, inner[1]), number
        inside ^= len(_LONG_STRING.findall(line)) % 2 == 1


def _split(dotted: str) -> Path:
    """Split a dotted key as the parser would; one it cannot read stands for itself."""
    try:
        value: object = tomllib.loads(f"{dotted.strip()} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted.strip(),)
    path: list[str] = []
    while isinstance(value, dict):
        (name, value), *_ = value.items()
        path.append(name)
    return tuple(path)
