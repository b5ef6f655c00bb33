"""Tasks of local privacy for multi-freq-ldpy: compiled clients, one call for each report, and its estimators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

CLIENTS = {"k-ary": GRR_Client, "unary": UE_Client, "local_hash": LH_Client}


def encode(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """Reports of n values."""
    client, values = CLIENTS[protocol], (np.arange(n) % k).tolist()
    return lambda: [client(value, k, epsilon) for value in values]


def aggregate(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """The estimates of all values from n reports."""
    reports = encode(protocol, k, epsilon, n)()
    if protocol == "unary":
        return lambda: UE_Aggregator_MI(reports, epsilon)
    estimate = LH_Aggregator_MI if protocol == "local_hash" else GRR_Aggregator_MI
    return lambda: estimate(reports, k, epsilon)
