"""Policies: `discreet.toml`, a file that says what a vault should hold. The vault leads, the file is applied to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discreet.account.budgets.budget import Budget
from discreet.ask.work_limits import WorkLimits
from discreet.core.errors import Refusal, UnknownName
from discreet.curator.policy_entries import GrantPolicy, TablePolicy, budget_policy, grant_policy, table_policy
from discreet.curator.toml import Node, read_toml
from discreet.ledger.place import is_url

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.ledger.cap import Existing

NAME = "discreet.toml"

Action = Literal["registered", "declared", "granted", "window set", "limits set", "left"]


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a policy did to a table, a window, a grant or the limits on work; a new grant has its token."""

    action: Action
    kind: Literal["table", "window", "grant", "work"]
    name: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as read: tables, monthly windows on accounts, grants, limits on work; every refusal names its line."""

    path: Path
    vault: Path | str | None
    tables: tuple[TablePolicy, ...]
    windows: tuple[tuple[str, Budget, Node], ...]
    grants: tuple[GrantPolicy, ...]
    work: Node | None = None

    def table(self, name: str) -> TablePolicy:
        """Return what the file says about a table."""
        for each in self.tables:
            if each.name == name:
                return each
        raise UnknownName("table", name, [each.name for each in self.tables])

    def apply(self, curator: Curator) -> list[Applied]:
        """Bring the vault to what the file says, and return what was done.

        What is missing is registered, and what is equal is left. New bounds, keys, limits of rows or a declared size
        make a new version of a table. Whom a table protects and how much it may lose stay as they were registered: a
        difference there is refused, also a stricter one, since what was answered was counted under the old promise.
        What the file does not mention stays as it is; of [work], if it is there, a limit left out is at its default.
        """
        applied = [self._put_table(curator, table) for table in self.tables]
        for account, budget, node in self.windows:
            with node.here():
                changed = curator.window(account, budget)
            applied.append(Applied("window set" if changed else "left", "window", account))
        applied += [self._put_grant(curator, grant) for grant in self.grants]
        return applied + ([self._put_work(curator, self.work)] if self.work is not None else [])

    def _put_table(self, curator: Curator, wanted: TablePolicy) -> Applied:
        with _at_fault(wanted.node):
            if wanted.name not in curator.tables():
                curator.register(
                    wanted.name,
                    wanted.source,
                    unit=wanted.unit,
                    columns=wanted.columns,
                    budget=wanted.budget,
                    rows=wanted.rows,
                    group=wanted.group,
                    people=wanted.people,
                )
                return Applied("registered", "table", wanted.name)
            changed = curator.declare(
                wanted.name,
                unit=wanted.unit,
                columns=wanted.columns,
                rows=wanted.rows,
                source=wanted.source,
                budget=wanted.budget,
                group=wanted.group,
            )
        return Applied("declared" if changed else "left", "table", wanted.name)

    def _put_work(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here():
            before = curator.work()
            # The section says all limits: a key that it leaves out is at its default.
            limits = WorkLimits().with_changes(wanted.value)
            changed = curator.work(**{name: getattr(limits, name) for name in WorkLimits.FIELDS}) != before
        return Applied("limits set" if changed else "left", "work", "vault")

    def _put_grant(self, curator: Curator, wanted: GrantPolicy) -> Applied:
        with wanted.node.here():
            if curator.granted(wanted.analyst, wanted.tables, budget=wanted.budget, monthly=wanted.monthly):
                return Applied("left", "grant", wanted.analyst)
            # What was revoked left its caps behind; the amounts of the file are those that are meant.
            existing: Existing | None = "replace" if wanted.budget or wanted.monthly else None
            token = curator.grant(
                wanted.analyst,
                wanted.tables,
                budget=wanted.budget,
                monthly=wanted.monthly,
                expires=wanted.expires,
                existing=existing,
            )
        return Applied("granted", "grant", wanted.analyst, token)


def _checked_work(node: Node) -> Node:
    """Read [work]; a limit that makes no sense is refused before anything is applied."""
    node.table(*WorkLimits.FIELDS)
    with node.here():
        WorkLimits().with_changes(node.value)
    return node


def read(path: str | Path) -> Policy:
    """Read a policy. Paths in it are meant from the folder it lies in; no source is opened."""
    file = Path(path)
    root = read_toml(file).table("vault", "tables", "windows", "grants", "work")
    folder = file.resolve().parent
    tables = tuple(table_policy(node, folder) for node in _each(root, "tables"))
    windows = tuple((node.path[-1], budget_policy(node), node) for node in _each(root, "windows"))
    grants = tuple(grant_policy(node) for node in _each(root, "grants"))
    named = root["vault"].words() if "vault" in root else None
    vault = named if named is None or is_url(named) else folder / named
    work = _checked_work(root["work"]) if "work" in root else None
    return Policy(file, vault, tables, windows, grants, work)


# By the first word of what the vault refuses, the key that said it.
_FAULTS = {"budget": "budget", "group": "group", "identifier": "unit", "relation": "unit", "source": "source"}


@contextmanager
def _at_fault(node: Node) -> Iterator[None]:
    """Put the line of the key at fault, or of the table, before what the vault refuses."""
    try:
        yield
    except Refusal as refusal:
        word = re.split(r"[ =]", refusal.what.removeprefix("the "))[0]
        key = ("columns", str(refusal.value)) if word == "column" else (_FAULTS.get(word, ""),)
        with node.here(*key):
            raise


def _each(root: Node, name: str) -> list[Node]:
    return root[name].each() if name in root else []
