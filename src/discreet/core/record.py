"""Records: how the values of the core become versioned JSON, and how they come back, checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.core.errors import BadParameter

VERSION = 1


def write(kind: str, record: Mapping[str, Any]) -> str:
    """Write a record as one line of JSON that says its kind and the version of its format."""
    return json.dumps({"discreet": VERSION, kind: record}, ensure_ascii=False, allow_nan=False)


def read(kind: str, text: str) -> object:
    """Return the record of that kind which `write` wrote, refusing any other text."""
    try:
        envelope = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        why, fix = "it is not JSON", "pass the text that to_json returned, unchanged"
        raise BadParameter("json", text, why=why, fix=fix) from error
    envelope = fields("json", envelope, ("discreet", kind))
    version = envelope["discreet"]
    if type(version) is not int or version != VERSION:
        why, fix = f"this release reads format {VERSION}", "read it with the release that wrote it"
        raise BadParameter("discreet", version, why=why, fix=fix)
    return envelope[kind]


def fields(kind: str, record: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the record if it has exactly the named fields; a field too few or too many is refused."""
    expected = set(names)
    if not isinstance(record, dict) or set(record) != expected:
        found = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
        why = f"it must be an object with exactly the fields {', '.join(sorted(expected))}"
        raise BadParameter(kind, found, why=why, fix="pass the text that to_json returned, unchanged")
    return record
