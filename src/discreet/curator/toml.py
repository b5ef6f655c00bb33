"""TOML with lines: a walk through a file in which every refusal says where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.curator.toml_lines import line_of

_POSITION = re.compile(r"(?P<why>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a TOML file, the path of keys that leads to it, and the text it stands in."""

    file: Path
    text: str
    value: Any
    path: tuple[str, ...] = ()

    @contextmanager
    def here(self, *below: str) -> Iterator[None]:
        """Put the line of this value, or of a key below it, before what is refused inside the block."""
        try:
            yield
        except Refusal as refusal:
            place = f"{self.file.name}:{line_of(self.text, (*self.path, *below))}: "
            if not refusal.what.startswith(f"{self.file.name}:"):  # the innermost place is the telling one
                refusal.what = place + refusal.what
            raise

    def table(self, *known: str) -> Node:
        """Return this node if it is a table all of whose keys are known; any are, where none are named."""
        with self.here():
            if not isinstance(self.value, dict):
                raise self._bad("it has to be a table", f"write [{'.'.join(self.path)}] or {{ key = value }}")
        for name in self.value:
            with self.here(name):
                if known and name not in known:
                    raise UnknownName("key", name, known)
        return self

    def each(self) -> list[Node]:
        """Return what the table holds, in the order of the file."""
        return [self[name] for name in self.table().value]

    def __contains__(self, name: str) -> bool:
        return name in self.value

    def __getitem__(self, name: str) -> Node:
        return Node(self.file, self.text, self.value.get(name), (*self.path, name))

    def words(self) -> str:
        """Return this value if it is text."""
        with self.here():
            if not isinstance(self.value, str):
                raise self._bad("it has to be text", "put it in quotes")
            return self.value

    def items(self, kind: type | tuple[type, ...], what: str) -> tuple[Any, ...]:
        """Return this value if it is a list of one kind of thing."""
        with self.here():
            if not isinstance(self.value, list) or not all(isinstance(item, kind) for item in self.value):
                raise self._bad(f"it has to be a list of {what}", "put it in square brackets")
            return tuple(self.value)

    def need(self, name: str, fix: str) -> Node:
        """Return a key of this table, or refuse its absence with the fix."""
        with self.here():
            if name not in self.value:
                raise BadParameter(name, None, why=f"{'.'.join(self.path)} does not say it", fix=fix)
        return self[name]

    def _bad(self, why: str, fix: str) -> BadParameter:
        return BadParameter(".".join(self.path), self.value, why=why, fix=fix)


def read_toml(path: Path) -> Node:
    """Read a TOML file; numbers are kept exactly as they are written."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        why, fix = "it cannot be read as UTF-8 text", "give the path of a policy, or write one with discreet init"
        raise BadParameter("policy", str(path), why=why, fix=fix) from None
    try:
        return Node(path, text, tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        found = _POSITION.fullmatch(str(error))
        line = found["line"] if found and found["line"] else len(text.splitlines()) or 1
        why = (found["why"] if found else str(error)).lower()
        what = f"{path.name}:{line}: not TOML"
        raise Refusal(what, why=why, fix="mend that line", value=str(path)) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, or tables within tables without end
        why, fix = "it holds a number, or a nesting, that no policy needs", "use shorter numbers and flatter tables"
        raise BadParameter("policy", str(path), why=why, fix=fix) from None
