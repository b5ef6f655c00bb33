"""What a desk needs of the curator that opened its vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.ledger.ledger import Ledger


class CuratorLike(Protocol):
    """What a desk needs of the curator that opened it."""

    ledger: Ledger

    def tables(self) -> list[str]:
        """Return the names of all tables."""

    def table(self, name: str) -> Registered:
        """Return a registered table."""

    def public_tables(self) -> list[str]:
        """Return the names of all public tables."""

    def public_table(self, name: str) -> PublicTable:
        """Return a public table."""

    def check(self, name: str, revision: int | None = None) -> None:
        """Refuse a table, private or public, whose source has changed."""

    def is_untouched(self, name: str, revision: int) -> bool:
        """Whether a glance tells that `check` would refuse nothing."""

    def close(self) -> None:
        """Close the vault."""
