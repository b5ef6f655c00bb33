"""The options that commands about vaults share, and how a vault is opened for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import protect

if TYPE_CHECKING:
    from discreet.account.budgets.budget import Budget
    from discreet.curator.curator import Curator

VAULT = "vault.discreet"
Command = Callable[..., Any]


class _Place(click.Path):
    """A path, or the URL of a database, which stays as it was written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the word; a URL is no path, since paths join slashes."""
        from discreet.curator.connect import is_server
        from discreet.ledger.place import is_url

        return value if is_url(value) or is_server(value) else super().convert(value, param, ctx)


PLACE = _Place(path_type=Path)


def vault_option(command: Command) -> Command:
    """Add `--vault`, which the environment may set."""
    option = click.option(
        "--vault",
        type=PLACE,
        envvar="DISCREET_VAULT",
        show_envvar=True,
        default=Path(VAULT),
        show_default=True,
        help="The vault's file, the postgresql:// URL of its database, or the https:// address of its server.",
    )
    return option(command)


def budget_options(what: str, prefix: str = "") -> Callable[[Command], Command]:
    """Add `--epsilon`, `--delta` and `--rho`, perhaps with a prefix; numbers are read exactly as written."""

    def add(command: Command) -> Command:
        for name in ("rho", "delta", "epsilon"):
            word, variable = f"--{prefix}{name}", f"{prefix}{name}".replace("-", "_")
            command = click.option(word, variable, metavar="AMOUNT", help=f"{what}, in {name}.")(command)
        return command

    return add


def budget_of(epsilon: str | None, delta: str | None, rho: str | None) -> Budget | None:
    """Read the amounts that `budget_options` brought."""
    from discreet.curator.declare import budget_of as read

    return read(epsilon, delta, rho)


@contextmanager
def opened(vault: Path | str) -> Iterator[Curator]:
    """Open a vault that is there, and close it."""
    from discreet.core.errors import BadParameter
    from discreet.curator.connect import is_server
    from discreet.curator.curator import Curator
    from discreet.curator.local.desk_records import files_of

    if is_server(vault):
        why, fix = "this is done where the vault lies, not through a server", "name the vault's file or database"
        raise BadParameter("vault", str(vault), why=why, fix=fix)
    with Curator(vault, create=False) as curator:
        protect(files_of(curator))
        yield curator
