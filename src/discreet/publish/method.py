"""Methods of making a twin: what each is given, what each gives back, and where it is found by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from discreet.core.errors import UnknownName
from discreet.publish.coded import Measure
from discreet.publish.domain import Domain
from discreet.publish.merged import Merged
from discreet.publish.model.fit import Fit, Noisy
from discreet.publish.spending import Allowance
from discreet.publish.workload import Workload

# Says which step of its plan a method is at; steps are known beforehand, and say nothing of the data.
Say = Callable[[str], None]

METHODS = ("aim", "independent", "merf", "mst", "mwem", "smalldb", "tables")


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A model of the merged domain, how its groups are shared out, and all that was measured to make it."""

    model: Fit
    merged: Merged
    measured: tuple[Noisy, ...]
    words: tuple[str, ...] = ()  # what the method promises


class Method(Protocol):
    """A module of `discreet.publish` that makes models."""

    def build(self, measure: Measure, domain: Domain, allowance: Allowance, workload: Workload, say: Say) -> Built:
        """Measure for no more than the allowance, and fit a model to what was measured."""


def method_of(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        raise UnknownName("method", str(name), (*METHODS, "auto"))
    return cast(Method, import_module(f"discreet.publish.{name}"))


def check_method(name: str, domain: Domain) -> None:
    """Refuse, before anything is paid, a domain that a method could not do; a method that can do all has no `check`."""
    check: Callable[[Domain], None] | None = getattr(method_of(name), "check", None)
    if check is not None:
        check(domain)
