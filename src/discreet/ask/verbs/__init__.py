"""Verbs: what a session can be asked for. A file is a verb, by its word; adding one is adding a file.

Each has a `VERB` that writes and reads what its requests, previews and answers carry, previews them, and runs them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

from discreet.core.errors import UnknownName
from discreet.core.registry import Registry

if TYPE_CHECKING:
    from discreet.ask.verbs.verb import Verb

registry = Registry(
    "verb", "discreet.ask.verbs", entry=lambda _: "VERB", apart=frozenset({"verb", "questions", "request_text"})
)


@lru_cache(maxsize=64)
def verb_of(word: str) -> Verb:
    """Return a verb by its word."""
    if word not in _words():
        raise UnknownName("verb", word, _words())
    return cast("Verb", registry[word])


@cache
def _words() -> frozenset[str]:
    return frozenset(registry)
