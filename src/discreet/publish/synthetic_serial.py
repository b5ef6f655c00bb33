"""How synthetic data is written: versioned JSON, arrays as base64 of their bytes; reading it runs no code."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.file import write_file
from discreet.publish.coding import Coding
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.model.junction import Junction
from discreet.publish.zeros import Zero

_FIELDS = ("names", "sizes", "cliques", "parents", "separators", "tables", "total", "groups", "shares", "measured")
_MORE = ("loss", "method", "words")
# Of tables whose columns were declared, and of which something cannot be; and of models with attributes of their own,
# which come after those of the domain and are never shown.
_OPTIONAL = ("coding", "zeros", "hidden")
_UNCHANGED = "pass the file that save wrote, unchanged"


class Written(Protocol):
    """What is written of synthetic data."""

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
    def measured(self) -> tuple[NoisyMarginal, ...]:
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


def save(path: str | Path, text: str) -> None:
    """Write a text to a file; see `core.file` for what is never written over."""
    write_file(path, text, force=True)


def to_json(synthetic: Written) -> str:
    """Write synthetic data."""
    tree = synthetic.model.tree
    return records.write(
        "synthetic_data",
        {
            "names": [*synthetic.domain.names],
            "sizes": [*synthetic.domain.sizes],
            "cliques": [[*clique] for clique in tree.cliques],
            "parents": [*tree.parents],
            "separators": [[*clique] for clique in tree.separators],
            "tables": [_written(table, "<f8") for table in synthetic.model.tables],
            "total": synthetic.model.total,
            "groups": [_written(group, "<i4") for group in synthetic.merged.groups],
            "shares": [_written(share, "<f8") for share in synthetic.merged.shares],
            "measured": [[[*each.clique], _written(each.values, "<f8"), each.scale] for each in synthetic.measured],
            "loss": synthetic.loss.to_json(),
            "method": synthetic.method,
            "words": [*synthetic.words],
            **({} if synthetic.coding is None else {"coding": synthetic.coding.record()}),
            **({} if not synthetic.zeros else {"zeros": [_zero(each) for each in synthetic.zeros]}),
            **({} if len(tree.sizes) == len(synthetic.domain) else {"hidden": [*tree.sizes[len(synthetic.domain) :]]}),
        },
    )


def from_json(text: str) -> dict[str, Any]:
    """Read what `to_json` wrote, as the parts of synthetic data, checking that they fit together."""
    read = records.read("synthetic_data", text)
    optional = [name for name in _OPTIONAL if isinstance(read, dict) and name in read]
    found = records.fields("synthetic_data", read, (*_FIELDS, *_MORE, *optional))
    try:
        return _parts(found)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError):
        raise BadParameter("synthetic_data", "<file>", why="its parts do not fit together", fix=_UNCHANGED) from None


def _parts(found: dict[str, Any]) -> dict[str, Any]:
    domain = Domain(tuple(found["names"]), tuple(found["sizes"]))
    groups = tuple(
        _read(group, "<i4", (size,)).astype(np.int64) for group, size in zip(found["groups"], domain.sizes, strict=True)
    )
    shares = tuple(_read(share, "<f8", (size,)) for share, size in zip(found["shares"], domain.sizes, strict=True))
    merged = Merged(domain, groups, shares)
    sizes = (*merged.smaller.sizes, *map(int, found.get("hidden", ())))
    cliques = tuple(_places(clique, len(sizes)) for clique in found["cliques"])
    separators = tuple(_places(clique, len(sizes)) for clique in found["separators"])
    tree = Junction(sizes, cliques, tuple(map(int, found["parents"])), separators)
    _check_tree(tree)
    tables = tuple(
        _read(table, "<f8", tuple(sizes[place] for place in clique))
        for table, clique in zip(found["tables"], cliques, strict=True)
    )
    measured = tuple(
        NoisyMarginal(
            _places(clique, len(domain)), _read(values, "<f8", tuple(sizes[place] for place in clique)), float(scale)
        )
        for clique, values, scale in found["measured"]
    )
    model = Fit(tree, tables, float(found["total"]), {})
    _check_numbers(model, merged, measured)
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
    clique = _places(places, len(domain))
    return Zero(clique, _read(never, "u1", domain.shape(clique)).astype(bool))


def _places(listed: Iterable[int], many: int) -> Clique:
    places = tuple(listed)
    if any(type(place) is not int for place in places) or [*places] != sorted({*places} & {*range(many)}):
        raise ValueError("a set of attributes lists some of them, in order")
    return places


def _check_tree(tree: Junction) -> None:
    """Refuse cliques that do not form a tree: what one shares with earlier ones is its parent's."""
    seen: set[int] = set()
    for number, (clique, parent, shared) in enumerate(zip(tree.cliques, tree.parents, tree.separators, strict=True)):
        above = {*tree.cliques[parent]} if 0 <= parent < number else set()
        if not -1 <= parent < number or {*shared} != {*clique} & above or {*shared} != {*clique} & seen:
            raise ValueError("cliques meet their parents in separators")
        seen |= {*clique}
    if len(seen) < len(tree.sizes):
        raise ValueError("every attribute is in the tree")


def _check_numbers(model: Fit, merged: Merged, measured: Iterable[NoisyMarginal]) -> None:
    """Refuse numbers that no model has: infinite or negative shares, groups without a code, noise of no size."""
    shares = [*model.tables, *merged.shares]
    sound = all(np.isfinite(each).all() and each.min() >= 0 and each.sum() > 0 for each in shares)
    grouped = all(np.array_equal(np.unique(group), np.arange(group.max() + 1)) for group in merged.groups)
    noisy = all(np.isfinite(each.values).all() and 0 < each.scale < math.inf for each in measured)
    if not (sound and grouped and noisy and 0 <= model.total < math.inf):
        raise ValueError("these are not the numbers of a model")


def _written(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode()


def _read(text: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), kind).reshape(shape)
