"""Local privacy: everyone randomizes their own report, so nobody has to be trusted with the truth."""

from __future__ import annotations

import sys
from types import ModuleType

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.local.choose import choose as choose
    from discreet.local.estimate import Estimate as Estimate
    from discreet.local.longitudinal import longitudinal as longitudinal
    from discreet.local.poisoning import influence as influence
    from discreet.local.protocol import Protocol as Protocol
    from discreet.local.protocols.count_mean_sketch import count_mean_sketch as count_mean_sketch
    from discreet.local.protocols.count_mean_sketch import hadamard_count_mean_sketch as hadamard_count_mean_sketch
    from discreet.local.protocols.hadamard import hadamard as hadamard
    from discreet.local.protocols.heavy_hitters import heavy_hitters as heavy_hitters
    from discreet.local.protocols.local_hash import local_hash as local_hash
    from discreet.local.protocols.marginals import marginals as marginals
    from discreet.local.protocols.mean import mean as mean
    from discreet.local.protocols.randomized_response import randomized_response as randomized_response
    from discreet.local.protocols.rappor import rappor as rappor
    from discreet.local.protocols.telemetry import d_bit_flip as d_bit_flip
    from discreet.local.protocols.telemetry import one_bit_mean as one_bit_mean
    from discreet.local.protocols.unary import unary as unary
    from discreet.local.reports import Reports as Reports
    from discreet.local.secure_sum import secure_sum as secure_sum
    from discreet.local.shuffle import shuffle as shuffle
    from discreet.local.sketch import Sketch as Sketch

_HOMES = {
    "Estimate": "discreet.local.estimate",
    "Protocol": "discreet.local.protocol",
    "Reports": "discreet.local.reports",
    "Sketch": "discreet.local.sketch",
    "choose": "discreet.local.choose",
    "count_mean_sketch": "discreet.local.protocols.count_mean_sketch",
    "d_bit_flip": "discreet.local.protocols.telemetry",
    "hadamard": "discreet.local.protocols.hadamard",
    "hadamard_count_mean_sketch": "discreet.local.protocols.count_mean_sketch",
    "heavy_hitters": "discreet.local.protocols.heavy_hitters",
    "influence": "discreet.local.poisoning",
    "local_hash": "discreet.local.protocols.local_hash",
    "longitudinal": "discreet.local.longitudinal",
    "marginals": "discreet.local.protocols.marginals",
    "mean": "discreet.local.protocols.mean",
    "one_bit_mean": "discreet.local.protocols.telemetry",
    "randomized_response": "discreet.local.protocols.randomized_response",
    "rappor": "discreet.local.protocols.rappor",
    "secure_sum": "discreet.local.secure_sum",
    "shuffle": "discreet.local.shuffle",
    "unary": "discreet.local.protocols.unary",
}


class _Package(ModuleType):
    """A package whose factories keep their names: importing a file binds its module here, and that gives way."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _HOMES:
            value = getattr(value, name, value)
        super().__setattr__(name, value)


__all__ = sorted(_HOMES)
_find, __dir__ = lazy(__name__, _HOMES)


def __getattr__(name: str) -> object:
    found = _find(name)
    return getattr(found, name, found) if isinstance(found, ModuleType) else found


sys.modules[__name__].__class__ = _Package
