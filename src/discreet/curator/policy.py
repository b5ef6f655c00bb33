"""Policies: `discreet.toml`, a file that says what a vault should hold. The vault leads, the file is applied to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discreet.account.budgets.budget import Budget
from discreet.ask.work_limits import WorkLimits
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.curator.policy_entries import (
    GrantPolicy,
    PublicPolicy,
    TablePolicy,
    budget_policy,
    grant_policy,
    public_policy,
    table_policy,
)
from discreet.curator.schemas.chain import in_order
from discreet.curator.toml import Node, read_toml
from discreet.ledger.place import is_url
from discreet.measures.minimum_frequency import MinimumFrequency

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.ledger.cap import Existing

NAME = "discreet.toml"

Action = Literal[
    "registered",
    "declared",
    "granted",
    "window set",
    "limits set",
    "withholding set",
    "certificates set",
    "artefacts set",
    "anchors set",
    "charging set",
    "left",
]


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a policy did to a table, a window, a grant or the limits on work; a new grant has its token."""

    action: Action
    kind: Literal[
        "table",
        "public table",
        "window",
        "grant",
        "work",
        "withhold",
        "certificates",
        "artefacts",
        "anchors",
        "charging",
    ]
    name: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as read: tables, windows, grants, limits on work, certificates, files, anchors, approval, alerts.

    `withhold` says below how many people groups are withheld. Every refusal names its line.
    """

    path: Path
    vault: Path | str | None
    tables: tuple[TablePolicy, ...]
    windows: tuple[tuple[str, Budget, Node], ...]
    grants: tuple[GrantPolicy, ...]
    work: Node | None = None
    withhold: Node | None = None
    certificates: Node | None = None
    artefacts: Node | None = None
    anchors: Node | None = None
    approval: Node | None = None
    alerts: Node | None = None
    public: tuple[PublicPolicy, ...] = ()

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
        wanted, units = {each.name: each for each in self.tables}, {each.name: each.unit for each in self.tables}
        known, public = curator.tables(), [*curator.public_tables(), *(each.name for each in self.public)]
        for each in self.tables:
            with each.node.here("unit"):
                in_order({each.name: each.unit, **units}, known, public)
        applied = [self._put_table(curator, wanted[name]) for name in in_order(units, known, public)]
        applied += [self._put_public(curator, each) for each in self.public]
        for account, budget, node in self.windows:
            with node.here():
                changed = curator.window(account, budget)
            applied.append(Applied("window set" if changed else "left", "window", account))
        applied += [self._put_grant(curator, grant) for grant in self.grants]
        applied += [self._put_work(curator, self.work)] if self.work is not None else []
        applied += [self._put_withhold(curator, self.withhold)] if self.withhold is not None else []
        applied += [self._put_certificates(curator, self.certificates)] if self.certificates else []
        applied += [self._put_artefacts(curator, self.artefacts)] if self.artefacts else []
        applied += [self._put_anchors(curator, self.anchors)] if self.anchors else []
        return applied + ([self._put_charging(curator)] if self.approval or self.alerts else [])

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

    def _put_public(self, curator: Curator, wanted: PublicPolicy) -> Applied:
        with _at_fault(wanted.node):
            there = wanted.name in curator.public_tables()
            curator.register_public(
                wanted.name, wanted.source, key=wanted.key, fan_out=wanted.fan_out or None, columns=wanted.columns
            )
        return Applied("left" if there else "registered", "public table", wanted.name)

    def _put_work(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here():
            before = curator.work()
            # The section says all limits: a key that it leaves out is at its default.
            limits = WorkLimits().with_changes(wanted.value)
            changed = curator.work(**{name: getattr(limits, name) for name in WorkLimits.FIELDS}) != before
        return Applied("limits set" if changed else "left", "work", "vault")

    def _put_withhold(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here("below"):
            before = curator.withhold()
            after = curator.withhold(below=wanted["below"].value)
        return Applied("left" if after == before else "withholding set", "withhold", "vault")

    def _put_certificates(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here("folder"):
            changed = curator.certificates(self.path.resolve().parent / wanted["folder"].words())
        return Applied("certificates set" if changed else "left", "certificates", "vault")

    def _put_artefacts(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here():
            before, folder = curator.ledger.artefact_policy(), wanted["folder"].value
            after = curator.artefacts(
                folder=None if folder is None else self._path_of(folder), largest=wanted["largest"].value
            )
        return Applied("left" if after == before else "artefacts set", "artefacts", "vault")

    def _put_anchors(self, curator: Curator, wanted: Node) -> Applied:
        with wanted.here():
            before = curator.ledger.anchor_policy()
            if isinstance(wanted.value, str):
                after = curator.anchors(required=wanted.value == "required")
            else:
                named = {name: self._path_of(wanted[name].value) for name in ("path", "log") if name in wanted}
                after = curator.anchors(required=wanted["required"].value, **named)
        return Applied("left" if after == before else "anchors set", "anchors", "vault")

    def _path_of(self, named: object) -> str:
        """Return a path of the file as a whole one, meant from the folder of the file."""
        return str(self.path.resolve().parent / str(named)) if named else ""

    def _put_charging(self, curator: Curator) -> Applied:
        before = after = curator.charging()
        if self.approval is not None:
            with self.approval.here("tables"):
                after = curator.charging(approval=self.approval["tables"].items(str, "names of tables"))
        if self.alerts is not None:
            with self.alerts.here("below"):
                after = curator.charging(alerts=self.alerts["below"].items((int, Decimal), "shares"))
        return Applied("left" if after == before else "charging set", "charging", "vault")

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


def _checked_withhold(node: Node) -> Node:
    """Read [withhold]; a number that is none of people is refused before anything is applied."""
    node.table("below").need("below", "say below how many people groups are withheld: below = 10")
    with node.here("below"):
        MinimumFrequency(node["below"].value)
    return node


def _checked_anchors(node: Node) -> Node:
    """Read `anchor = "required"`, or [anchor]; any other word is refused before anything is applied."""
    if not isinstance(node.value, str):
        return node.table("required", "path", "log")
    with node.here():
        if node.value not in ("required", "usual"):
            why = "anchors are required, or made where one is missing"
            raise BadParameter("anchor", node.value, why=why, fix='write anchor = "required", or "usual"')
    return node


def read(path: str | Path) -> Policy:
    """Read a policy. Paths in it are meant from the folder it lies in; no source is opened."""
    file = Path(path)
    root = read_toml(file).table(*_SECTIONS)
    folder = file.resolve().parent
    tables = tuple(table_policy(node, folder) for node in _each(root, "tables"))
    public = tuple(public_policy(node, folder) for node in _each(root, "public"))
    windows = tuple((node.path[-1], budget_policy(node), node) for node in _each(root, "windows"))
    grants = tuple(grant_policy(node) for node in _each(root, "grants"))
    named = root["vault"].words() if "vault" in root else None
    vault = named if named is None or is_url(named) else folder / named
    work = _checked_work(root["work"]) if "work" in root else None
    certificates = root["certificates"].table("folder") if "certificates" in root else None
    if certificates is not None:
        certificates.need("folder", 'name the folder that they are written into: folder = "certificates"').words()
    artefacts = root["artefacts"].table("folder", "largest") if "artefacts" in root else None
    anchors = _checked_anchors(root["anchor"]) if "anchor" in root else None
    approval, alerts = (root[name].table(key) if name in root else None for name, key in _CHARGING)
    if approval is not None:
        approval.need("tables", 'name the tables: tables = ["visits"], or ["*"] for all').items(str, "names of tables")
    if alerts is not None:
        alerts.need("below", "name shares: below = [0.2, 0.05]").items((int, Decimal), "shares")
    withhold = _checked_withhold(root["withhold"]) if "withhold" in root else None
    return Policy(
        file, vault, tables, windows, grants, work, withhold, certificates, artefacts, anchors, approval, alerts, public
    )


_SECTIONS = (
    *("vault", "tables", "public", "windows", "grants", "work", "withhold", "certificates", "artefacts", "anchor"),
    *("approval", "alerts"),
)
_CHARGING = (("approval", "tables"), ("alerts", "below"))

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
