"""PostgreSQL's errors as refusals: what cannot be done now, why, and what to do about it.

The server's own words are never repeated: they may quote a row, and those about a connection its parameters.
"""

from __future__ import annotations

from discreet.core.errors import Refusal
from discreet.ledger.place import ServerPlace
from discreet.ledger.refusals import Tampered, Unavailable

_LOCKED = (
    "another program has locked it for too long",
    "wait for that program to end, or end it, and ask again",
)
_READ_ONLY = (
    "it can be read but not written, and nothing is answered without a debit",
    "connect to the primary server, by a role that may write",
)
_TOO_LARGE = (
    "an answer, a key or a name is larger than a vault can store",
    "ask for fewer groups, or use shorter names",
)
_ROLE = (
    "this role of the database may not do that",
    "connect as the role that made the vault; to make one, it needs CREATE on the database",
)
_STARTING = ("the server is starting, stopping or full of connections", "wait a moment and ask again")

# By SQLSTATE, or by its first two characters, which say the class.
_REASONS: dict[str, tuple[str, str]] = {
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "40": _LOCKED,
    "25006": _READ_ONLY,
    "0A000": _READ_ONLY,
    "53100": ("the server's disk is full, and nothing is answered without a debit", "free disk space and ask again"),
    "53300": _STARTING,
    "57P03": _STARTING,
    "54": _TOO_LARGE,
    "42501": _ROLE,
    "28": ("the server does not let this role in", "check the user and the password: PGPASSWORD, or ~/.pgpass"),
}
# Constraints and triggers that stopped us, tables and columns that are not there, values of other types.
_DAMAGE = ("23", "42", "P0", "3F", "22", "XX")

RETRIED = ("40001", "40P01")

LOST = (
    "the connection to the database was lost",
    "ask again: a charge that was made is found then, and not made twice",
)


def is_lost(state: str | None) -> bool:
    """Whether an error with this SQLSTATE, or without any, is the end of a connection."""
    return state is None or state[:2] == "08" or state in ("57P01", "57P02", "57P05", "25P03")


def refusal(place: ServerPlace, state: str | None) -> Refusal:
    """Say what an error with this SQLSTATE means for the vault; without one, the connection was lost."""
    what = f"the vault {place}"
    if is_lost(state):
        return Unavailable(what, why=LOST[0], fix=LOST[1], value=str(place))
    assert state is not None
    why, fix = _REASONS.get(state) or _REASONS.get(state[:2]) or ("", "")
    if why:
        return Unavailable(what, why=why, fix=fix, value=str(place))
    if state.startswith(_DAMAGE):
        return Tampered(what, why=f"its tables are not as a ledger leaves them (SQLSTATE {state})")
    why, fix = f"the server could not do it (SQLSTATE {state})", "see the server's log, then ask again"
    return Unavailable(what, why=why, fix=fix, value=str(place))


def unreachable(place: ServerPlace) -> Unavailable:
    """Say that no connection could be made; why, the driver tells in words that are not repeated."""
    why = "no connection can be made: the server is not reached, or does not let this role in"
    fix = "check host, port, database, user and password (PGPASSWORD, ~/.pgpass or a service file)"
    return Unavailable(f"the vault {place}", why=why, fix=fix, value=str(place))
