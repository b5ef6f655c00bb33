"""Writes tests/account/golden/peer.json: epsilons of random compositions, enclosed by dp-accounting's two estimates.

Needs dp-accounting, which Discreet itself does not: run it from an environment that has it,
`python tools/peer_accounting.py tests/account/golden/peer.json`. About ten minutes.
"""

from __future__ import annotations

import json
import math
import random  # noqa: TID251  (cases, not noise)
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as peer

SEED = 20180
CASES = 240
LARGEST = 2_000_000  # points of the peer's grid for one mechanism
Part = dict[str, Any]


def part(rng: random.Random, *, most: int) -> Part:
    """Return one mechanism on a Poisson sample, and how often it ran."""
    kind = "gaussian" if rng.random() < 0.85 else "laplace"
    noise = math.exp(rng.uniform(math.log(0.4), math.log(5)))
    rate = math.exp(rng.uniform(math.log(1e-5), math.log(0.5)))
    return {"kind": kind, "noise": noise, "rate": rate, "count": round(math.exp(rng.uniform(0, math.log(most))))}


def case(rng: random.Random) -> list[Part]:
    """Return the parts of one composition."""
    form = rng.random()
    parts = [part(rng, most=1000 if form < 0.5 else 100)]
    if 0.5 <= form < 0.75:
        parts.append(part(rng, most=30))
    if form >= 0.65:
        noise = math.exp(rng.uniform(math.log(1), math.log(30)))
        parts.append({"kind": rng.choice(["gaussian", "laplace"]), "noise": noise, "rate": 1.0, "count": 1})
    return parts


def distribution(parts: list[Part], interval: float, *, pessimistic: bool) -> Any:  # noqa: ANN401  (an untyped library)
    """Return the peer's privacy loss distribution of a composition."""
    whole = None
    for each in parts:
        make = peer.from_gaussian_mechanism if each["kind"] == "gaussian" else peer.from_laplace_mechanism
        tail = {"log_mass_truncation_bound": -60.0} if each["kind"] == "gaussian" else {}
        made = make(
            each["noise"],
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
            sampling_prob=each["rate"],
            use_connect_dots=pessimistic,
            **tail,
        )
        made = made if each["count"] == 1 else made.self_compose(each["count"], tail_mass_truncation=1e-17)
        whole = made if whole is None else whole.compose(made, tail_mass_truncation=1e-17)
    return whole


def widest(parts: list[Part]) -> float:
    """Return roughly the widest range of losses of one mechanism."""
    ranges: list[float] = [
        22 / p["noise"] + 1 / p["noise"] ** 2 if p["kind"] == "gaussian" else 2 / p["noise"] for p in parts
    ]
    return max(ranges)


def main() -> None:
    """Draw cases until there are enough, and write them."""
    rng = random.Random(SEED)  # noqa: S311
    rows: list[dict[str, Any]] = []
    while len(rows) < CASES:
        parts, delta = case(rng), 10.0 ** -rng.randint(4, 10)
        rough = distribution(parts, max(1e-3, widest(parts) / 1e5), pessimistic=True).get_epsilon_for_delta(delta)
        if not 1e-2 < rough < 50:
            continue
        copies = sum(each["count"] for each in parts)
        interval = max(rough * 1e-3 / math.sqrt(copies), widest(parts) / LARGEST)
        high, low = (
            distribution(parts, interval, pessimistic=way).get_epsilon_for_delta(delta) for way in (True, False)
        )
        listed = [list(each.values()) for each in parts]
        rows.append({"parts": listed, "delta": delta, "interval": interval, "low": low, "high": high})
        sys.stderr.write(f"{len(rows)} {delta:g} {low:.6g} {high:.6g} {parts}\n")
    head = f'"peer": "dp-accounting {version("dp-accounting")}", "seed": {SEED}'
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    Path(sys.argv[1]).write_text(f'{{{head}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
