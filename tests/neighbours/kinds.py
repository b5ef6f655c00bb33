"""Kinds: the sources of every engine, each by the `KINDS` of its `tests/engines/x/neighbours.py`."""

from discreet.engines import registry
from tests.engines.subjects import offered

OFFERED = {name: found.KINDS for name in registry if (found := offered(name, "neighbours")) is not None}
KINDS = {kind: found for kinds in OFFERED.values() for kind, found in kinds.items()}
