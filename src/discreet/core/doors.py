"""Doors: the two ways to see an exact value. Only the modules that `tests/core/test_exact.py` lists import this one.

There are five kinds of doors:

- *noise*: adds the noise of a declared mechanism, and returns what may be told;
- *choice*: draws one of several candidates by their scores, or says on which side of a noisy threshold a value lies;
- *kernel*: a listed function from an exact value to an exact value (`Exact.map`), which is wrapped again;
- *invariant*: a number that a certificate says is published as it is;
- *custodian*: shows exact data to the custodian who owns it, or to the lab, which made the rows up; never reachable
  from a Session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, cast, overload

from discreet.core.exact import Exact, Inside, Kernel, Made, Public


@overload
def opened(value: Exact[Inside]) -> Inside: ...
@overload
def opened(value: Inside) -> Inside: ...
def opened(value: Exact[Inside] | Inside) -> Inside:
    """Return what is inside: for doors alone. What is not wrapped was given by a caller who has the rows anyway."""
    return cast(Inside, object.__getattribute__(value, "_hidden_exact")) if isinstance(value, Exact) else value


def kernel(function: Callable[Concatenate[Inside, Public], Made]) -> Kernel[Inside, Public, Made]:
    """Make a kernel of a function, as a decorator: `exact.map(it, ...)` calls it with the value and public ones.

    It is a function of its module, so all kernels can be listed; it keeps and shows nothing of what it sees.
    """
    return Kernel(function)
