"""Arrays: NumPy, which is imported with the first array: an answer about a few groups is whole numbers alone."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Deferred:
        """Stands for NumPy: each name is looked up there when it is first used."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (what a name is depends on the name)
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Deferred()
    NDArray = Any  # annotations are never looked at

__all__ = ["NDArray", "np", "numpy_version"]


@cache
def numpy_version() -> str:
    """Return `numpy.__version__`, read from the one module of NumPy that says it, which needs none of the others."""
    package = find_spec("numpy")
    if package is None or not package.submodule_search_locations:
        return str(np.__version__)
    finder = PathFinder.find_spec("numpy.version", package.submodule_search_locations)
    if finder is None or finder.loader is None:
        return str(np.__version__)
    found = module_from_spec(finder)
    finder.loader.exec_module(found)
    return str(found.version)
