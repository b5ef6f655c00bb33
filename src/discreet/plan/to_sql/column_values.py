"""Reading: how raw values of every physical type become the steps, days, keys, texts and flags of a declared column.

Guarantee: a value is read alike from its physical type and from the text that a copy of a frame has for it, since one
row more turns a frame's numbers, truth values and moments into objects, which are copied as texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.core.column import Column
from discreet.engines.dialect import MOST_BYTES, MOST_SPELLED, NARROW, WIDE, Dialect
from discreet.engines.physical import Physical
from discreet.plan.to_sql.thresholds import as_float, thresholds
from discreet.plan.whole import OutOfRange, Whole, clamp_sql, is_wide

# How numbers, integers and days are written in text: ASCII alone, on every engine. No character can be matched in
# two ways, so an engine that tries one after the other is done in a time proportional to the length.
NUMBER = r" *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)? *"
WHOLE = r" *[+-]?[0-9]+ *"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]*)?"
FAR_DAY = r"[0-9]{5,6}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]*)?"
BEFORE_CHRIST = r"[0-9]{4,6}-[0-9]{2}-[0-9]{2} [(]BC[)][ 0-9:.+-]*"
ABOVE, BELOW = ("inf", "+inf", "infinity", "+infinity"), ("-inf", "-infinity")
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")

_LAST_WHOLE = 2.0**53  # floats above it are whole, and not all integers are floats
# Up to there neither a product, nor a quotient, nor half a step is rounded, in floats, across a whole number of steps.
_MOST_STEPS, _MOST_DENOMINATOR = 1 << 50, 1 << 52
_MOST_DAYS = 1 << 31
_SHORT_DECIMAL = 18  # digits


def read_number(column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a number in steps: NaN to null, round to the step by floor(x * k + 0.5), clamp."""
    low, high = column.steps
    step = column.step or Fraction(1)
    match physical.family:
        case "integer" | "decimal" | "boolean":
            return _exact(_counted(physical, sql, dialect), (low, high), step, physical.places, dialect)
        case "double":
            double = _double(physical, sql, dialect)
            return _where(dialect.is_number(double, dialect.double), _from_double(double, (low, high), step, dialect))
        case "numeric":
            return _where(dialect.is_number(sql, physical.name), _unlimited(sql, (low, high), step, dialect))
        case "text":
            flags = [min(max(math.floor(flag / step + Fraction(1, 2)), low), high) for flag in (0, 1)]
            spelled, kind = _spelled(physical, sql, dialect), storage(column, dialect)
            found = _or_ends(_from_text(spelled, (low, high), step, dialect), spelled, (low, high), kind, dialect)
            return _or_flags(found, physical, sql, flags, kind, dialect)
    return None


