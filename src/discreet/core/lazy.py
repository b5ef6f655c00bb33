"""Lazy names: a package that imports what a user touches, when they touch it."""

from __future__ import annotations

from importlib import import_module
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy(
    module: str, homes: Mapping[str, str], more: Callable[[], Mapping[str, str]] = dict
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a module's `__getattr__` and `__dir__`, so each name is imported from its home on first use.

    A home that ends in the name is the module itself, unless it defines that name; any other home defines it. `more`
    reveals names that a folder lists, and is asked only for those that are not in `homes`.
    """

    def getattr_(name: str) -> Any:  # noqa: ANN401  (what a name is depends on the name)
        home = homes.get(name) or (None if name.startswith("_") else more().get(name))
        if home is None:
            raise AttributeError(
                f"module {module!r} has no attribute {name!r}{_hint(name, {**homes, **more()})}", name=name
            )
        found = import_module(home)
        value = getattr(found, name, found) if home.endswith(f".{name}") else getattr(found, name)
        if module in modules:
            setattr(modules[module], name, value)  # the next touch finds it there
        return value

    return getattr_, lambda: sorted({*homes, *more()})


def _hint(name: str, homes: Mapping[str, str]) -> str:
    if name.startswith("_"):
        return ""
    from discreet.core.errors import UnknownName

    near = UnknownName("name", name, homes).near
    return f"; did you mean {near[0]!r}?" if near else ""
