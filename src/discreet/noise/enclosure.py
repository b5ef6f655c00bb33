"""Rigorous integer enclosures of exp(-x): the only transcendental function that exact noise needs."""

from __future__ import annotations

Ratio = tuple[int, int]
Enclosure = tuple[int, int]


def exp(rate: Ratio, bits: int) -> Enclosure:
    """Enclose e**(-p/q), times 2**bits, between two integers at most 2 apart; p/q is a rational of at least 0.

    Argument halving, Taylor's series in fixed point with one unit of slack per truncated term, and squaring
    of both ends, rounded outwards.
    """
    top, bottom = rate
    if top == 0:
        return 1 << bits, 1 << bits
    # 7/10 > ln 2: beyond this the value lies below one unit, and squaring up to it would be wasted work.
    if 10 * top > 7 * (bits + 1) * bottom:
        return 0, 1
    halvings = max(0, top.bit_length() - bottom.bit_length() + 1) + 8
    work = bits + 2 * halvings + 16
    small = (top << work) // (bottom << halvings)
    low, high = _series(small + 1, work)[0], _series(small, work)[1]
    for _ in range(halvings):
        low = (low * low) >> work
        high = ((high * high) >> work) + 1
    drop = work - bits
    return low >> drop, min((high >> drop) + 1, 1 << bits)


def _series(small: int, work: int) -> Enclosure:
    """Enclose 2**work * exp(-small / 2**work) for small / 2**work <= 2**-8."""
    term = total = 1 << work
    index = 0
    while term:
        index += 1
        term = ((term * small) >> work) // index
        total += -term if index & 1 else term
    # Each of the `index` terms was cut by less than 2 units (and the cut of one shrinks in the next); what follows
    # the last term, itself below one unit, is smaller than that unit.
    slack = 2 * index + 2
    return total - slack, total + slack


def powers(base: Enclosure, count: int, work: int) -> tuple[list[int], list[int]]:
    """Enclose 2**work * b**j for j = 0 .. count, given an enclosure of 2**work * b with b <= 1."""
    low, high = base
    lows, highs = [1 << work], [1 << work]
    for _ in range(count):
        lows.append((lows[-1] * low) >> work)
        highs.append(min(((highs[-1] * high) >> work) + 1, highs[-1]))
    return lows, highs
