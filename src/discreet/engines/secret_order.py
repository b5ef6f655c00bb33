"""The secret order: from a vault's secret to the numbers that decide which of a person's rows are kept."""

from __future__ import annotations

import hashlib

# The one-row table of multipliers that an engine makes from the secret when it is needed; no text holds its values.
ORDER_TABLE = '"~order"'
# A prime: sums of products modulo it are the hashes of Carter and Wegman (1979).
PRIME = (1 << 31) - 1
# How many multipliers there are for each of the two hashes; the first of each is added, the others multiply.
MULTIPLIERS = 256
# Below 2^28, so eight products with numbers below 2^31 add up to less than 2^62.
_BITS = 28


def multipliers(secret: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two rows of multipliers, drawn from the secret as if by chance; they tell nothing about it."""
    first, second = (tuple(_draw(secret, row, place) for place in range(MULTIPLIERS)) for row in (0, 1))
    return first, second


def _draw(secret: bytes, row: int, place: int) -> int:
    found = hashlib.blake2b(f"order {row} {place}".encode(), key=hashlib.sha256(secret).digest(), digest_size=8)
    # Never 0, which would leave a column out of the order.
    return 1 + int.from_bytes(found.digest(), "big") % ((1 << _BITS) - 1)
