"""Expressions: what Python's operators build, and what they must not be used for."""

import copy
import datetime as dt
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import BadParameter, Refusal
from discreet.plan.expressions import Arithmetic, Call, Case, Compare, Literal, Logic, Name, greatest, least, when

x, y = Name("x"), Name("y")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (x + 1, "(x + 1)"),
        (1 - x, "(1 - x)"),
        (x * 0.1, "(x * 1/10)"),
        (2 / x, "(2 / x)"),
        (x.divided_by(y, step=0.01), "x.divided_by(y, step=1/100)"),
        (-x, "(-1 * x)"),
        (abs(x), "x.abs()"),
        ((x > 1) & ~(y == "A"), "((x > 1) & ~(y == 'A'))"),
        ((x != 1) | (y <= dt.date(2024, 2, 29)), "((x != 1) | (y <= 2024-02-29))"),
        (x.clip(0, 9).round(0.5), "x.clip(0, 9).round(1/2)"),
        (when(x > 1, "a").otherwise("b"), "when((x > 1)).then('a').otherwise('b')"),
        (when(x > 1).then(1).when(x > 0).then(2), "when((x > 1)).then(1).when((x > 0)).then(2)"),
        (least(x, y, 3), "least(x, y, 3)"),
        (greatest(x, y).fill_null(0), "greatest(x, y).fill_null(0)"),
        (x.is_in(["A", "B"]), "x.is_in('A', 'B')"),
        (x.starts_with("A").as_number(), "x.starts_with(A).as_number()"),
        (x.year() + x.month() + x.day() + x.weekday(), "(((x.year() + x.month()) + x.day()) + x.weekday())"),
        (x.is_null() | (y.length() > 3), "(x.is_null() | (y.length() > 3))"),
    ],
)
def test_an_expression_reads_as_it_was_written(expression, text):
    assert repr(expression) == text


@pytest.mark.parametrize("number", [0.1, Decimal("0.1"), Fraction(1, 10)])
def test_numbers_are_exact_as_written(number):
    assert (x + number).same_as(x + Fraction(1, 10))


@pytest.mark.parametrize("number", [np.int64(3), np.float64(3), 3])
def test_numbers_of_numpy_may_stand_on_either_side(number):
    assert (number + x).same_as(3 + x)
    assert (x < number).same_as(x < 3)


def test_same_as_compares_structure_and_types():
    assert (x + 1).same_as(Name("x") + 1)
    assert not (x + 1).same_as(x + 2)
    assert not (x == True).same_as(x == 1)  # noqa: E712
    assert not (x == "1").same_as(x == 1)
    assert not when(x > 1, 1).same_as(when(x > 1, 1).otherwise(2))
    assert not x.clip(0, None).same_as(x.clip(None, 0))


def test_expressions_hash_by_identity_and_survive_copies():
    expression = (x + 1).round(2)
    assert {expression: 1}[expression] == 1
    for other in (copy.deepcopy(expression), pickle.loads(pickle.dumps(expression))):
        assert other.same_as(expression)
        assert (other.size, other.depth) == (expression.size, expression.depth)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: bool(x > 1),
        lambda: (x > 1) and (y > 1),
        lambda: (x > 1) or (y > 1),
        lambda: not (x > 1),
        lambda: 0 < x < 9,
        lambda: x in [y],
        lambda: max(x, y),
        lambda: 1 if x == 1 else 2,
    ],
)
def test_the_truth_of_an_expression_is_refused_with_the_fix(ask):
    with pytest.raises(Refusal) as refused:
        ask()
    assert "a value for each row" in refused.value.why
    assert "write &, | and ~" in refused.value.fix
    assert "is_in()" in refused.value.fix


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: x == None, "value=None: null equals nothing. Fix: use is_null(), or leave otherwise() out."),  # noqa: E711
        (
            lambda: x > dt.datetime(2024, 1, 1),
            "value=datetime.datetime(2024, 1, 1, 0, 0): columns have days, not moments. Fix: write moment.date().",
        ),
        (lambda: x * [1], "value=[1]: it is not a number. Fix: use an int, Fraction, Decimal or float."),
        (
            lambda: x == "a\0b",
            "text='a\\x00b': engines cannot store NUL or lone surrogates. Fix: remove the characters.",
        ),
        (lambda: x.round(0), "step=0: results are multiples of it. Fix: use a positive number such as 0.01."),
        (lambda: x.is_in("AB"), "values='AB': it is not a list. Fix: write is_in(['A', 'B'])."),
        (
            lambda: x.is_in([]),
            "values=[]: it lists constants, at least one. Fix: compare columns with ==, joined by |.",
        ),
        (lambda: x.clip(True), "low=True: a boolean is not a bound. Fix: use a number or a day."),
        (lambda: x.starts_with(3), "prefix=3: it is not text. Fix: write starts_with('A')."),
        (lambda: Arithmetic("%", x, y), "operator '%': there is no operator of that name. Fix: use one of *, +, -, /."),
        (lambda: Logic("and", (x,)), "of=1: not joins one, and and or join two. Fix: write &, | or ~."),
        (lambda: Case(()), "branches=(): there is nothing to choose. Fix: write when(condition, value)."),
        (lambda: Call("abs", ()), "of=(): abs() needs a value. Fix: pass at least one column."),
        (
            lambda: Arithmetic("+", x, y, Fraction(1)),
            "step=Fraction(1, 1): only a quotient has a step of its own. Fix: use round(step).",
        ),
        (
            lambda: Name(" "),
            "name=' ': a name is printable text. Fix: use a short word such as 'age'.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_written(make, text):
    with pytest.raises(Refusal) as refused:
        make()
    assert str(refused.value) == text


def repeated(step, times):
    expression = x
    for _ in range(times):
        expression = step(expression)
    return expression


def test_an_expression_that_doubles_itself_is_refused_before_it_fills_memory():
    with pytest.raises(BadParameter, match="derive") as refused:
        repeated(lambda expression: expression + expression, 100)
    assert refused.value.name == "size"


def test_a_long_chain_is_refused_before_it_exhausts_the_stack():
    with pytest.raises(BadParameter, match="derive") as refused:
        repeated(lambda expression: expression + 1, 1000)
    assert refused.value.name == "depth"


def test_nodes_are_frozen():
    with pytest.raises(AttributeError):
        Literal(Fraction(1)).value = Fraction(2)
    with pytest.raises(AttributeError):
        Compare("==", x, y).order = "<"


def test_expressions_need_no_third_party_module():
    script = (
        "import sys, discreet.plan.to_sql.scalar, discreet.plan.aggregates;"
        "print({'duckdb', 'numpy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
