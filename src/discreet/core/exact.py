"""Exact values: what an engine computed from rows; a token that only a door opens.

An exact count and a noisy one are both integers, so that a release without noise would pass every type checker. Here
the exact one has a type of its own, with which nothing can be done: it can be handed on, and it can be opened by the
modules that `tests/core/test_exact.py` lists, each with its reason. There are five kinds of doors:

- *noise*: adds the noise of a declared mechanism, and returns what may be told;
- *choice*: draws one of several candidates by their scores;
- *kernel*: a listed function from exact values to exact values (`Exact.map`); what it returns is wrapped again;
- *invariant*: a number that a certificate says is published as it is;
- *custodian*: shows exact data to the custodian who owns it; never reachable from a Session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

Inside = TypeVar("Inside")
Made = TypeVar("Made")


class Closed(TypeError):
    """Raised where code tries to look into an exact value without a door: a bug of ours, never of a user."""


@dataclass(frozen=True, slots=True)
class Kernel(Generic[Inside, Made]):
    """A function from exact values to exact values: what `Exact.map` may call. The test of doors lists every one."""

    function: Callable[[Inside], Made]


class Exact(Generic[Inside]):
    """A value that was computed from rows, and that no code may look at but a door."""

    __slots__ = ("_hidden_exact",)

    def __init__(self, inside: Inside) -> None:
        object.__setattr__(self, "_hidden_exact", inside)

    def map(self, kernel: Kernel[Inside, Made]) -> Exact[Made]:
        """Return what a kernel makes of the value, wrapped again."""
        if not isinstance(kernel, Kernel):
            raise Closed("only a kernel sees an exact value")
        return Exact(kernel.function(cast(Inside, object.__getattribute__(self, "_hidden_exact"))))

    def __repr__(self) -> str:
        return "Exact(hidden)"

    if not TYPE_CHECKING:  # so that a type checker, too, finds none of these

        def _closed(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401
            raise Closed("an exact value is opened by noise, choice or a kernel alone")

        # All by which Python would look inside, tell two values apart, or write them down.
        __bool__ = __int__ = __float__ = __index__ = __complex__ = __array__ = _closed
        __iter__ = __len__ = __getitem__ = __contains__ = __reversed__ = _closed
        __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _closed
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _closed
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __pos__ = __abs__ = __round__ = _closed
        __format__ = __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __setattr__ = __delattr__ = _closed


def opened(value: Exact[Inside] | Inside) -> Inside:
    """Return what is inside: for doors alone. What is not wrapped was given by a caller who has the rows anyway."""
    return cast(Inside, object.__getattribute__(value, "_hidden_exact")) if isinstance(value, Exact) else value
