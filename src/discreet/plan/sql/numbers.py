"""Numbers as SQL writes them, exactly: 0.1 is one tenth."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,3}))?")
_DIGITS = 100


def exact(text: str) -> Fraction | None:
    """Return a number exactly as it is written; None for what is none, or for one of more than a hundred digits."""
    # Fraction("1e999999999") would spell out all of its digits.
    if len(text) > _DIGITS or not text.isascii() or _NUMBER.fullmatch(text) is None:
        return None
    return Fraction(text)