def read_date(column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a day as days since 1970-01-01, clamped."""
    match physical.family:
        case "date":
            days = dialect.days_of_date(sql)
        case "timestamp":
            days = dialect.days_of_date(dialect.date_of_timestamp(sql))
        case "instant":
            days = dialect.days_of_date(dialect.date_of_instant(sql))
        case "text":
            spelled = _spelled(physical, sql, dialect)
            days = _or_far(dialect.days_of_text(spelled, DAY), spelled, dialect)
        case _:
            return None
    return Whole(days, -_MOST_DAYS, _MOST_DAYS, dialect).clamped(*column.steps).stored


def read_flag(_column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a boolean; 1 and 0 are true and false, and so are the words for them, in any case and with blanks."""
    match physical.family:
        case "boolean":
            return sql
        case "integer" | "decimal":
            counted, kind = _counted(physical, sql, dialect)
            yes, no = (_is_among(counted, [key * 10**physical.places], kind, dialect) for key in (1, 0))
            return f"(CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END)"
        case "double" | "numeric":
            yes, no = (f"{sql} = {dialect.cast(key, physical.name)}" for key in "10")
            found = f"(CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END)"
            return _where(dialect.is_number(sql, physical.name), found)
        case "text":
            word = dialect.ascii_lower(dialect.without_blanks(_spelled(physical, sql, dialect)))
            yes, no = (", ".join(map(dialect.literal, words)) for words in (TRUE, FALSE))
            return f"(CASE WHEN {word} IN ({yes}) THEN TRUE WHEN {word} IN ({no}) THEN FALSE END)"
    return None


def read_text(_column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a text as it is, one that is too long as null; numbers as they are spelled, truth values as 1 and 0.

    A number is spelled alike whatever its type: a frame turns integers to floats when one of them is missing, and truth
    values to numbers when it is joined with one.
    """
    if physical.family == "text":
        return dialect.short(_text(physical, sql, dialect), MOST_BYTES)
    if physical.family == "double":
        return dialect.spelled_float(_double(physical, sql, dialect))
    if physical.family == "boolean":
        return dialect.cast(dialect.flag_to_integer(sql), dialect.text)
    if physical.family == "decimal" and not physical.places:
        return dialect.cast(dialect.number(sql, physical), dialect.text)
    return _text(physical, sql, dialect) if physical.family == "integer" else None


def key_text(column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a text that is a declared key if it is one at all; 1 and 0 are true and false where only these are keys.

    Floats are compared with the keys that spell one, which costs less than to spell each of them.
    """
    keys = [key for key in column.keys or () if isinstance(key, str)]
    other = {word: flag for word, flag in (("1", "true"), ("0", "false")) if flag in keys and word not in keys}
    if physical.family == "double":
        double = _double(physical, sql, dialect)
        floats = {key: float(key) for key in keys if _is_float(key)} | {other[word]: float(word) for word in other}
        known = " ".join(
            f"WHEN {double} = {dialect.float_literal(value)} THEN {dialect.literal(key)}"
            for key, value in floats.items()
        )
        found = f"(CASE {known} END)" if known else dialect.cast("NULL", dialect.text)
        return _where(dialect.is_number(double, dialect.double), found)
    text = read_text(column, physical, sql, dialect)
    if text is None or not other:
        return text
    known = " ".join(f"WHEN {dialect.literal(word)} THEN {dialect.literal(flag)}" for word, flag in other.items())
    return f"(CASE {dialect.short(text, 1)} {known} ELSE {text} END)"


def read_category(column: Column, physical: Physical, sql: str, dialect: Dialect) -> str | None:
    """Write a declared key; what is none is null."""
    keys = column.keys or ()
    texts, wholes = [key for key in keys if isinstance(key, str)], [key for key in keys if isinstance(key, int)]
    if texts:
        text = key_text(column, physical, sql, dialect)
        return None if text is None else dialect.among(text, texts)
    unit = 10**physical.places
    match physical.family:
        case "integer" | "boolean" | "decimal":
            number, kind = _counted(physical, sql, dialect)
        case "double":
            number, kind = _whole_double(physical, sql, wholes, dialect)
        case "numeric":
            kind = Physical.parse(dialect.wide)
            least, most = (dialect.cast(str(bound), dialect.wide) for bound in (kind.low, kind.high))
            # Rounded down it has no decimal places left, not even zeros.
            whole = dialect.floor(sql)
            found = _where(f"{sql} BETWEEN {least} AND {most} AND {sql} = {whole}", whole)
            number = _where(dialect.is_number(sql, physical.name), found)
        case "text":
            number, kind = dialect.whole_of_text(_spelled(physical, sql, dialect), WHOLE), Physical.parse(dialect.wide)
            if {0, 1} & {*wholes}:
                number = _or_flags(number, physical, sql, [0, 1], kind.name, dialect)
        case _:
            return None
    # A decimal that is a key is a multiple of its unit, so the division is exact, whatever the sign.
    found = number if unit == 1 else dialect.floor_div(number, str(unit), wide=kind.name == dialect.wide)
    among = _is_among(number, [key * unit for key in wholes], kind, dialect)
    return _where(among, dialect.try_cast(found, _stored(wholes, dialect)))


READERS: dict[str, Callable[[Column, Physical, str, Dialect], str | None]] = {
    "number": read_number,
    "date": read_date,
    "flag": read_flag,
    "text": read_text,
    "category": read_category,
}


def storage(column: Column, dialect: Dialect) -> str:
    """Return the SQL type of a column once it is read; raises OutOfRange where there is none."""
    match column.kind:
        case "flag":
            return "BOOLEAN"
        case "number" | "date":
            return dialect.wide if is_wide(*column.steps) else dialect.narrow
    keys = [key for key in column.keys or () if isinstance(key, int)]
    return _stored(keys, dialect) if keys else dialect.text


def _stored(keys: list[int], dialect: Dialect) -> str:
    return dialect.wide if is_wide(min(keys), max(keys)) else dialect.narrow


def _where(condition: str, sql: str) -> str:
    return f"(CASE WHEN {condition} THEN {sql} END)"


def _double(physical: Physical, sql: str, dialect: Dialect) -> str:
    return sql if physical.name == dialect.double else dialect.cast(sql, dialect.double)


def _whole_double(physical: Physical, sql: str, keys: list[int], dialect: Dialect) -> tuple[str, Physical]:
    """Write a float that is a whole number as far as keys reach, else null, and the type that it then has."""
    far = max(map(abs, keys)) >= _LAST_WHOLE
    kind, last = (dialect.wide, math.nextafter(2.0**126, 0)) if far else (dialect.narrow, _LAST_WHOLE)
    double = _double(physical, sql, dialect)
    whole = _where(_is_whole(double, dialect, last), dialect.whole_of_double(double, kind))
    return _where(dialect.is_number(double, dialect.double), whole), Physical.parse(kind)


def _is_whole(double: str, dialect: Dialect, last: float = _LAST_WHOLE) -> str:
    least, most = (dialect.float_literal(bound) for bound in (-last, last))
    return f"{double} BETWEEN {least} AND {most} AND {double} = {dialect.floor(double)}"


def _text(physical: Physical, sql: str, dialect: Dialect) -> str:
    return dialect.plain_text(sql) if physical.name == "VARCHAR" else dialect.cast(sql, dialect.text)


def _spelled(physical: Physical, sql: str, dialect: Dialect) -> str:
    """Write a text that may spell a number, a day or a boolean; a longer one is null before anything reads it."""
    return dialect.short(_text(physical, sql, dialect), MOST_SPELLED)


def _or_flags(found: str, physical: Physical, sql: str, flags: list[int], kind: str, dialect: Dialect) -> str:
    """Read the texts false and true, if they were no numbers, as columns of booleans are read.

    A frame makes objects of booleans, which are copied as these texts, when a single value is missing.
    """
    no, yes = (dialect.cast(str(flag), kind) for flag in flags)
    return (
        f"COALESCE({found}, (CASE {_text(physical, sql, dialect)} WHEN 'true' THEN {yes} WHEN 'false' THEN {no} END))"
    )


def _or_ends(found: str, spelled: str, ends: tuple[int, int], kind: str, dialect: Dialect) -> str:
    """Read the texts of infinities, if they were no numbers, as the ends to which infinite floats are clamped."""
    word = dialect.ascii_lower(dialect.without_blanks(spelled))
    least, most = (dialect.cast(str(end), kind) for end in ends)
    below, above = (", ".join(map(dialect.literal, words)) for words in (BELOW, ABOVE))
    return f"COALESCE({found}, (CASE WHEN {word} IN ({above}) THEN {most} WHEN {word} IN ({below}) THEN {least} END))"


def _or_far(days: str, spelled: str, dialect: Dialect) -> str:
    """Read the texts of days beyond the calendar of four digits, and of infinite ones, as moments there are read."""
    least, most = (dialect.cast(str(sign * (_MOST_DAYS - 1)), dialect.narrow) for sign in (-1, 1))
    far = f"WHEN {dialect.matches(spelled, FAR_DAY)} THEN {most}"
    before = f"WHEN {dialect.matches(spelled, BEFORE_CHRIST)} THEN {least}"
    found = f"COALESCE({days}, (CASE {far} {before} END))"
    return _or_ends(found, spelled, (1 - _MOST_DAYS, _MOST_DAYS - 1), dialect.narrow, dialect)


def _is_float(key: str) -> bool:
    """Say whether a key is how floats are spelled: `Dialect.spelled_float`."""
    try:
        number = float(key)
    except ValueError:
        return False
    whole = number.is_integer() and abs(number) < WIDE
    return number == number and key == (str(int(number)) if whole else repr(number))


def _is_among(sql: str, keys: list[int], kind: Physical, dialect: Dialect) -> str:
    """Say whether a number is one of the keys, compared in its own type, into which those that it can hold fit.

    A run of keys without gaps is two comparisons, which are fast.
    """
    possible = [key for key in keys if kind.low <= key <= kind.high]
    listed = [dialect.cast(str(key), kind.name) for key in possible]
    if not possible:
        return "FALSE"
    if len(possible) > 1 and max(possible) - min(possible) + 1 == len(possible):
        least, most = (dialect.cast(str(edge), kind.name) for edge in (min(possible), max(possible)))
        return f"({sql} BETWEEN {least} AND {most})"
    return f"({sql} IN ({', '.join(listed)}))"


def _counted(physical: Physical, sql: str, dialect: Dialect) -> tuple[str, Physical]:
    """Return an exact number as a whole number of its last decimal place, and the type that it then has.

    That of a decimal has digits: its range is a claim of the source, which nothing relies upon.
    """
    if physical.family == "integer":
        return sql, physical
    if physical.family == "boolean":
        return dialect.flag_to_integer(sql), Physical(dialect.narrow, "integer", 0, 1)
    kind = dialect.wide if physical.high >= NARROW else dialect.narrow
    counted = Physical(kind, "integer", physical.low, physical.high, digits=physical.digits)
    sql = dialect.number(sql, physical)
    if physical.places == 0:
        return dialect.cast(sql, kind), counted
    if physical.digits + physical.places + 1 <= dialect.most_digits:
        factor = dialect.cast(str(10**physical.places), f"DECIMAL({physical.places + 1}, 0)")
        if physical.digits <= _SHORT_DECIMAL < physical.digits + physical.places + 1:
            # The product of two short decimals is a short one in DuckDB, which fails on a number that does not fit.
            sql = dialect.cast(sql, f"DECIMAL({_SHORT_DECIMAL + 1}, {physical.places})")
        return dialect.cast(f"({sql} * {factor})", kind), counted
    # Multiplied it would not fit a decimal; written without its point it is the same integer.
    return dialect.try_cast(f"replace({dialect.cast(sql, dialect.text)}, '.', '')", kind), counted


def _exact(
    counted: tuple[str, Physical], bounds: tuple[int, int], step: Fraction, places: int, dialect: Dialect
) -> str:
    """Round a whole number of units to the step without any float: clamp around the bounds, divide, clamp."""
    sql, physical = counted
    ratio = Fraction(1, 10**places) / step
    first, last = math.floor(bounds[0] / ratio), math.ceil(bounds[1] / ratio)
    # A bound beyond what the type can hold clamps nothing; one on the wrong side of it clamps everything.
    low, high = (min(max(bound, physical.low), physical.high) for bound in (first, last))
    kind = dialect.wide if is_wide(low, high) else dialect.narrow
    if (low, high) == (physical.low, physical.high) and not physical.digits:
        inner = sql if physical.name == kind else dialect.cast(sql, kind)
    else:
        least, most = (dialect.cast(str(bound), physical.name) for bound in (low, high))
        cast = sql if physical.name == kind else dialect.try_cast(sql, kind)
        inner = clamp_sql(sql, (least, dialect.literal(low)), (most, dialect.literal(high)), cast)
    whole = Whole(inner, low, high, dialect, wide=kind == dialect.wide)
    found = whole.rounded(ratio.numerator, ratio.denominator).clamped(*bounds)
    # Where the source's type is narrower than the declaration, the declaration says how the column is stored.
    return found.written(wide=True) if is_wide(*bounds) else found.stored


def _from_double(sql: str, bounds: tuple[int, int], step: Fraction, dialect: Dialect) -> str:
    """Round a float that is a number, and a whole one exactly as an integer column of the same values would be."""
    rounded = _floating(sql, bounds, step, dialect)
    if _suit_floats(bounds, step):
        return rounded
    # Whole floats beyond 2^53 matter where the bounds reach so far.
    far = max(map(abs, bounds)) * step >= _LAST_WHOLE
    kind = dialect.wide if far else dialect.narrow
    for bits in (126, 64) if far else (53,):
        whole = Physical(kind, "integer", 1 - (1 << bits), (1 << bits) - 1)
        try:
            exact = _exact((dialect.whole_of_double(sql, kind), whole), bounds, step, 0, dialect)
        except OutOfRange:  # an integer column of so many bits is refused here, so there is none to agree with
            continue
        return f"(CASE WHEN {_is_whole(sql, dialect, math.nextafter(2.0**bits, 0))} THEN {exact} ELSE {rounded} END)"
    return rounded


def _from_text(text: str, bounds: tuple[int, int], step: Fraction, dialect: Dialect) -> str:
    """Round the number that a text spells, and a whole one exactly as an integer column of the same values would be."""
    rounded = _floating(dialect.double_of_text(text, NUMBER), bounds, step, dialect)
    if _suit_floats(bounds, step):
        return rounded
    whole = dialect.whole_of_text(text, WHOLE)
    for bits in (126, 64):
        kind = Physical(dialect.wide, "integer", 1 - (1 << bits), (1 << bits) - 1)
        try:
            exact = _exact((whole, kind), bounds, step, 0, dialect)
        except OutOfRange:
            continue
        least, most = (dialect.cast(str(bound), dialect.wide) for bound in (kind.low, kind.high))
        # Bounds within the range clamp what lies beyond it.
        within = max(map(abs, bounds)) * step + 1 < kind.high
        return f"COALESCE({exact if within else _where(f'{whole} BETWEEN {least} AND {most}', exact)}, {rounded})"
    return rounded


def _suit_floats(bounds: tuple[int, int], step: Fraction) -> bool:
    """Say whether floats round integers as exact arithmetic does."""
    return max(map(abs, bounds)) * step.numerator < _MOST_STEPS and step.denominator < _MOST_DENOMINATOR


def _floating(sql: str, bounds: tuple[int, int], step: Fraction, dialect: Dialect) -> str:
    """Round a float to the step, in floats, and clamp; NaN was sorted out before.

    Each operation of the rounding is monotone, so the floats which land within the bounds are those between two
    thresholds. Comparing with these first costs two comparisons and lets no float reach the cast that it could fail.
    """
    low, high = bounds
    top, bottom = as_float(step.denominator), as_float(step.numerator)
    scaled = sql if top == 1 else f"({sql} * {dialect.float_literal(top)})"
    scaled = scaled if bottom == 1 else dialect.divided(scaled, bottom)
    rounded = dialect.floor(f"({scaled} + {dialect.float_literal(0.5)})")
    first, last = thresholds(bounds, step)
    least, most = dialect.float_literal(first), dialect.float_literal(last)
    kind = dialect.wide if is_wide(low, high) else dialect.narrow
    lowest, highest = (dialect.cast(str(bound), kind) for bound in bounds)
    return clamp_sql(sql, (least, lowest), (most, highest), dialect.whole_of_double(rounded, kind))


def _unlimited(sql: str, bounds: tuple[int, int], step: Fraction, dialect: Dialect) -> str:
    """Round an exact number of any size, infinite ones too: clamp it around the bounds, multiply, round, clamp."""
    low, high = bounds
    kind = dialect.wide if is_wide(low, high) else dialect.narrow
    first, last = math.floor(low * step) - 1, math.ceil(high * step) + 1
    least, most = (dialect.cast(str(bound), dialect.wide) for bound in (first, last))
    lowest, highest = (dialect.cast(str(bound), kind) for bound in bounds)
    # floor(x * a / b + 1/2) is floor(floor(2 * a * x + b) / (2 * b)).
    top, bottom = (dialect.cast(str(each), dialect.wide) for each in (2 * step.denominator, step.numerator))
    doubled = dialect.floor(f"({sql} * {top} + {bottom})")
    reach = [2 * step.denominator * bound + step.numerator for bound in (first, last)]
    least_steps, most_steps = (math.floor(bound / step + Fraction(1, 2)) for bound in (first, last))
    divisor = Whole.constant(2 * step.numerator, dialect)
    inside = (
        Whole(doubled, reach[0], reach[1], dialect, wide=True).over(divisor, least_steps, most_steps).clamped(low, high)
    )
    found = inside.written(wide=True) if is_wide(low, high) else inside.stored
    return clamp_sql(sql, (least, lowest), (most, highest), found)
