"""The chooser: which frequency oracle is the most accurate for a question, and what each would cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from discreet.account.numeric.checks import Number, whole
from discreet.core.errors import BadParameter, Refusal
from discreet.local.parts.oracle import Oracle, parameters
from discreet.local.protocols.hadamard import hadamard
from discreet.local.protocols.local_hash import local_hash
from discreet.local.protocols.randomized_response import randomized_response
from discreet.local.protocols.unary import unary

# Errors this close are alike: the shorter report wins.
_ALIKE = 1.02
_REHEARSED_BYTES = 1 << 19
_REHEARSED_REPORTS = 1 << 14


@dataclass(frozen=True, slots=True)
class Option:
    """One protocol: the 95% half-width of a rare count, bytes of a report, and predicted seconds of the server."""

    protocol: Oracle
    error: float
    bytes_per_report: int
    seconds: float
    fits: bool


@dataclass(frozen=True, slots=True)
class ProtocolChoice:
    """What was chosen, why, and what else there was; it prints as a table."""

    protocol: Oracle
    why: str
    options: tuple[Option, ...]

    def __str__(self) -> str:
        head = ("", "protocol", "error", "bytes", "server")
        rows = [head, *(self._row(option) for option in self.options)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
        lines = []
        for row in rows:
            names = (row[0].ljust(widths[0]), row[1].ljust(widths[1]))
            numbers = (cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))
            lines.append("  ".join((*names, *numbers)).rstrip())
        return "\n".join([*lines, self.why])

    def _row(self, option: Option) -> tuple[str, str, str, str, str]:
        mark = "->" if option.protocol == self.protocol else "" if option.fits else "too long"
        cells = f"{option.error:,.0f}", f"{option.bytes_per_report:,}", f"{option.seconds:,.3g} s"
        return (mark, named(option.protocol), *cells)


def choose(k: int, epsilon: Number, n: int, max_bytes: int | None = None) -> ProtocolChoice:
    """Return the most accurate oracle for k values and n people whose reports have at most `max_bytes` bytes.

    Errors and bytes follow from the parameters alone. The server's time is predicted from a rehearsal on invented
    reports on this machine, and moves with it; it is told, and decides nothing. Of protocols whose errors are alike
    within two percent, the one with the shorter reports is chosen.
    """
    size, exact = parameters(k, epsilon)
    people = whole("n", n)
    most = None if max_bytes is None else whole("max_bytes", max_bytes)
    options = sorted(
        (_option(protocol, people, most) for protocol in _candidates(size, exact)), key=lambda option: option.error
    )
    fitting = [option for option in options if option.fits]
    if not fitting:
        least = min(option.bytes_per_report for option in options)
        why = f"the shortest report about {size:,} values has {least} bytes"
        raise BadParameter("max_bytes", max_bytes, why=why, fix=f"use {least} or more, or fewer values")
    alike = [option for option in fitting if option.error <= _ALIKE * fitting[0].error]
    chosen = min(alike, key=lambda option: (option.bytes_per_report, option.error))
    return ProtocolChoice(chosen.protocol, _why(chosen, options, most), tuple(options))


def named(protocol: Oracle) -> str:
    """Return the words that make a protocol, shortly."""
    symmetric = ", symmetric" if getattr(protocol, "kept", None) not in (None, _HALF) else ""
    return f"{protocol.name}{symmetric}"


_HALF = unary(2, 1).kept


def _candidates(k: int, epsilon: Number) -> Iterator[Oracle]:
    yield randomized_response(k, epsilon)
    yield unary(k, epsilon)
    yield unary(k, epsilon, symmetric=True)
    yield hadamard(k, epsilon)
    try:
        yield local_hash(k, epsilon)
    except Refusal:  # more values than its sketch may tell apart: the others remain
        return


def _option(protocol: Oracle, n: int, most: int | None) -> Option:
    size = protocol.bytes_per_report
    fits = most is None or size <= most
    return Option(protocol, protocol.error(n), size, _rehearsed(protocol, n), fits)


def _rehearsed(protocol: Oracle, n: int) -> float:
    """Time the server on a few reports, and scale up what grows with their number."""
    few = max(1, min(n, _REHEARSED_REPORTS, _REHEARSED_BYTES // protocol.bytes_per_report))
    reports = protocol.encode(np.zeros(few, dtype=np.int64))
    protocol.estimate(protocol.aggregate(reports))  # tables are made once, whatever the number of reports
    empty = _seconds(protocol, bytes(0))
    return empty + max(0.0, _seconds(protocol, bytes(reports)) - empty) * n / few


def _seconds(protocol: Oracle, reports: bytes) -> float:
    """Return the least of three times: what else a machine does only adds."""
    times = []
    for _ in range(3):
        start = perf_counter()
        protocol.estimate(protocol.aggregate(reports))
        times.append(perf_counter() - start)
    return min(times)


def _why(chosen: Option, options: list[Option], most: int | None) -> str:
    name, best = named(chosen.protocol), options[0]
    limit = "" if most is None else f" of at most {most:,} bytes"
    if chosen.error > best.error and best.fits:
        more = 100 * (chosen.error / best.error - 1)
        apart = f"within {more:.1f}% of the least error, that of {named(best.protocol)}"
        return f"{name}: {apart}, with {chosen.bytes_per_report:,} bytes a report instead of {best.bytes_per_report:,}."
    if not best.fits:
        return f"{name}: the least error of all reports{limit}; {named(best.protocol)} needs {best.bytes_per_report:,}."
    return f"{name}: the least error of all reports{limit}."
