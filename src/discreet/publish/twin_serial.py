"""How twins are written: versioned JSON, arrays as base64 of their bytes; reading it runs no code."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.publish.domain import Domain
from discreet.publish.merged import Merged
from discreet.publish.model.fit import Fit, Noisy
from discreet.publish.model.junction import Junction
from discreet.publish.twin import Twin

_FIELDS = ("names", "sizes", "cliques", "parents", "separators", "tables", "total", "groups", "shares", "measured")
_MORE = ("loss", "method", "words")
_UNCHANGED = "pass the file that save wrote, unchanged"


def to_json(twin: Twin) -> str:
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
        },
    )


def from_json(text: str) -> Twin:
    """Read what `to_json` wrote, checking that its parts fit together."""
    found = records.fields("twin", records.read("twin", text), (*_FIELDS, *_MORE))
    try:
        return _twin(found)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        raise BadParameter("twin", "<file>", why="its parts do not fit together", fix=_UNCHANGED) from None


def _twin(found: dict[str, Any]) -> Twin:
    domain = Domain(tuple(found["names"]), tuple(found["sizes"]))
    groups = tuple(
        _read(group, "<i4", (size,)).astype(np.int64) for group, size in zip(found["groups"], domain.sizes, strict=True)
    )
    shares = tuple(_read(share, "<f8", (size,)) for share, size in zip(found["shares"], domain.sizes, strict=True))
    merged = Merged(domain, groups, shares)
    sizes = merged.smaller.sizes
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
    return Twin(domain, model, merged, measured, loss, str(found["method"]), tuple(map(str, found["words"])))


def _written(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode()


def _read(text: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), kind).reshape(shape)
