"""Settings of a server: which vault, how much each token may ask, and who is let in from where."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, fields

# Where worker processes find their settings.
VARIABLE = "DISCREET_SERVE"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What a server was told when it was started; the same for all its workers.

    `rate` is how many requests a token may make in a second, with `burst` at once; `concurrent` how many of them may
    be worked on together, and `engines` how many questions of all tokens. `roots` are the folders from which
    custodians may register sources over HTTP; without any they cannot.
    """

    vault: str
    anchor: str | None = None
    rate: float = 50.0
    burst: int = 100
    concurrent: int = 8
    engines: int = 4
    roots: tuple[str, ...] = ()
    log: str | None = None
    openid: str | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "burst", "concurrent", "engines"):
            value = getattr(self, name)
            if not 0 < value < 1e9:
                raise BadParameter(name, value, why="it is a positive number", fix="leave it out for the usual limit")
        for root in self.roots:
            if not Path(root).is_dir():
                why, fix = "it is no folder of this machine", "name a folder that holds the files to register"
                raise BadParameter("roots", root, why=why, fix=fix)
        object.__setattr__(self, "roots", tuple(str(Path(root).resolve()) for root in self.roots))

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
