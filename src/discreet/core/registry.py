"""Registries: a folder is the list of what it holds, and nothing is imported before it is used."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from sys import modules
from types import ModuleType

from discreet.core.errors import UnknownName
from discreet.core.value import dataclass


def capwords(name: str) -> str:
    """Turn a registry name into its class name: noisy_max -> NoisyMax."""
    return "".join(part.capitalize() for part in name.split("_"))


@dataclass(frozen=True, slots=True)
class Registry:
    """The modules of one package, by name; each module's entry is the object its name promises.

    Adding an entry is adding a file. Names that start with an underscore, and the files in `apart`, are the
    folder's own machinery and no entries. With `folders`, only packages are entries, and files are machinery.
    """

    kind: str
    package: str
    entry: Callable[[str], str] = capwords
    apart: frozenset[str] = frozenset()
    folders: bool = False

    def __iter__(self) -> Iterator[str]:
        found = iter_modules(self._folders())
        names = {module.name for module in found if module.ispkg or not self.folders} - self.apart
        return iter(sorted(name for name in names if not name.startswith("_")))

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def __getitem__(self, name: str) -> object:
        """Import the module of that name and return its entry."""
        if name not in self:
            raise UnknownName(self.kind, name, self)
        return getattr(import_module(f"{self.package}.{name}"), self.entry(name))

    def part(self, name: str, module: str) -> ModuleType:
        """Import one module of an entry that is a folder."""
        whole = f"{self.package}.{name}.{module}"
        if whole not in modules and name not in self:
            raise UnknownName(self.kind, name, self)
        return import_module(whole)

    def summary(self, name: str) -> str:
        """Return the first line of the module's docstring, without importing it."""
        if name not in self:
            raise UnknownName(self.kind, name, self)
        spec = find_spec(f"{self.package}.{name}")
        assert spec is not None
        assert spec.origin is not None
        text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
        return text.partition("\n")[0]

    def _folders(self) -> list[str]:
        return list(import_module(self.package).__path__)
