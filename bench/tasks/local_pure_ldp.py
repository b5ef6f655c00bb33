"""Tasks of local privacy for pure-ldp: one call for each report, as its clients and servers are made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

# By protocol: client, server, and what makes them the optimised variant.
KINDS = {
    "k-ary": (DEClient, DEServer, {}),
    "unary": (UEClient, UEServer, {"use_oue": True}),
    "local_hash": (LHClient, LHServer, {"use_olh": True}),
}


def encode(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """Reports of n values; its values count from 1."""
    make, _, options = KINDS[protocol]
    client = make(epsilon, k, **options)
    values = (np.arange(n) % k + 1).tolist()
    return lambda: [client.privatise(value) for value in values]


def aggregate(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """The estimates of all values from n reports."""
    _, make, options = KINDS[protocol]
    reports = encode(protocol, k, epsilon, n)()

    def call() -> object:
        server = make(epsilon, k, **options)
        for report in reports:
            server.aggregate(report)
        return [server.estimate(value, suppress_warnings=True) for value in range(1, k + 1)]

    return call
