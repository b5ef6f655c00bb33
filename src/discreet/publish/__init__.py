"""Publishing: tables and synthetic data that are made once, from paid measurements, and answer forever after."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.publish.domain import Domain as Domain
    from discreet.publish.pmw_session import weigh as weigh
    from discreet.publish.synthesis import load as load
    from discreet.publish.synthesis import synthesize as synthesize
    from discreet.publish.synthetic_data import SyntheticData as SyntheticData

_HOMES = {
    "Domain": "discreet.publish.domain",
    "SyntheticData": "discreet.publish.synthetic_data",
    "load": "discreet.publish.synthesis",
    "synthesize": "discreet.publish.synthesis",
    "weigh": "discreet.publish.pmw_session",
}

__all__ = ["Domain", "SyntheticData", "load", "synthesize", "weigh"]
__getattr__, __dir__ = lazy(__name__, _HOMES)
