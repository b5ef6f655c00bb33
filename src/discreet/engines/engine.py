"""Engines: what computes the exact integers of a question; DuckDB, PostgreSQL and Spark each are one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from discreet.core.errors import Refusal

Datum = int | str | bool | None


class EngineFailed(Refusal):
    """The engine could not finish; why is not said, for it might tell of a record."""

    def __init__(self) -> None:
        super().__init__(
            "the engine",
            why="it could not finish this question; its own words are withheld, since they might quote a record",
            fix="ask the custodian to check that the source is where it was, unchanged and readable, and that the "
            "engine has enough memory and disk",
        )


class DeadlineExceeded(EngineFailed):
    """The engine was interrupted at the question's deadline; to an analyst it is a failure like any other."""


class Engine(Protocol):
    """A context manager that runs our own statements and gives back small, exact answers.

    A statement may name the one-row table `"~order"` (`engines.secret_order`): the engine makes it from the vault's
    secret when it is first named, so that no value of it stands in a text that anybody else could read.

    Guarantee: what an engine says of a failure is never shown; every failure is the same `EngineFailed`.
    """

    @property
    def name(self) -> str:
        """Which engine this is, as its dialect is called."""

    @property
    def version(self) -> str:
        """Its version, once it is entered; told without reading a row."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def question(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """Have all statements inside a `with` block see one state of the tables, where they may change.

        After so many seconds the engine is interrupted, and statements raise `DeadlineExceeded`.
        """

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Datum, ...]]:
        """Return the rows of a statement: whole numbers as Python's, never through floats."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""

    def kept(self, sql: str) -> AbstractContextManager[str]:
        """Keep the rows of a query inside a `with` block, and return what stands after FROM to read them."""
