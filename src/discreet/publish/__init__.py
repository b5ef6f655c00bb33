"""Publishing: tables and synthetic data that are made once, from paid measurements, and answer for ever after."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.publish.domain import Domain as Domain
    from discreet.publish.synthesis import load as load
    from discreet.publish.synthesis import synthesize as synthesize
    from discreet.publish.twin import Twin as Twin
    from discreet.publish.weighing import weigh as weigh

_HOMES = {
    "Domain": "discreet.publish.domain",
    "Twin": "discreet.publish.twin",
    "load": "discreet.publish.synthesis",
    "synthesize": "discreet.publish.synthesis",
    "weigh": "discreet.publish.weighing",
}

__all__ = ["Domain", "Twin", "load", "synthesize", "weigh"]
__getattr__, __dir__ = lazy(__name__, _HOMES)
