"""Person sums: nobody moves a sum by more than the bound, whatever a function returns, and failures have one text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import discreet as dp
from discreet.core.doors import opened
from discreet.core.exact import Exact
from discreet.engines.engine import EngineFailed
from discreet.plan.batches import Batch
from discreet.plan.person_sums import MOST_BOUND, PersonBound, clip, person_function, person_sums

NORMS = {
    "l1": lambda row: sum(abs(value) for value in row),
    "l2": lambda row: sum(value * value for value in row),
    "linf": lambda row: max(abs(value) for value in row),
}


def batch_of(person, codes):
    """A batch of rows, each with one code, of people numbered from 0."""
    codes, person = np.array(codes, np.int64)[:, None], np.array(person, np.int64)
    return Batch(codes, person, np.arange(person[-1] + 1 if len(person) else 0, dtype=np.uint64), np.ones(len(person)))


@person_function
def totals(batch):
    return batch.by_person(batch.codes)


@person_function
def shifted(batch, by, *, times=1):
    return batch.by_person(batch.codes) * times + by


WHOLE = st.integers(-(2**63), 2**63 - 1)
ANY = st.floats(width=64) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324])


@pytest.mark.parametrize("norm", NORMS)
@given(data=st.data(), most=st.integers(1, MOST_BOUND - 1) | st.integers(1, 9), width=st.integers(1, 6))
def test_no_vector_is_beyond_the_bound_and_those_within_stay_as_they_were(norm, data, most, width):
    kind, values = data.draw(st.sampled_from([("<i8", WHOLE | st.integers(-9, 9)), ("<f8", ANY)]))
    vectors = data.draw(arrays.arrays(kind, (3, width), elements=values))
    found = clip(vectors, PersonBound(norm, most, width))
    limit = most**2 if norm == "l2" else most
    for row, was in zip(found.tolist(), vectors.tolist(), strict=True):
        assert NORMS[norm](row) <= limit
        plain = [0 if isinstance(value, float) and math.isnan(value) else value for value in was]
        if all(math.isfinite(value) for value in plain):
            whole = [math.trunc(value) for value in plain]
            if NORMS[norm](whole) <= limit:
                assert row == whole


@pytest.mark.parametrize("norm", NORMS)
def test_a_vector_that_is_too_long_keeps_its_direction(norm):
    found = clip(np.array([[3_000_000, -4_000_000]]), PersonBound(norm, 100_000, 2))
    if norm == "linf":
        assert found.tolist() == [[100_000, -100_000]]
    else:
        assert found[0, 0] / found[0, 1] == pytest.approx(-3 / 4, rel=1e-4)
        assert NORMS[norm](found[0].tolist()) >= 0.999 * (100_000**2 if norm == "l2" else 100_000)


def test_the_sum_is_of_all_batches_and_public_values_reach_the_function():
    found = [Exact(batch_of([0, 0, 1], [1, 2, 50])), Exact(batch_of([], [])), Exact(batch_of([0], [-7]))]
    assert opened(person_sums(found, totals, PersonBound("l1", 10, 1))) == (3 + 10 - 7,)
    assert opened(person_sums(found, shifted, PersonBound("l1", 100, 1), 1, times=2)) == (7 + 100 - 13,)
    assert opened(person_sums([], totals, PersonBound("l1", 10, 3))) == (0, 0, 0)


@pytest.mark.parametrize("bound", [PersonBound("l1", 5, 1), PersonBound("l2", 5, 1), PersonBound("linf", 5, 1)])
def test_one_person_more_moves_the_sum_by_the_bound_at_most(bound):
    rows = [Exact(batch_of([0, 0, 1], [1, 2, 1]))]
    before = opened(person_sums(rows, totals, bound))[0]
    for value in (2**62, -(2**62), 5, 6, -6):
        after = opened(person_sums([*rows, Exact(batch_of([0], [value]))], totals, bound))[0]
        assert abs(after - before) <= 5


def raises(batch):
    raise ValueError(f"the codes are {batch.codes}")


def divides(batch):
    return np.log(batch.by_person(batch.codes) * 0.0)


@pytest.mark.parametrize(
    "function", [raises, lambda batch: [1, 2, 3], lambda batch: np.zeros((1, 7)), lambda batch: np.array([["x"]])]
)
def test_whatever_goes_wrong_is_one_failure_without_a_word_of_it(function):
    with pytest.raises(EngineFailed) as failed:
        person_sums([Exact(batch_of([0, 1], [31337, 2]))], person_function(function), PersonBound("l1", 5, 1))
    assert str(failed.value) == str(EngineFailed())
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__ or failed.value.__context__ is None


def test_odd_numbers_of_somebody_give_no_warning():
    assert opened(person_sums([Exact(batch_of([0], [1]))], person_function(divides), PersonBound("l1", 5, 1))) == (-5,)


@pytest.mark.parametrize(
    ("norm", "most", "width"), [("l3", 1, 1), ("l1", 0, 1), ("l1", MOST_BOUND, 1), ("l1", 1, 0), ("l1", 1, 1 << 21)]
)
def test_a_bound_that_bounds_nothing_is_refused(norm, most, width):
    with pytest.raises(dp.BadParameter):
        PersonBound(norm, most, width)


def test_some_of_the_people_of_a_batch_are_numbered_anew():
    batch = batch_of([0, 0, 1, 2, 2], [1, 2, 3, 4, 5])
    some = batch.of(np.array([True, False, True]))
    assert (some.codes[:, 0].tolist(), some.person.tolist()) == ([1, 2, 4, 5], [0, 0, 1, 1])
    assert some.hashes.tolist() == [0, 2]
    assert repr(some) == "Batch(hidden)"
