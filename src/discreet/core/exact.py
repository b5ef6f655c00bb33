"""Exact values: what an engine computed from rows; a token that only a door opens.

An exact count and a noisy one are both integers, so a release without noise would pass every type checker. Here
the exact one has a type of its own, with which nothing can be done: it can be handed on, and it can be opened by the
doors (`discreet.core.doors`) that `tests/core/test_exact.py` lists, each with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, TypeVar, cast

from discreet.core.value import dataclass

Inside = TypeVar("Inside")
Made = TypeVar("Made")
Public = ParamSpec("Public")
_Shown = TypeVar("_Shown", covariant=True)
_Taken = TypeVar("_Taken", contravariant=True)


class Closed(TypeError):
    """Raised where code tries to look into an exact value without a door: a bug of ours, never of a user."""


@dataclass(frozen=True, slots=True)
class Kernel(Generic[_Taken, Public, _Shown]):
    """A function from an exact value, and public ones, to another exact value. Made by `doors.kernel` alone."""

    function: Callable[Concatenate[_Taken, Public], _Shown]


class Exact(Generic[_Shown]):
    """A value that was computed from rows, and that no code may look at but a door."""

    __slots__ = ("_hidden_exact",)

    def __init__(self, inside: _Shown) -> None:
        object.__setattr__(self, "_hidden_exact", inside)

    def map(self, kernel: Kernel[_Shown, Public, Made], *public: Public.args, **named: Public.kwargs) -> Exact[Made]:
        """Return what a kernel makes of the value and of public ones, wrapped again."""
        if not isinstance(kernel, Kernel):
            raise Closed("only a kernel sees an exact value")
        return Exact(kernel.function(cast(Any, object.__getattribute__(self, "_hidden_exact")), *public, **named))

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
        __format__ = __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _closed
        __setattr__ = __delattr__ = _closed


def together(parts: Sequence[Exact[Inside]]) -> Exact[list[Inside]]:
    """Return several exact values as one: how many there are is public, since someone has asked for each."""
    return Exact([cast(Inside, object.__getattribute__(part, "_hidden_exact")) for part in parts])
