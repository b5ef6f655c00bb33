"""Stages: the plan of every method is known in advance, is what the method does, and sees no row."""

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.publish.domain import Domain
from discreet.publish.method import METHODS, MarginalWorkload
from discreet.publish.stages import ROUNDS, stages_of, telling
from discreet.testing import seeded

SIZES = {"a": 3, "b": 2}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [0, 40])
@pytest.mark.parametrize("rho", [0.01, 100])
def test_a_method_goes_through_its_plan_whatever_the_rows_and_the_budget(method, rows, rho):
    columns = {"a": np.arange(rows) % 3, "b": np.arange(rows) % 2}
    told = []
    with seeded(1):
        publish.synthesize(columns, SIZES, budget=Budget(rho=rho), method=method, workload=2, progress=told.append)
    domain = Domain.of(SIZES)
    assert tuple(told) == stages_of(method, domain, MarginalWorkload.of(domain, 2))
    assert [stage.number for stage in told] == [*range(1, len(told) + 1)]
    assert {stage.of for stage in told} == {len(told)}


@pytest.mark.parametrize("method", [name for name in METHODS if name != "smalldb"])
def test_a_plan_for_one_column_is_gone_through_too(method):
    told = []
    columns = {"a": np.arange(9) % 3}
    publish.synthesize(columns, {"a": 3}, budget=Budget(rho=1), method=method, progress=told.append)
    domain = Domain.of({"a": 3})
    assert tuple(told) == stages_of(method, domain, MarginalWorkload.of(domain))


def test_rounds_are_told_once_and_without_their_number():
    domain, told = Domain.of(SIZES), []
    say = telling(stages_of("aim", domain, MarginalWorkload.of(domain, 2)), told.append)
    for step in ("measure single attributes", "count the workload", "round 1", "round 2", "round 3", "fit the model"):
        say(step)
    assert [stage.name for stage in told].count(ROUNDS) == 1
    assert not any("round 2" in str(stage) for stage in told)


def test_more_columns_and_codes_take_longer_and_long_stages_say_so():
    def seconds(sizes):
        domain = Domain.of(sizes)
        return [stage.seconds or 0 for stage in stages_of("aim", domain, MarginalWorkload.of(domain))]

    few, many = seconds(dict.fromkeys("abcd", 2)), seconds(dict.fromkeys("abcdefghij", 16))
    assert sum(many) > 10 * sum(few)
    domain = Domain.of(dict.fromkeys("abcdefghij", 16))
    assert " s at most" in str(stages_of("aim", domain, MarginalWorkload.of(domain))[2])
