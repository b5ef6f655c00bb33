"""connect: an analyst's way in, by a vault and a token."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.curator.session import Session


def connect(
    path: str | Path, token: str, *, receipts: Iterable[object] = (), anchor: str | Path | None = None
) -> Session:
    """Open a session on a vault that is there, by its path or URL, or behind a server; none is ever created.

    `connect("https://vault.example.org", token)` gives the same session as the vault's file does.

    `receipts` are those of answers that you have: a vault that has lost one of them was put back as it once was, and
    is frozen. `anchor` is where this machine keeps the vault's head, if not in the usual places.

    Guarantee: a token that is unknown, wrong, revoked or expired opens nothing, and is not told which tables exist.
    """
    if is_server(path):
        from discreet.curator.remote.remote_desk import RemoteDesk
        from discreet.curator.session import Session

        desk = RemoteDesk(str(path), token)
        try:
            _ = desk.analyst  # a token that is not valid is refused now
            session = Session(desk)
            session.show(*receipts)
        except BaseException:
            desk.close()
            raise
        return session
    from discreet.curator.curator import Curator

    curator = Curator(
        path, create=False, anchor=anchor, verify_when_due=False
    )  # which takes long, and is the custodian's to do
    try:
        session = curator.session(token)
        session.show(*receipts)
    except BaseException:
        curator.close()
        raise
    return session


def is_server(place: object) -> bool:
    """Whether a vault is named by the address of a server."""
    return isinstance(place, str) and place.lower().startswith(("http://", "https://"))
