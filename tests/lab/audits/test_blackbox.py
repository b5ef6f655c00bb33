"""The black box: bounds that hold, events that are found, and outputs of every kind."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr, bdtrc

from discreet import noise
from discreet.account.losses.pure import Pure
from discreet.lab import audit
from discreet.lab.audits.blackbox import clopper_pearson
from discreet.lab.audits.cells import cells_of
from discreet.lab.audits.outputs import KIND, align, tabulate
from discreet.lab.audits.subject import Raised
from discreet.testing import FALSE_ALARM, seeded

BOX = ["black_box"]


class Output:
    """Gives one output on one neighbour and another on the other, a quarter of the time."""

    def __init__(self, usual, special):
        self.usual, self.special = usual, special

    def __call__(self, dataset):
        if dataset and noise.bernoulli(Fraction(1, 4)):
            if isinstance(self.special, Exception):
                raise self.special
            return self.special
        return self.usual


@given(st.integers(1, 2000), st.data(), st.sampled_from([1e-6, 1e-3, 0.05]))
def test_clopper_pearson_bounds_are_where_the_binomial_tails_weigh_the_alarm(runs, data, alarm):
    hits = data.draw(st.integers(0, runs))
    low, high = clopper_pearson(hits, runs, alarm)
    assert 0 <= low <= hits / runs <= high <= 1
    if hits:
        assert bdtrc(hits - 1, runs, low) == pytest.approx(alarm, rel=1e-6)
    if hits < runs:
        assert bdtr(hits, runs, high) == pytest.approx(alarm, rel=1e-6)


def test_an_honest_mechanism_is_accused_no_more_often_than_the_alarm_allows():
    class Response:
        def releases(self, bit, count):
            return bit ^ noise.bernoulli(Fraction(1, 4), count)

    alarm, audits = 0.05, 400
    with seeded(1):
        claim = Pure(math.log(3))
        accused = sum(audit(Response(), 0, 1, claim, 2000, alarm=alarm, layers=BOX).violated for _ in range(audits))
    # The chance of more accusations, if each had the full probability, is at most 1e-6.
    assert bdtrc(accused - 1, audits, alarm) > FALSE_ALARM


@pytest.mark.parametrize(
    ("usual", "special", "said"),
    [
        (0, math.nan, "NaN"),
        (0.0, -0.0, "minus zero"),
        (0.5, math.inf, "infinity"),
        (0, None, "None"),
        (0, ValueError("row 7"), "ValueError raised: row 7"),
        (0, "zero", "'zero'"),
        ((1, 2), (1, 2, 3), "shape (3,)"),
        ({"A": 1}, {"A": 1, "B": 0}, "'B'"),
        ({"A": 1, "B": 2}, {"B": 2, "A": 1}, "['B', 'A']"),
        (np.zeros(2), np.zeros((2, 1)), "shape (2, 1)"),
        (0, Fraction(1, 3), "output"),
        (0, 10**400, "output"),
        (True, False, "output"),
        ([1, None], [None, 1], "None"),
    ],
)
def test_outputs_of_every_kind_are_told_apart(usual, special, said):
    with seeded(2):
        finding = audit(Output(usual, special), 0, 1, Pure(1), 2000, layers=BOX)
    assert finding.violated
    assert said in finding.event


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda bit, count: 8 * noise.laplace(5, count) + bit, "modulo 8"),
        (lambda bit, count: noise.laplace(9, count) * (0.5 if bit else 1.0), "lowest bit"),
        (lambda bit, count: noise.laplace(9 + 9 * bit, count), "output"),
        (lambda bit, count: _tied(noise.laplace(9, count), bit), "output[0] - output[1]"),
        (lambda bit, count: np.sort(noise.laplace(9, (count, 3)), axis=1)[:, :: -1 if bit else 1], "place of the"),
    ],
)
def test_the_event_is_looked_for_in_low_bits_spread_and_differences(draw, said):
    class Mechanism:
        def releases(self, bit, count):
            return draw(bit, count)

    with seeded(3):
        finding = audit(Mechanism(), 0, 1, Pure(Fraction(1, 10)), 100_000, layers=BOX)
    assert finding.violated
    assert said in finding.event


def _tied(drawn, bit):
    return np.stack([drawn, drawn + 2 + bit], axis=-1)


def test_many_weak_signs_are_joined_into_one_strong_event():
    class Bits:
        def releases(self, bit, count):
            return noise.bernoulli(Fraction(3 if bit else 2, 5), (count, 20))

    with seeded(4):
        finding = audit(Bits(), 0, 1, Pure(1), 100_000, layers=BOX)
    assert finding.violated
    assert finding.lower > 2


def test_two_copies_of_the_same_mechanism_show_nothing():
    with seeded(5):
        finding = audit(lambda _: noise.laplace(1), 0, 1, Pure(0), 5000, layers=BOX)
    assert (finding.lower, finding.verdict) == (0.0, "not shown")


def test_releases_that_raise_are_outputs_too():
    class Fails:
        def releases(self, bit, count):
            if bit:
                raise OverflowError("too large")
            return noise.laplace(1, count)

    with seeded(6):
        finding = audit(Fails(), 0, 1, Pure(1), 1000, layers=BOX)
    assert finding.violated


@given(st.lists(st.one_of(st.floats(), st.integers(-5, 5).map(float)), min_size=1, max_size=500))
def test_every_value_has_its_cell_and_equal_values_share_it(values):
    array = np.array(values)
    cells = cells_of(array)
    places = cells.place(array)
    assert ((places >= 0) & (places < cells.count)).all()
    order = np.argsort(array)
    assert (np.diff(places[order]) >= 0).all()
    assert cells.histogram(array).sum() == len(values)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=300))
def test_integers_and_floats_fall_into_cells_alike(values):
    array = np.array(values)
    close = array // 2**50
    cells = cells_of(close)
    assert (cells.place(close) == cells_of(close.astype(float)).place(close.astype(float))).all()


@given(st.lists(st.sampled_from([1, 2.5, math.nan, None, (1, 2), [3], {"a": 1}, "x", np.arange(3)]), min_size=1))
def test_what_is_seen_of_an_output_does_not_depend_on_the_others(outputs):
    together, _ = align(tabulate(outputs), tabulate([None, (1, 2, 3, 4)]))
    for place, output in enumerate(outputs):
        alone, _ = align(tabulate([output]), tabulate([None, (1, 2, 3, 4)]))
        assert list(alone.columns) == list(together.columns)
        for name, column in alone.columns.items():
            np.testing.assert_array_equal(column[0], together.columns[name][place])


def test_outputs_that_are_never_numbers_get_columns_all_the_same():
    zero, one = align(tabulate([1, 2]), tabulate([None, Raised("ValueError", "x")]))
    assert list(zero.columns) == list(one.columns) == [KIND, "output"]
    assert len(set(zero.columns[KIND].tolist())) == 1
    assert np.isnan(one.columns["output"]).all()
