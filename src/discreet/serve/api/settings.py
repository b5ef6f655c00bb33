"""Settings of a server: which vault, how much each token may ask, and who is let in from where."""

from __future__ import annotations

import ipaddress
import json
import os
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, fields
from discreet.engines.duckdb.engine import LEAST_MB
from discreet.engines.engine import Allotment

_MOST_WORKERS = 64
_BESIDE_ENGINES = 1024
# Where worker processes find their settings.
VARIABLE = "DISCREET_SERVE"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What a server was told when it was started; the same for all its workers.

    `rate` is how many requests a token may make in a second, with `burst` at once; `concurrent` how many of them may
    be worked on together, and `engines` how many questions of all tokens in one process. `memory` is what all engines
    of all `workers` may take together, in megabytes, and the processors are divided alike; `roots` are the folders from
    which custodians may register sources over HTTP; without any they cannot.
    """

    vault: str
    anchor: str | None = None
    rate: float = 50.0
    burst: int = 100
    concurrent: int = 8
    engines: int = 4
    workers: int = 1
    memory: int = 4096
    roots: tuple[str, ...] = ()
    log: str | None = None
    openid: str | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "burst", "concurrent", "engines", "memory"):
            value = getattr(self, name)
            if not 0 < value < 1e9:
                raise BadParameter(name, value, why="it is a positive number", fix="leave it out for the usual limit")
        if not 1 <= self.workers <= _MOST_WORKERS:
            why, fix = f"there are 1 to {_MOST_WORKERS} processes", "use the number of processors"
            raise BadParameter("workers", self.workers, why=why, fix=fix)
        if self.allotment.memory < LEAST_MB:
            every = self.workers * self.engines
            why = f"{every} engines share it, and each needs {LEAST_MB} megabytes to work in"
            raise BadParameter("memory", self.memory, why=why, fix=f"give {every * LEAST_MB}, or start fewer engines")
        for root in self.roots:
            if not Path(root).is_dir():
                why, fix = "it is no folder of this machine", "name a folder that holds the files to register"
                raise BadParameter("roots", root, why=why, fix=fix)
        object.__setattr__(self, "roots", tuple(str(Path(root).resolve()) for root in self.roots))

    @property
    def allotment(self) -> Allotment:
        """What each engine of each process may take."""
        engines = self.workers * self.engines
        return Allotment(self.memory // engines, max(1, (os.cpu_count() or 1) // engines))

    @property
    def most_resident(self) -> int:
        """Megabytes that a process may hold: its engines' own, and room for Python and for answers."""
        return self.memory // self.workers + _BESIDE_ENGINES

    def text(self) -> str:
        """Write the settings for a worker process."""
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def read(cls, text: str) -> ServeSettings:
        """Read what `text` wrote."""
        found: dict[str, Any] = json.loads(text)
        return cls(**{**found, "roots": tuple(found["roots"])})


def check_place(host: str, *, tls: bool, behind_proxy: bool) -> None:
    """Refuse to listen where tokens would cross a network in the clear."""
    if tls or behind_proxy or is_loopback(host):
        return
    why = "tokens and answers would cross the network in the clear"
    fix = "give --tls-certificate and --tls-key, or --behind-proxy where a proxy with TLS is in front, or use 127.0.0.1"
    raise BadParameter("host", host, why=why, fix=fix)


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
