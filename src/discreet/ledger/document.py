"""Documents: what custodians declare (tables, sources, policies), revision by revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """The newest revision of what was declared under a kind and a name.

    `record` is part of the chain and may be shown; `private` lies beside it, in the vault alone.
    """

    kind: str
    name: str
    revision: int
    record: Mapping[str, Any]
    private: Mapping[str, Any]
