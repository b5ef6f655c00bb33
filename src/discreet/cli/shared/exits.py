"""Exit codes: the one table of what the number a command ends with means."""

from __future__ import annotations

from enum import IntEnum

import click


class Exit(IntEnum):
    """How a command ended; scripts may rely on these numbers."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    BUDGET = 3
    EXTRA = 4
    REFUSED = 5
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "done",
    Exit.UNEXPECTED: "an unexpected failure: please report it (DISCREET_DEBUG=1 shows where)",
    Exit.USAGE: "the command line or a parameter is invalid",
    Exit.BUDGET: "the privacy budget does not cover the question",
    Exit.EXTRA: "an optional package is missing; the message has the pip line",
    Exit.REFUSED: "refused for another reason, which the message gives",
    Exit.INTERRUPTED: "interrupted from the keyboard",
}

# By name, so reading the table imports no package that might define the refusal.
_CODES = {
    "BadParameter": Exit.USAGE,
    "UnknownName": Exit.USAGE,
    "BudgetExceeded": Exit.BUDGET,
    "MissingExtra": Exit.EXTRA,
    "Refusal": Exit.REFUSED,
}


def code_of(error: BaseException) -> Exit:
    """Return the exit code of an error: that of the nearest of its classes in the table."""
    match error:
        case click.ClickException():
            return Exit.USAGE
        case click.Abort() | KeyboardInterrupt():
            return Exit.INTERRUPTED
    return next((_CODES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _CODES), Exit.UNEXPECTED)
