"""Types: bounds and steps derived exactly, and refusals that say what, why and fix."""

import datetime as dt
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan.expressions import Call, Name, greatest, least, when
from discreet.plan.function import FUNCTIONS
from discreet.plan.refusals import IllTyped, TooWide
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.types import check_predicate, type_of
from tests.plan.strategies import OPERATORS

DECLARED = {
    "age": dp.between(0, 110),
    "cost": dp.between(0, 50_000, step=0.01),
    "change": dp.between(-20, 30, step=0.5),
    "rate": dp.between(-1, 1, step=0.1),
    "zero": dp.between(0, 0),
    "sure": dp.between(1, 5, nullable=False),
    "huge": dp.between(0, 10**30),
    "ward": dp.one_of("north", "south"),
    "grade": dp.one_of(1, 2, 5),
    "admitted": dp.date("2024-01-15", "2024-03-10"),
    "born": dp.date("1900-01-01", "2024-12-31"),
    "emergency": dp.flag(),
    "remarks": dp.text(),
}
COLUMNS = {name: column.named(name) for name, column in DECLARED.items()}
age, cost, change, rate, zero, sure, huge, ward, grade, admitted, born, emergency, remarks = map(Name, COLUMNS)


@pytest.mark.parametrize(
    ("expression", "low", "high", "step"),
    [
        (age + 1, 1, 111, 1),
        (age + 0.1, "1/10", "1101/10", "1/10"),
        (age - cost, -50_000, 110, "1/100"),
        (1 - age, -109, 1, 1),
        (-change, -30, 20, "1/2"),
        (change * rate, -30, 30, "1/20"),
        (change * change, 0, 900, "1/4"),
        (age * 0, 0, 0, 1),
        (cost / 2, 0, 25_000, "1/100"),
        (age / 4, 0, 28, 1),
        (age.divided_by(4, step=0.25), 0, "55/2", "1/4"),
        (age / change, -220, 220, "1/2"),
        (age / rate, -1100, 1100, "1/10"),
        (age / sure, 0, 110, 1),
        (age / zero, 0, 0, 1),
        (age / 0, 0, 0, 1),
        (abs(change), 0, 30, "1/2"),
        (change.round(7), -21, 28, 7),
        (change.round(0.1), -20, 30, "1/10"),
        (change.clip(-1.3, 1.3), -1, 1, "1/2"),
        (change.clip(low=40), 40, 40, "1/2"),
        (change.clip(high=-40), -40, -40, "1/2"),
        (change.clip(), -20, 30, "1/2"),
        (least(age, change), -20, 30, "1/2"),
        (greatest(age, change, 200), 200, 200, "1/2"),
        (when(emergency, age).otherwise(-3), -3, 110, 1),
        (when(emergency, 0.5).otherwise(0), 0, "1/2", "1/2"),
        (change.fill_null(99), -20, 99, "1/2"),
        (emergency.as_number(), 0, 1, 1),
        (grade.as_number() * 2, 2, 10, 2),
        (admitted.month(), 1, 3, 1),
        (admitted.day(), 1, 31, 1),
        (admitted.year(), 2024, 2024, 1),
        (born.month(), 1, 12, 1),
        (born.weekday(), 1, 7, 1),
        (admitted.clip(low="2024-03-02").day(), 2, 10, 1),
        (admitted - born, -351, 45_359, 1),
        (admitted - "2024-01-01", 14, 69, 1),
        (ward.length(), 5, 5, 1),
        (remarks.length(), 0, 2**31 - 1, 1),
    ],
)
def test_bounds_and_steps_are_derived_exactly(expression, low, high, step):
    column = type_of(expression, COLUMNS)
    assert (column.kind, column.bounds, column.step) == ("number", (Fraction(low), Fraction(high)), Fraction(step))


@pytest.mark.parametrize(
    ("expression", "first", "last"),
    [
        (admitted + 7, "2024-01-22", "2024-03-17"),
        (7 + admitted, "2024-01-22", "2024-03-17"),
        (admitted - age, "2023-09-27", "2024-03-10"),
        (admitted + 10**20, "9999-12-31", "9999-12-31"),
        (admitted - 10**20, "0001-01-01", "0001-01-01"),
        (admitted.fill_null("2030-01-01"), "2024-01-15", "2030-01-01"),
        (least(admitted, born), "1900-01-01", "2024-03-10"),
    ],
)
def test_dates_stay_in_the_calendar(expression, first, last):
    bounds = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    assert type_of(expression, COLUMNS).bounds == bounds


@pytest.mark.parametrize(
    ("expression", "nullable"),
    [
        (sure + 1, False),
        (sure + age, True),
        (sure / sure, False),
        (sure / (sure - 1), True),
        (age.fill_null(0), False),
        (age.fill_null(cost), True),
        (age.is_null(), False),
        (when(emergency, 1), True),
        (when(emergency, 1).otherwise(0), False),
        ((sure > 1) & (sure < 3), False),
    ],
)
def test_nulls_are_propagated(expression, nullable):
    assert type_of(expression, COLUMNS).nullable is nullable


def test_a_choice_between_texts_is_a_category_of_their_keys():
    assert type_of(when(age < 18, "child").otherwise("adult"), COLUMNS).keys == ("child", "adult")
    assert type_of(ward.fill_null("unknown"), COLUMNS).keys == ("north", "south", "unknown")
    assert type_of(grade.fill_null(9), COLUMNS).keys == (1, 2, 5, 9)
    assert type_of(when(emergency, remarks).otherwise(ward), COLUMNS).kind == "text"


