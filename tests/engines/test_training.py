"""Training: the same draws on the same rows give the same weights on every engine."""

import numpy as np
import pytest

import discreet as dp
from discreet.learn.allowance import TrainingAllowance
from discreet.learn.descent import descent_of
from discreet.noise.draws import Draws
from discreet.plan.batches import batches
from discreet.plan.expressions import Name
from discreet.plan.gradients.person_gradients import design_rows
from discreet.plan.nodes import Scan
from tests.engines.duckdb.subject import Duckdb
from tests.plan import worlds
from tests.plan.relational import SECRET
from tests.plan.worlds import Chance

FEATURES = ("n", "ward", "day")


def weights(subject, data, target, objective):
    columns = {name: data.table[name].named(name) for name in (*FEATURES, target)}
    wanted = columns.pop(target)
    allowance = TrainingAllowance.of(dp.Budget(epsilon=1, delta=1e-6))
    descent = descent_of(objective, columns, wanted, 4, allowance, None)
    relations = {"t": subject.loaded(data)}
    named = {name: Name(name) for name in (*columns, target)}
    found = batches(subject.engine, Scan("t"), named, relations, subject.dialect, secret=SECRET, parts=3)
    rows = [each.map(design_rows, descent.design) for each in found]
    return descent.run(rows, Draws(bytes(32)).at).weights


@pytest.mark.parametrize(("objective", "target"), [("logistic", "level"), ("hinge", "ill"), ("squared", "x")])
def test_the_same_rows_and_draws_give_the_same_weights(subject, objective, target):
    data = worlds.table_of(Chance("training"), dp.person("id", max_rows=3))
    data.rows = [worlds.raw_row(Chance("training", number), number % 17) for number in range(60)]
    found = weights(subject, data, target, objective)
    reference = Duckdb()
    with reference.opened() as reference.engine:
        expected = weights(reference, data, target, objective)
    assert np.abs(found).max() > 0
    assert (found == expected).all()
