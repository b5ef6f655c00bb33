"""Refusals: every error a user can meet says what was refused, why, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable


class Refusal(Exception):
    """What Discreet raises when it will not do something.

    The text has three parts (what, why, fix); `value` is the offending value. All four are about the question
    that was asked, never about the data: the text of a refusal does not depend on any record.
    """

    def __init__(self, what: str, *, why: str, fix: str, value: object = None) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.fix = fix
        self.value = value

    def __str__(self) -> str:
        return f"{self.what}: {self.why}. Fix: {self.fix}."

    def __reduce__(self) -> tuple[object, ...]:
        """Let a refusal cross to another process as it is, however its class is made."""
        return _again, (type(self), self.args, {**self.__dict__})


class BadParameter(Refusal, ValueError):
    """A parameter whose value makes no sense; `name` says which."""

    def __init__(self, name: str, value: object, *, why: str, fix: str) -> None:
        super().__init__(f"{name}={show(value)}", why=why, fix=fix, value=value)
        self.name = name


class UnknownName(Refusal, KeyError):
    """A name that is not in a registry, a schema or a table, with the nearest ones that are."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        from difflib import get_close_matches

        self.known = tuple(sorted(known))
        self.near = tuple(get_close_matches(name, self.known, n=3, cutoff=0.5))
        if self.near:
            fix = "did you mean " + " or ".join(show(near) for near in self.near) + "?"
        else:
            fix = "use one of " + ", ".join(self.known) if self.known else f"there is no {kind} to use yet"
        super().__init__(f"{kind} {show(name)}", why=f"there is no {kind} of that name", fix=fix, value=name)

    def __str__(self) -> str:
        return super().__str__().replace("?.", "?")


class MissingExtra(Refusal, ImportError):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str, module: str) -> None:
        super().__init__(
            feature,
            why=f"it needs the package {module}, which is not installed",
            fix=f"pip install 'discreet[{extra}]'",
            value=module,
        )
        self.extra = extra


def _again(kind: type[Refusal], args: tuple[object, ...], state: dict[str, object]) -> Refusal:
    found = kind.__new__(kind, *args)
    found.__dict__.update(state)
    return found


def show(value: object) -> str:
    """Write a value for an error message: the first line of its repr, cut short when it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out integers of thousands of digits
        text = f"<{type(value).__name__} of thousands of digits>"
    first, *others = text.splitlines() or [""]
    text = f"{first}..." if others else first
    return text if len(text) <= 80 else text[:60] + "..." + text[-17:]
