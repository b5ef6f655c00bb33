"""A plain Python reader and evaluator: exact fractions, one row at a time; of the code only kinds are asked."""

import datetime as dt
import math
import re
from decimal import Decimal
from fractions import Fraction

from discreet.plan.expressions import Arithmetic, Call, Case, Compare, Literal, Logic, Name
from discreet.plan.types import type_of

EPOCH = dt.date(1970, 1, 1)
FIRST, LAST = (dt.date.min - EPOCH).days, (dt.date.max - EPOCH).days
HALF = Fraction(1, 2)
NUMBER = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *")
WHOLE = re.compile(r" *[+-]?[0-9]+ *")
DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([ T][0-9:.Z+-]*)?")
FAR_DAY = re.compile(r"[0-9]{5,6}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]*)?")
BEFORE_CHRIST = re.compile(r"[0-9]{4,6}-[0-9]{2}-[0-9]{2} [(]BC[)][ 0-9:.+-]*")
FLAGS = {"false": 0, "true": 1}
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


def read(column, raw):
    """Return what a raw value becomes in a declared column: steps, days, a flag, a key, text, or None."""
    if raw is None or (isinstance(raw, str) and len(raw.encode()) > most_bytes(column)):
        return None
    match column.kind:
        case "number":
            steps = read_number(column, raw)
            return None if steps is None else min(max(steps, column.steps[0]), column.steps[1])
        case "date":
            days = read_days(raw)
            return None if days is None else min(max(days, column.steps[0]), column.steps[1])
        case "flag":
            return read_flag(raw)
        case "text":
            return read_text(raw)
        case "category":
            key = read_text(raw) if isinstance(column.keys[0], str) else read_whole(raw)
            word = {"1": "true", "0": "false"}.get(key)
            key = word if word in column.keys and key not in column.keys else key
            return key if key in column.keys else None


def most_bytes(column):
    """How long a text may be that is read as such a column."""
    plain = column.kind == "text" or isinstance((column.keys or (0,))[0], str)
    return 65_536 if plain else 1_000


def read_number(column, raw):
    if isinstance(raw, str):
        if raw in FLAGS:
            raw = FLAGS[raw]
        elif (end := infinity(raw)) is not None:
            raw = end
        elif not NUMBER.fullmatch(raw):
            return None
        else:
            whole = int(raw) if WHOLE.fullmatch(raw) else None
            raw = float(raw) if whole is None or abs(whole) >= 1 << 126 else whole
    if isinstance(raw, float) and (whole := whole_float(raw, (1 << 126) - 1)) is not None:
        raw = whole  # as an integer column of the same values
    if isinstance(raw, float):
        return None if math.isnan(raw) else round_float(raw, column)
    if isinstance(raw, int | Decimal):
        return math.floor(Fraction(raw) / column.step + HALF)
    return None


def infinity(raw):
    """Return the infinity that a text spells."""
    word = lowered(raw)
    ends = dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf)
    return ends.get(word, -math.inf if word in ("-inf", "-infinity") else None)


def lowered(raw):
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in raw.strip(" "))


def round_float(value, column):
    try:
        steps = value * float(column.step.denominator) / float(column.step.numerator) + 0.5
    except OverflowError:  # Python refuses integers beyond floats; such steps are tested apart
        raise AssertionError("step beyond floats") from None
    if math.isinf(steps):
        return column.steps[1] if steps > 0 else column.steps[0]
    return math.floor(steps)


def read_days(raw):
    if isinstance(raw, dt.datetime):
        raw = raw.astimezone(dt.UTC) if raw.tzinfo else raw
        return (raw.date() - EPOCH).days
    if isinstance(raw, dt.date):
        return (raw - EPOCH).days
    if isinstance(raw, str) and (FAR_DAY.fullmatch(raw) or infinity(raw) == math.inf):
        return 10**9
    if isinstance(raw, str) and (BEFORE_CHRIST.fullmatch(raw) or infinity(raw) == -math.inf):
        return -(10**9)
    found = DAY.fullmatch(raw) if isinstance(raw, str) else None
    if not found:
        return None
    year, month, day = (int(part) for part in found.groups()[:3])
    try:  # 400 years are a whole number of days, and Python's calendar has no year 0
        return (dt.date(year + (400 if year == 0 else 0), month, day) - EPOCH).days - (146097 if year == 0 else 0)
    except ValueError:
        return None