REFUSED = {
    Name("agee"): "column 'agee': there is no column of that name. Fix: did you mean 'age' or 'change' or 'rate'?",
    ward == "nort": "key of ward 'nort': there is no key of ward of that name. Fix: did you mean 'north'?",
    ward.is_in(["north", "suoth"]): (
        "key of ward 'suoth': there is no key of ward of that name. Fix: did you mean 'south' or 'north'?"
    ),
    grade == 3: "grade=3: it is not among the declared keys. Fix: use one of 1, 2, 5.",
    ward + 1: (
        "(ward + 1): ward is a category, and only numbers can be added, subtracted, multiplied and divided. "
        "Fix: use a column of the right kind, or when() to make one."
    ),
    emergency * 2: (
        "(emergency * 2): emergency is a flag, and only numbers can be added, subtracted, multiplied and divided. "
        "Fix: convert it with as_number()."
    ),
    admitted * 2: (
        "(admitted * 2): admitted is a date, and only numbers can be added, subtracted, multiplied and divided. "
        "Fix: take year(), month(), day() or weekday(), or subtract another date."
    ),
    admitted + born: (
        "(admitted + born): dates are not added, nor subtracted from numbers. "
        "Fix: write last - first for the days between, date + 7 for a later day."
    ),
    admitted + change: "(admitted + change): change is not a whole number of days. Fix: round it with round(1).",
    admitted > "2024-1-1": (
        "'2024-1-1': '2024-1-1' is not a day. Fix: write days as '2024-02-29' or as datetime.date."
    ),
    remarks < "a": (
        "(remarks < 'a'): a text has no order that all engines agree on. Fix: use == or !=, is_in() or as_number()."
    ),
    age == "1": "(age == '1'): age is a number and '1' is a category. Fix: convert with as_number() where the keys are "
    "integers or flags, else compare with a text.",
    ward == grade: "(ward == grade): text never equals an integer. Fix: compare keys of one type.",
    age & emergency: (
        "(age & emergency): age is a number, and only flags can be joined by &, | and ~. "
        "Fix: compare it with something, for example == or >=."
    ),
    when(age, 1): (
        "when(age).then(1): age is a number, and only flags can be conditions. "
        "Fix: compare it with something, for example == or >=."
    ),
    when(emergency, 1).otherwise("a"): (
        "when(emergency).then(1).otherwise('a'): a choice is between values of one kind: 1 is a number, "
        "'a' is a category. Fix: convert with as_number()."
    ),
    ward.as_number(): (
        "ward.as_number(): the keys of ward are text. "
        "Fix: write when(x == 'A', 1).otherwise(0) to give each key a number."
    ),
    age.length(): "age.length(): age is a number, not text. Fix: use a text column, or a category whose keys are text.",
    age.clip(9, 1): (
        "age.clip(9, 1): nothing that age can be lies between the bounds. "
        "Fix: give the smaller bound first, at least one step below the other."
    ),
    age.clip("a"): "age.clip(a): 'a' is not a number. Fix: clip numbers to numbers, and dates to days.",
    huge * huge: (
        "(huge * huge): counted in steps its values, or what is computed on the way, might not fit 126 bits. "
        "Fix: narrow what goes in with clip(low, high), or coarsen it with round(step)."
    ),
    Call("rund", (age,)): ("function 'rund': there is no function of that name. Fix: did you mean 'round'?"),
}


@pytest.mark.parametrize(("expression", "text"), REFUSED.items(), ids=map(repr, REFUSED))
def test_what_means_nothing_is_refused_with_the_fix(expression, text):
    with pytest.raises(Refusal) as refused:
        type_of(expression, COLUMNS)
    assert str(refused.value) == text
    assert refused.value.value is not None


def test_what_the_fix_says_works():
    assert type_of(huge.round(10**15) * huge.clip(0, 10**6), COLUMNS).steps == (0, 10**21)


@pytest.mark.parametrize(
    "call",
    [
        Call("round", (age,)),
        Call("round", (age,), (Fraction(-1),)),
        Call("round", (age,), ("1",)),
        Call("clip", (age,), (Fraction(1),)),
        Call("abs", (age, age)),
        Call("least", (age,)),
        Call("starts_with", (remarks,), (Fraction(1),)),
        Call("is_in", (age, cost)),
        Call("year", (admitted,), (Fraction(1),)),
    ],
    ids=repr,
)
def test_a_forged_call_is_refused(call):
    with pytest.raises(Refusal):
        type_of(call, COLUMNS)


def test_only_flags_are_conditions():
    check_predicate(age > 1, COLUMNS)
    with pytest.raises(IllTyped, match="not true or false"):
        check_predicate(age, COLUMNS)


def test_sql_that_grows_without_end_is_refused():
    expression = age
    for _ in range(12):
        expression = expression.clip(1, 100) * 2 - 50
    with pytest.raises(TooWide, match="derive"):
        type_of(expression, COLUMNS)


@pytest.mark.parametrize("expression", REFUSED, ids=repr)
def test_sql_is_refused_in_the_same_words_as_the_type(expression):
    with pytest.raises(Refusal) as refused:
        expression_sql(expression, COLUMNS)
    assert str(refused.value) == REFUSED[expression]


@pytest.mark.parametrize("name", [*FUNCTIONS, *OPERATORS])
def test_every_function_and_operator_is_on_the_page(name):
    page = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
    word = {"square": "*", "days between": "date - date", "date +": "date + days", "date -": "date - days"}.get(
        name, name
    )
    word = {"label": "when"}.get(word, word)
    assert f"| `{word}" in page.replace("\\|", "|")


def test_every_function_is_reached_by_a_method():
    named = {"least": least, "greatest": greatest}
    assert all(name in named or callable(getattr(Name("x"), name, None)) for name in FUNCTIONS)
