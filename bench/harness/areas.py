"""Areas: the files of the bench folder are the list of what can be measured."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from bench.harness.case import Area
from discreet.core.errors import UnknownName


def names(package: str = "bench") -> list[str]:
    """Every area, in alphabetical order: each module of the package that is neither private nor a folder."""
    found = iter_modules(import_module(package).__path__)
    return sorted(module.name for module in found if not module.ispkg and not module.name.startswith("_"))


def load(name: str, package: str = "bench") -> tuple[str, Area]:
    """What an area is about (the first line of its file), and its cases."""
    if name not in names(package):
        raise UnknownName("area", name, [*names(package), "all"])
    module = import_module(f"{package}.{name}")
    area: Area = module.AREA
    return (module.__doc__ or "").partition("\n")[0], area