def read_flag(raw):
    if isinstance(raw, str):
        word = lowered(raw)
        return True if word in TRUE else False if word in FALSE else None
    if isinstance(raw, bool | int | float | Decimal):
        return True if raw == 1 else False if raw == 0 else None
    return None


def read_text(raw):
    if isinstance(raw, bool):
        return "1" if raw else "0"
    if isinstance(raw, str):
        return raw
    if isinstance(raw, float):
        whole = whole_float(raw, (1 << 126) - 1)
        return None if math.isnan(raw) else repr(raw) if whole is None else str(whole)
    if isinstance(raw, int) or (isinstance(raw, Decimal) and raw.as_tuple().exponent == 0):
        return str(int(raw))
    return None


def read_whole(raw):
    if isinstance(raw, str):
        found = int(raw) if WHOLE.fullmatch(raw) else FLAGS.get(raw)
        return found if found is not None and abs(found) < 1 << 127 else None
    if isinstance(raw, bool | int):
        return int(raw)
    if isinstance(raw, Decimal):
        return int(raw) if raw == int(raw) else None
    return whole_float(raw, (1 << 126) - 1) if isinstance(raw, float) else None


def whole_float(raw, most=1 << 53):
    return int(raw) if math.isfinite(raw) and raw == int(raw) and abs(raw) <= most else None


def evaluate(expression, row, columns):
    """Return the value of an expression in a row of values that are already read, in the same form."""
    found = value_of(expression, row, columns)
    match found, type_of(expression, columns).kind:
        case None, _:
            return None
        case _, "number":
            steps = found / (step_of(expression, columns) or 1)
            assert steps.denominator == 1
            return int(steps)
        case str(), "date":
            return (dt.date.fromisoformat(found) - EPOCH).days
        case _, "date":
            return (found - EPOCH).days
        case Fraction(), "category":
            return int(found)
    return found


def value_of(expression, row, columns):
    """Return the real value: a Fraction, a date, a text, a key (int), a boolean, or None."""
    match expression:
        case Name(name=name):
            return from_row(row[name], columns[name])
        case Literal(value=value):
            return value
        case Case(branches=branches, default=default):
            for condition, value in branches:
                if value_of(condition, row, columns) is True:
                    return value_of(value, row, columns)
            return None if default is None else value_of(default, row, columns)
    values = [value_of(part, row, columns) for part in expression.parts]
    match expression:
        case Logic(word=word):
            return kleene(word, values)
        case Call(function="is_null"):
            return values[0] is None
        case Call(function="fill_null"):
            return values[1] if values[0] is None else values[0]
    if None in values:
        return None
    match expression:
        case Arithmetic(sign="/"):
            return divide(*values, step_of(expression, columns))
        case Arithmetic(sign=sign):
            return shift(sign, *alike(values))
        case Compare(order=order):
            return ordered(order, *alike(values))
        case Call(function=function, parameters=parameters):
            return FUNCTIONS[function](alike(values), parameters, step_of_number(expression.of[0], columns))


def from_row(value, column):
    if value is None:
        return None
    if column.kind == "number":
        return value * column.step
    return EPOCH + dt.timedelta(value) if column.kind == "date" else value


def alike(values):
    """Read texts beside dates as dates, and numbers beside integer keys as integers."""
    if any(isinstance(value, dt.date) for value in values):
        return [dt.date.fromisoformat(value) if isinstance(value, str) else value for value in values]
    return values


def kleene(word, values):
    if word == "not":
        return None if values[0] is None else not values[0]
    decided = word == "or"
    if decided in values:
        return decided
    return None if None in values else not decided


def divide(above, below, step):
    return None if below == 0 else math.floor(above / below / step + HALF) * step


