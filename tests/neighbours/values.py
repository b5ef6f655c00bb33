"""Values: for every family of physical types what is declared, ordinary values, and values that break readers."""

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal

import pandas as pd

import discreet as dp

LARGE = 70_000  # bytes of a text that is null


@dataclass(frozen=True)
class Family:
    """How columns of a family are declared, what most rows hold, and what one row may hold as well."""

    declared: object
    plain: tuple
    hostile: tuple


TEXTS = (
    *("", " ", "NaN", "inf", "-0", "1e400", "-1e-400", "9" * 999, "9" * 5000, "7" * LARGE, "\u0663", "A\u0308", "O'N"),
    *('"', "\\", "\n", "\r", "a\r", "\t1", "1\n", "0x10", "1,2", "--", "9999-99-99", "0000-01-01", "true ", "\ufeff1"),
    *(
        "\U0001f600",
        "é" * 600,
        "1." + "0" * 990 + "x",
        " " * 2000,
        "nan",
        "null",
        "NULL",
        "\\N",
        "%s",
        "a" * 65_536,
        None,
    ),
)
NUMBER, STEPS = dp.between(-50, 50), dp.between(0, 50, step=0.5)
WORDS = {
    "word": (dp.text(), ("a", "b", "c")),
    "spelled": (STEPS, ("1", "2.5", "40", "60")),
    "spelled wide": (dp.between(0, 10**20), ("1", "25", "40")),
    "day": (dp.date("2020-01-01", "2020-12-31"), ("2020-02-03", "2020-12-01T10:00", "1999-01-01")),
    "told": (dp.flag(), ("yes", "no", "1", "F")),
    "key": (dp.one_of("a", "b", "true "), ("a", "b", "c")),
    "place": (dp.one_of(1, 2, 7), ("1", "2", "9")),
}


def whole(low, high):
    """Integers of a type."""
    return Family(NUMBER, (1, 2, 40, 60), (low, high, 0, high - 1, low + 1, None))


def floats(most, least, plain=(1.0, 2.5, 40.0, 60.0)):
    """Floats of a type; where ordinary rows have NaN already, statistics of a file leave it out."""
    return Family(STEPS, plain, (math.inf, -math.inf, math.nan, -0.0, most, -most, least, -least, None))


def decimals(digits, places):
    """Exact numbers of a type."""
    most = Decimal((0, (9,) * digits, -places))
    plain = tuple(Decimal(n) / 10**places if digits - places < 2 else Decimal(n) for n in (1, 2, 9))
    return Family(STEPS, plain, (most, most.copy_negate(), Decimal(0), None))


def moments(per_day, least=-(1 << 63) + 1, most=(1 << 63) - 1):
    """Moments as integers since 1970, so many for a day."""
    plain = tuple(day * per_day + 1 for day in (18300, 18400, 18500, 30000))
    return Family(WORDS["day"][0], plain, (least, most, 0, -1, 9_300_000_000_000_000, -9_300_000_000_000_000, None))


def texts(name):
    """Texts, declared in the way of that name."""
    declared, plain = WORDS[name]
    return Family(declared, plain, TEXTS)


FLAGS = Family(dp.flag(), (True, False), (True, False, None))
DAYS = Family(
    WORDS["day"][0], (dt.date(2020, 2, 3), dt.date(2021, 1, 1)), (dt.date.min, dt.date.max, dt.date(1970, 1, 1), None)
)
DOUBLE = (1.7976931348623157e308, 5e-324)
SINGLE = (3.4028234663852886e38, 1.401298464324817e-45)
HALF = (65504.0, 5.960464477539063e-08)
MISSING = (1.0, math.nan, 40.0, 60.0, math.nan)
# Columns whose type pandas infers: one row turns them into columns of objects.
BERLIN = tuple(pd.Timestamp(f"202{year}-01-01 00:30", tz="Europe/Berlin") for year in range(3))
MIXED = {
    "mixed flags": Family(dp.between(0, 1), (True, False), ("?", None)),
    "mixed keys": Family(dp.one_of(0, 1), (True, False), (None, "?")),
    "mixed moments": Family(WORDS["day"][0], BERLIN, (pd.Timestamp("2020-01-01", tz="UTC"), "?", None)),
    "mixed floats": Family(STEPS, (1.5, math.inf, 40.0, -math.inf), ("?", None, math.inf)),
    "mixed spellings": Family(dp.text(), (1.5, 2.0, 1e22, 2.5e-7, math.inf), (None, "?")),
    "mixed choices": Family(dp.one_of("1.5", "2"), (1.5, 2.0, 3.0), ("?", None)),
    "mixed truths": Family(dp.one_of("1", "true"), (True, False), (1.5, "?", None)),
    "mixed wholes": Family(dp.between(0, 10**18, step=1000), (9_007_199_254_741_499, 1500), (2**64, "?")),
}
