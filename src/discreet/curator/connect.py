"""connect: an analyst's way in, by a vault and a token."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.curator.curator import Curator

if TYPE_CHECKING:
    from discreet.curator.session import Session


def connect(path: str | Path, token: str) -> Session:
    """Open a session on a vault that is there, by its path or URL; none is ever created.

    Guarantee: a token that is unknown, wrong, revoked or expired opens nothing, and is not told which tables exist.
    """
    curator = Curator(path, create=False, verify_when_due=False)  # which takes long, and is the custodian's to do
    try:
        return curator.session(token)
    except BaseException:
        curator.close()
        raise