def shift(sign, left, right):
    if isinstance(left, dt.date) and isinstance(right, dt.date):
        return Fraction((left - right).days)
    if isinstance(left, dt.date) or isinstance(right, dt.date):
        day, by = (left, right) if isinstance(left, dt.date) else (right, left)
        moved = (day - EPOCH).days + (by if sign == "+" else -by)
        return EPOCH + dt.timedelta(int(min(max(moved, FIRST), LAST)))
    return {"+": left + right, "-": left - right, "*": left * right}[sign]


def ordered(order, left, right):
    if order in ("==", "!="):
        return (left == right) is (order == "==")
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[order]


def clip(values, parameters, step):
    (value,) = values
    if isinstance(value, dt.date):
        low, high = (dt.date.fromisoformat(b) if isinstance(b, str) else b for b in parameters)
    else:
        low = None if parameters[0] is None else math.ceil(parameters[0] / step) * step
        high = None if parameters[1] is None else math.floor(parameters[1] / step) * step
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


FUNCTIONS = {
    "abs": lambda values, _parameters, _step: abs(values[0]),
    "as_number": lambda values, _parameters, _step: Fraction(values[0]),
    "clip": clip,
    "day": lambda values, _parameters, _step: Fraction(values[0].day),
    "greatest": lambda values, _parameters, _step: max(values),
    "is_in": lambda values, _parameters, _step: values[0] in values[1:],
    "least": lambda values, _parameters, _step: min(values),
    "length": lambda values, _parameters, _step: Fraction(len(values[0])),
    "month": lambda values, _parameters, _step: Fraction(values[0].month),
    "round": lambda values, parameters, _step: math.floor(values[0] / parameters[0] + HALF) * parameters[0],
    "like": lambda values, parameters, _step: bool(
        re.fullmatch(".*".join(map(re.escape, parameters[0].split("%"))), values[0], re.DOTALL)
    ),
    "starts_with": lambda values, parameters, _step: values[0].startswith(parameters[0]),
    "substring": lambda values, parameters, _step: values[0][int(parameters[0]) - 1 :][: int(parameters[1])],
    "weekday": lambda values, _parameters, _step: Fraction(values[0].isoweekday()),
    "year": lambda values, _parameters, _step: Fraction(values[0].year),
}


def step_of_number(expression, columns):
    return step_of(expression, columns) or Fraction(1)


def step_of(expression, columns):
    """Return the step of a number by the rules of the page, None for other kinds; the constant 0 has every step."""
    match expression:
        case Name(name=name):
            return columns[name].step
        case Literal(value=bool()):
            return None
        case Literal(value=Fraction() as value):
            return abs(value)
        case Literal() | Compare() | Logic():
            return None
        case Arithmetic(sign="/", step=step) if step is not None:
            return step
        case Arithmetic(sign=sign, left=left, right=right):
            steps = [step_of(part, columns) for part in (left, right)]
            if sign in "+-" and None in steps:
                return Fraction(1)  # days
            known = [step for step in steps if step]
            if sign == "*":
                return math.prod(known, start=Fraction(1))
            return common(steps) if sign in "+-" else min(known, default=Fraction(1))
        case Case(branches=branches, default=default):
            values = [value for _, value in branches] + ([] if default is None else [default])
            return common([step_of(value, columns) for value in values])
        case Call(function="round", parameters=(step,)):
            return step
        case Call(function="least" | "greatest" | "fill_null", of=of):
            return common([step_of(part, columns) for part in of])
        case Call(function="abs" | "clip", of=of):
            return step_of(of[0], columns) or Fraction(1)
        case Call(function="as_number", of=of):
            return step_of(of[0], columns) or Fraction(1)
        case Call(function="year" | "month" | "day" | "weekday" | "length"):
            return Fraction(1)
    return None


def common(steps):
    known = [step for step in steps if step]
    if not known:
        return Fraction(1)
    below = math.lcm(*(step.denominator for step in known))
    return Fraction(math.gcd(*(int(step * below) for step in known)), below)
