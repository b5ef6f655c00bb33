"""The demonstration's folder: a vault with the RAND table behind it, a token to ask with, and where results go."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.shared.files import forced
from discreet.core.errors import Refusal
from discreet.core.file import check_place, new_file, write_file

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.curator.session import Session

TABLE, ANALYST = "rand", "you"
BUDGET, CAP = 3, 2


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The files of one demonstration, all in one folder."""

    folder: Path

    @property
    def vault(self) -> Path:
        """The vault that is left to play with."""
        return self.folder / "vault.discreet"

    @property
    def token(self) -> Path:
        """The analyst's token, which only the owner can read."""
        return self.folder / "token"

    @property
    def table(self) -> Path:
        """The demonstration's own copy of the table, so the vault does not depend on the installation."""
        return self.folder / "rand.parquet"

    @property
    def answer(self) -> Path:
        """The answer, for `discreet explain`."""
        return self.folder / "answer.json"

    @property
    def page(self) -> Path:
        """The page with the pictures."""
        return self.folder / "demo.html"

    @property
    def script(self) -> Path:
        """A few lines of Python to go on with."""
        return self.folder / "play.py"


@dataclass(frozen=True, slots=True)
class DemoVault:
    """The vault in both pairs of hands: the custodian's and the analyst's; `reused` if it was there before."""

    place: DemoFolder
    curator: Curator
    session: Session
    reused: bool

    def keep(self, path: Path, text: str) -> None:
        """Write one of the files; one that is there is replaced where an earlier demonstration left it, or by force."""
        write_file(path, text, force=self.reused or forced())


@contextmanager
def opened(folder: Path) -> Iterator[DemoVault]:
    """Make the vault, or open the one that an earlier run left: then its questions are replayed, and cost nothing.

    Every step may have been done before, by a run that was interrupted, so each is skipped where it was.
    """
    from discreet.curator.curator import Curator

    place = DemoFolder(folder)
    reused = place.vault.exists() and place.token.exists()
    for file in (place.answer, place.page, place.script):
        check_place(file, force=reused or forced())
    with _said_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        curator = Curator(place.vault)
    with curator:
        with _said_plainly(folder):
            _register(curator, place)
            session = curator.session(_token(curator, place))
        yield DemoVault(place, curator, session, reused)


def _register(curator: Curator, place: DemoFolder) -> None:
    from discreet.account.budgets.budget import Budget
    from discreet.lab import rand

    if not place.table.exists():
        with new_file(place.table) as fresh:
            shutil.copyfile(rand.path(), fresh)
    curator.register(
        TABLE,
        place.table,
        unit=rand.unit(),
        columns=rand.columns(),
        rows=rand.ROWS,
        budget=Budget(epsilon=BUDGET),
    )
    curator.check(TABLE)


def _token(curator: Curator, place: DemoFolder) -> str:
    from discreet.account.budgets.budget import Budget

    if place.token.exists():
        return place.token.read_text(encoding="utf-8").strip()
    check_place(place.token)
    token = curator.grant(ANALYST, TABLE, budget=Budget(epsilon=CAP))
    write_file(place.token, token + "\n", private=True)
    return token


@contextmanager
def _said_plainly(folder: Path) -> Iterator[None]:
    """Refuse a folder that cannot be used, whatever is wrong with it, with what to do in a demonstration."""
    try:
        yield
    except (Refusal, OSError, UnicodeDecodeError) as error:
        why = error.why if isinstance(error, Refusal) else "it cannot be written to"
        fix = "choose another folder with --out, or delete this one: a demonstration contains only public data"
        raise Refusal(f"the demonstration in {folder}", why=why, fix=fix, value=str(folder)) from error
