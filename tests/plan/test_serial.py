"""Records of expressions: canonical, exact, and checked when they come back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import Refusal
from discreet.plan.expressions import Literal, Name, when
from discreet.plan.serial import (
    canonical,
    constant_from_record,
    constant_record,
    expression_from_record,
    expression_record,
)
from discreet.plan.to_sql.scalar import expression_sql
from tests.plan.strategies import OPERATORS, accepted, schemas


@settings(max_examples=100)
@given(st.data())
def test_every_expression_comes_back_from_its_record(data):
    schema = data.draw(schemas())
    expression = data.draw(OPERATORS[data.draw(st.sampled_from(sorted(OPERATORS)))](schema, 1))
    text = json.dumps(expression_record(expression))
    back = expression_from_record(json.loads(text))
    assert back.same_as(expression)
    assert canonical(back) == canonical(expression)
    if accepted(expression, schema):
        assert expression_sql(back, schema) == expression_sql(expression, schema)


def test_expressions_that_differ_have_different_records():
    x = Name("x")
    texts = [canonical(each) for each in (x == 1, x == "1", x == True, x == 0.5, x.clip(0), x.clip(None, 0), x / 2)]  # noqa: E712
    texts += [canonical(each) for each in (x.divided_by(2, 1), when(x == 1, 2), when(x == 1, 2).otherwise(3))]
    assert len(set(texts)) == len(texts)


def test_a_record_is_fixed_for_all_times():
    expression = when(Name("age") >= 17.5, Name("cost") / 3).otherwise(Name("cost").clip(0, None))
    assert canonical(expression) == (
        '{"case":1,"of":[{"compare":">=","of":[{"name":"age"},{"number":"35/2"}]},'
        '{"arithmetic":"/","of":[{"name":"cost"},{"number":"3"}],"step":null},'
        '{"call":"clip","of":[{"name":"cost"}],"with":[{"number":"0"},{"null":null}]}]}'
    )


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"nam": "x"},
        {"name": 3},
        {"name": "x", "more": 1},
        {"number": 0.5},
        {"number": "1e9"},
        {"number": "1/0"},
        {"number": "\u0661"},
        {"number": "1" * 10_000},
        {"flag": 1},
        {"text": "a\0"},
        {"date": "2024-02-30"},
        {"null": None},
        {"compare": "=", "of": [{"name": "x"}, {"name": "y"}]},
        {"compare": "==", "of": [{"name": "x"}]},
        {"compare": ["=="], "of": [{"name": "x"}, {"name": "y"}]},
        {"logic": "and", "of": [{"name": "x"}]},
        {"arithmetic": "+", "of": [{"name": "x"}, {"name": "y"}], "step": "1"},
        {"arithmetic": "/", "of": [{"name": "x"}, {"name": "y"}], "step": "-1"},
        {"case": 2, "of": [{"name": "x"}]},
        {"case": True, "of": [{"name": "x"}, {"name": "y"}]},
        {"call": "abs", "of": [], "with": []},
        {"call": "abs", "of": {"name": "x"}, "with": []},
        {"call": 3, "of": [{"name": "x"}], "with": []},
    ],
)
def test_a_forged_record_is_refused(record):
    with pytest.raises(Refusal):
        expression_from_record(record)


def test_a_record_nested_without_end_is_refused_before_it_exhausts_the_stack():
    record = {"name": "x"}
    for _ in range(400):
        record = {"logic": "not", "of": [record]}
    with pytest.raises(Refusal, match="nested deeper"):
        expression_from_record(record)


@pytest.mark.parametrize("value", [None, True, "a'b", Literal(0.1).value, Literal("x").value])
def test_constants_come_back_as_they_were(value):
    back = constant_from_record(constant_record(value))
    assert (type(back), back) == (type(value), value)
