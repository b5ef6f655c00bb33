"""How twins are written: versioned JSON, arrays as base64 of their bytes; reading it runs no code."""

from __future__ import annotations

import base64
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.account.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.publish.coding import Coding
from discreet.publish.domain import Domain
from discreet.publish.merged import Merged
from discreet.publish.model.fit import Fit, Noisy
from discreet.publish.model.junction import Junction
from discreet.publish.zeros import Zero

_FIELDS = ("names", "sizes", "cliques", "parents", "separators", "tables", "total", "groups", "shares", "measured")
_MORE = ("loss", "method", "words")
# Of tables whose columns were declared, and of which something cannot be; and of models with attributes of their own,
# which come after those of the domain and are never shown.
_OPTIONAL = ("coding", "zeros", "hidden")
_UNCHANGED = "pass the file that save wrote, unchanged"


class Written(Protocol):
    """What is written of a twin."""

    @property
    def domain(self) -> Domain:
        """The attributes."""

    @property
    def model(self) -> Fit:
        """The model."""

    @property
    def merged(self) -> Merged:
        """How groups are shared out."""

    @property
    def measured(self) -> tuple[Noisy, ...]:
        """What was paid for."""

    @property
    def loss(self) -> PrivacyLoss:
        """What was paid."""

    @property
    def method(self) -> str:
        """How it was made."""

    @property
    def words(self) -> tuple[str, ...]:
        """What is to be known of it."""

    @property
    def coding(self) -> Coding | None:
        """How its codes stand for values, where they do."""

    @property
    def zeros(self) -> tuple[Zero, ...]:
        """What no row can be."""


def to_json(twin: Written) -> str:
    """Write a twin."""
    tree = twin.model.tree
    return records.write(
        "twin",
        {
            "names": [*twin.domain.names],
            "sizes": [*twin.domain.sizes],
            "cliques": [[*clique] for clique in tree.cliques],
            "parents": [*tree.parents],
            "separators": [[*clique] for clique in tree.separators],
            "tables": [_written(table, "<f8") for table in twin.model.tables],
            "total": twin.model.total,
            "groups": [_written(group, "<i4") for group in twin.merged.groups],
            "shares": [_written(share, "<f8") for share in twin.merged.shares],
            "measured": [[[*each.clique], _written(each.values, "<f8"), each.scale] for each in twin.measured],
            "loss": twin.loss.to_json(),
            "method": twin.method,
            "words": [*twin.words],
            **({} if twin.coding is None else {"coding": twin.coding.record()}),
            **({} if not twin.zeros else {"zeros": [_zero(each) for each in twin.zeros]}),
            **({} if len(tree.sizes) == len(twin.domain) else {"hidden": [*tree.sizes[len(twin.domain) :]]}),
        },
    )


def from_json(text: str) -> dict[str, Any]:
    """Read what `to_json` wrote, as the parts of a twin, checking that they fit together."""
    read = records.read("twin", text)
    optional = [name for name in _OPTIONAL if isinstance(read, dict) and name in read]
    found = records.fields("twin", read, (*_FIELDS, *_MORE, *optional))
    try:
        return _parts(found)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        raise BadParameter("twin", "<file>", why="its parts do not fit together", fix=_UNCHANGED) from None


def _parts(found: dict[str, Any]) -> dict[str, Any]:
    domain = Domain(tuple(found["names"]), tuple(found["sizes"]))
    groups = tuple(
        _read(group, "<i4", (size,)).astype(np.int64) for group, size in zip(found["groups"], domain.sizes, strict=True)
    )
    shares = tuple(_read(share, "<f8", (size,)) for share, size in zip(found["shares"], domain.sizes, strict=True))
    merged = Merged(domain, groups, shares)
    sizes = (*merged.smaller.sizes, *map(int, found.get("hidden", ())))
    cliques = tuple(tuple(map(int, clique)) for clique in found["cliques"])
    tree = Junction(
        sizes,
        cliques,
        tuple(map(int, found["parents"])),
        tuple(tuple(map(int, clique)) for clique in found["separators"]),
    )
    tables = tuple(
        _read(table, "<f8", tuple(sizes[place] for place in clique))
        for table, clique in zip(found["tables"], cliques, strict=True)
    )
    measured = tuple(
        Noisy(tuple(clique), _read(values, "<f8", tuple(sizes[place] for place in clique)), float(scale))
        for clique, values, scale in found["measured"]
    )
    model = Fit(tree, tables, float(found["total"]), {})
    loss = PrivacyLoss.from_json(found["loss"])
    told = {"loss": loss, "method": str(found["method"]), "words": tuple(map(str, found["words"]))}
    coding = Coding.from_record(found["coding"]) if "coding" in found else None
    if coding is not None and coding.domain != domain:
        raise ValueError("the coding is of another domain")
    zeros = tuple(_read_zero(domain, *each) for each in found.get("zeros", ()))
    parts = {"domain": domain, "model": model, "merged": merged, "measured": measured}
    return {**parts, **told, "coding": coding, "zeros": zeros}


def _zero(zero: Zero) -> list[Any]:
    return [[*zero.clique], _written(zero.never, "u1")]


def _read_zero(domain: Domain, places: list[int], never: str) -> Zero:
    clique = tuple(map(int, places))
    return Zero(clique, _read(never, "u1", domain.shape(clique)).astype(bool))


def _written(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode()


def _read(text: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), kind).reshape(shape)
