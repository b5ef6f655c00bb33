"""Garbage: the search for cycles, which takes most of the time where very many values are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Search for no cyclic garbage inside a `with` block; whatever threads leave their blocks when, it goes on after.

    Whoever found the search on turns it on again; one that found it off, as an inner block does, leaves it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
