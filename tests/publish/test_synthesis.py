"""Auto: its choice follows from domain, workload and budget, can always be carried out, and is explained."""

from fractions import Fraction
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account.budgets.budget import Budget
from discreet.publish.allowance import Allowance
from discreet.publish.domain import Domain
from discreet.publish.method import METHODS, MarginalWorkload, check_method
from discreet.publish.synthesis import chosen

ADULT = {"workclass": 9, "education": 16, "marital": 7, "occupation": 15, "relation": 6, "race": 5, "sex": 2, "rich": 2}
ADULT_32 = {**ADULT, "age": 32, "weight": 32, "gain": 32, "lost": 32, "hours": 32, "country": 42}
NLTCS = {f"item{number}": 2 for number in range(16)}


def _chosen(sizes, epsilon, delta=None, workload=3):
    domain = Domain.of(sizes)
    allowance = Allowance.of(Budget(epsilon=Fraction(epsilon), delta=delta))
    return chosen(domain, allowance, MarginalWorkload.of(domain, workload))[0]


@pytest.mark.parametrize(
    ("sizes", "delta", "found"),
    [
        (ADULT_32, 1e-9, {"0.1": "aim", "1": "aim", "10": "aim"}),
        (ADULT, 1e-9, {"0.1": "aim", "1": "aim", "10": "tables"}),
        (NLTCS, None, {"0.1": "mwem", "1": "mwem", "10": "aim"}),
    ],
)
def test_the_choice_is_the_one_the_bench_found_best(sizes, delta, found):
    assert {epsilon: _chosen(sizes, epsilon, delta) for epsilon in found} == found


def test_single_attributes_are_measured_by_themselves():
    assert _chosen(ADULT_32, "1", workload=1) == "independent"
    assert _chosen(ADULT_32, "1", workload=[["age"], ["sex"]]) == "independent"


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=12),
    st.sampled_from([1, 2]),
    st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
    st.sampled_from([None, 1e-6]),
    st.integers(1, 50),
)
def test_a_choice_can_be_carried_out_and_says_why(sizes, ways, epsilon, delta, rows):
    domain = Domain.of({f"a{place}": size for place, size in enumerate(sizes)})
    allowance = Allowance.of(Budget(epsilon=epsilon, delta=delta), rows)
    method, why = chosen(domain, allowance, MarginalWorkload.of(domain, ways))
    assert method in METHODS
    check_method(method, domain)
    assert why.startswith(f"{method}: ")


def test_no_data_is_asked_for():
    assert [*signature(chosen).parameters] == ["domain", "allowance", "workload"]
