"""Mean: how far values lie above one bound and below the other."""

import discreet as dp
from tests.measures.made import made


def test_draws_are_named_by_answer_column_group_and_part():
    found = made(dp.mean("y"))
    one, other = found.quantities(found.statistic.supposed([[3, 1], [2, 2]]), "mark")
    names = [noisy.id for quantity in (one, other) for _, noisy in quantity.above.terms + quantity.below.terms]
    assert set(names) == {f"mark.value.{group}.{part}" for group in (0, 1) for part in (0, 1)}


def test_its_half_width_falls_with_the_rows():
    found = made(dp.mean("x"))
    assert found.sized
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)
    assert found.expected(None).half_width is None
    assert found.expected(None).within.endswith("/ n")
