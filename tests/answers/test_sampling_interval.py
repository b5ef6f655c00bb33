"""Intervals of sampling plus noise hold what the population has, over samples and over noise.

Samples and noise are both drawn anew in each run. An interval that misses exactly as often as it may would fail once in
a million times.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri, pdtr

from discreet import noise
from discreet.answers import algebra
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.column import SampledRows, combined, shifted
from discreet.answers.quantity import BracketedValue, FunctionQuantity, NoisyInteger, PublicValue, RatioQuantity, linear
from discreet.answers.sampling_interval import sampled
from discreet.measures import moments
from discreet.mechanisms.count import Count
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.sum import Sum
from discreet.mechanisms.variance import Variance
from discreet.testing import seeded
from tests.answers import spreads
from tests.answers.test_corners import most_misses

HIGH = 20
ONE = Fraction(1)
# Values from 0 to 20 and how likely each is.
POPULATIONS = {
    "rarely one": {0: 0.97, HIGH: 0.03},
    "half": {0: 0.5, HIGH: 0.5},
    "narrow": {6: 0.25, 7: 0.5, 8: 0.25},
    "skewed": {0: 0.6, 1: 0.25, 5: 0.13, HIGH: 0.02},
    "constant at a bound": {HIGH: 1.0},
}
PRICES = {"little noise": {"epsilon": 2}, "heavy noise": {"epsilon": 0.1}, "Gaussian": {"rho": 0.2}}
ROWS = SampledRows(1)
RUNS, MANY = 12, 400


class Sampler:
    """Draws samples of a population, and releases of them, from one seeded source."""

    def __init__(self, population, price, people=1):
        self.values = np.array(list(population))
        self.chances = np.array(list(population.values()))
        self.price, self.people = price, people
        self.marks = 0

    @property
    def mean(self):
        return float(self.values @ self.chances)

    @property
    def variance(self):
        return float((self.values - self.mean) ** 2 @ self.chances)

    def rows(self, size):
        """Draw people, each of whom has the same value in all of their rows: rows depend as much as they can."""
        return np.repeat(self.values[np.searchsorted(np.cumsum(self.chances) - 1e-12, shares(size))], self.people)

    def noisy(self, statistic, exact):
        self.marks += 1
        laws = [each for each, size in statistic.noises for _ in range(size)]
        inner = np.ravel(statistic._inner(exact))
        return [
            NoisyInteger(f"m.x.{self.marks}.{at}", int(one) + int(np.ravel(law.draw((1, 1)))[0]), law.law, law.scale)
            for at, (one, law) in enumerate(zip(inner, laws, strict=True))
        ]

    def release(self, size):
        """Yield the intervals of one release, and the values of the population."""
        rows = SampledRows(self.people)
        made = {**self.price, "contributions": self.people}
        values, others = self.rows(size), self.rows(size)
        mean = Mean(low=0, high=HIGH, **made)
        means = [
            moments.mean(self.noisy(mean, mean.exact(each)), Fraction(0), Fraction(HIGH), step=ONE)
            for each in (values, others)
        ]
        spread = Variance(low=0, high=HIGH, **made)
        variance = spreads.variance(self.noisy(spread, spread.exact(values)), HIGH)
        yield "mean", sampled(means[0], rows, 0.95), self.mean
        yield "mean beside a variance", sampled(means[0], rows, 0.95, variance), self.mean
        difference = algebra.add(means[0], algebra.scale(means[1], Fraction(-1)))
        yield "difference of means", sampled(difference, rows, 0.95), 0.0
        yield "variance", sampled(variance, rows, 0.95), self.variance
        met = self.rows(int(np.searchsorted(pdtr(np.arange(10 * size + 20), size), shares(1)[0])))
        total, count = Sum(low=0, high=HIGH, **made), Count(**made)
        each = size * self.people
        added = linear(self.noisy(total, total.exact(met))[0])
        yield "sum", sampled(added, SampledRows(self.people, Fraction(0), Fraction(HIGH)), 0.95), self.mean * each
        counted = linear(self.noisy(count, len(met))[0])
        yield "count", sampled(counted, counts(self.people), 0.95), float(each)
        top = int((values == HIGH).sum())
        part, rest = (linear(self.noisy(count, size)[0]) for size in (top, len(values) - top))
        share = algebra.divide(part, part.plus(rest))
        of = combined(counts(self.people), "/", counts(self.people))
        at_top = float(self.chances[self.values == HIGH].sum())
        yield "proportion", sampled(share, of, 0.95), at_top


def shares(size):
    """Draw numbers between 0 and 1."""
    return np.atleast_1d((noise.uniform(1 << 40, size) + 0.5) / (1 << 40))


def counts(people=1):
    return SampledRows(people, Fraction(0), Fraction(1))


def check(population, price, people, size, runs):
    sampler = Sampler(POPULATIONS[population], PRICES[price], people)
    misses = {}
    with seeded(42):
        for _ in range(runs):
            for word, (low, high), truth in sampler.release(size):
                misses[word] = misses.get(word, 0) + (not low - 1e-6 <= truth <= high + 1e-6)
    most = most_misses(runs, 0.05)
    assert {word: missed for word, missed in misses.items() if missed > most} == {}


@pytest.mark.parametrize(
    ("population", "price", "people", "size"),
    [
        ("rarely one", "little noise", 1, 20),
        ("half", "heavy noise", 1, 5),
        ("skewed", "Gaussian", 1, 60),
        ("narrow", "little noise", 3, 40),
        ("constant at a bound", "heavy noise", 1, 30),
    ],
)
def test_intervals_of_sampling_hold_what_the_population_has(population, price, people, size):
    check(population, price, people, size, RUNS)


@pytest.mark.soak
@pytest.mark.parametrize("size", [1, 5, 30, 300])
@pytest.mark.parametrize("people", [1, 4])
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("population", POPULATIONS)
def test_intervals_of_sampling_hold_what_every_population_has(population, price, people, size):
    check(population, price, people, size, MANY)


def noisy(value, scale, mark="0"):
    return NoisyInteger(f"m.x.{mark}.0", value, "laplace", Fraction(scale))


def test_sampling_and_noise_are_added_as_a_root_of_squares():
    for scale in (1, 100, 3_000):
        quantity = linear(noisy(10_000, scale))
        low, high = sampled(quantity, counts(), 0.95)
        alone, drawn = 1.96 * 100, 3.0 * scale
        assert (high - low) / 2 == pytest.approx(np.hypot(alone, drawn), rel=0.02)


def test_a_public_size_of_many_makes_sampling_as_wide_as_without_noise():
    size = 10_000
    low, high = sampled(
        RatioQuantity(linear(noisy(3_000, 1)), linear(noisy(size, 1, "1")), Fraction(0), ONE), ROWS, 0.95
    )
    assert (high - low) / 2 == pytest.approx(1.96 * (0.3 * 0.7 / size) ** 0.5, rel=0.03)


def test_rows_of_one_person_widen_an_interval_by_the_root_of_how_many_there_are():
    quantity = linear(noisy(10_000, 1))
    one, four = (high - low for low, high in (sampled(quantity, counts(k), 0.95) for k in (1, 4)))
    assert four == pytest.approx(2 * one, rel=0.02)


@pytest.mark.parametrize("people", [1, 3])
def test_the_ends_of_a_sum_are_where_distance_is_sampling_and_half_of_what_one_unit_adds(people):
    low, high = sampled(linear(noisy(1_000, Fraction(1, 100))), counts(people), 0.95)
    for end, jump in ((low, -people / 2), (high, people / 2)):  # the noise is zero, but for once in e^100
        assert (1_000 + jump - end) ** 2 == pytest.approx(ndtri(0.975) ** 2 * people * end, rel=1e-6)


@pytest.mark.parametrize("people", [1, 3])
def test_the_ends_of_a_mean_are_where_distance_is_the_largest_spread_that_fits_it(people):
    mean = RatioQuantity(
        linear(noisy(2_000, Fraction(1, 100))), linear(noisy(10_000, Fraction(1, 100), "1")), Fraction(0), ONE
    )
    for end in sampled(mean, SampledRows(people), 0.95):
        distance = abs(2_000 - end * 10_000) - people / 2
        assert distance == pytest.approx(ndtri(0.975) * (people * 10_000 * end * (1 - end)) ** 0.5, rel=0.02)


@pytest.mark.parametrize("people", [1, 3])
def test_the_ends_of_a_variance_are_where_distance_is_the_largest_spread_of_squares(people):
    size, most = 9_000, 25
    sums = [noisy(value, Fraction(1, 100), str(at)) for at, value in enumerate((0, 25 * size, 75 * size))]
    n = size / people  # people, of whom each has so many rows
    total, square, rest = (linear(each, Fraction(1, by)) for each, by in zip(sums, (10, 100, 100), strict=True))
    variance = FunctionQuantity(
        "covariance", (total, total, square, square.plus(rest)), (Fraction(most),), 0, Fraction(most)
    )
    low, high = sampled(variance, SampledRows(people), 0.95)
    for end in (low, high):
        distance = abs(end - 25 / 4) - end / n - 2 * most / n
        assert distance == pytest.approx(ndtri(0.975) * (end * (4 * most - end) / n) ** 0.5, rel=0.08)
    assert low < 25 / 4 < high


def test_distances_of_what_shares_noise_are_added_and_others_are_the_sides_of_a_right_angle():
    size = linear(noisy(1_000, 30, "size"))
    one, other, apart = (
        RatioQuantity(linear(noisy(500, 30, mark)), below, Fraction(0), ONE)
        for mark, below in (("a", size), ("b", size), ("c", linear(noisy(1_000, 30, "other size"))))
    )
    own = {each: sampled(each, ROWS, 0.95) for each in (one, other, apart)}
    half = {each: (high - low) / 2 for each, (low, high) in own.items()}
    for second, wide in ((other, half[one] + half[other]), (apart, float(np.hypot(half[one], half[apart])))):
        low, high = sampled(FunctionQuantity("sum", (one, second), (ONE, -ONE, Fraction(0))), ROWS, 0.95)
        assert (high - low) / 2 == pytest.approx(wide, rel=0.01)


def test_what_is_known_of_a_spread_narrows_a_mean():
    statistic = Sampler(POPULATIONS["narrow"], {"epsilon": 5})
    with seeded(43):
        found = {word: high - low for word, (low, high), _ in statistic.release(2_000)}
    assert found["mean beside a variance"] < found["mean"] / 2


@pytest.mark.parametrize(
    ("quantity", "rows"),
    [
        (BracketedValue(3, 1, 5), ROWS),
        (linear(noisy(10, 1)), None),
        (linear(noisy(10, 1)), SampledRows(1, Fraction(-1), Fraction(1))),
        (algebra.multiply(linear(noisy(10, 1)), linear(noisy(20, 1, "1"))), ROWS),
    ],
    ids=["a quantile", "nothing is known of its rows", "rows on both sides of zero", "a product"],
)
def test_what_cannot_have_an_interval_of_sampling_has_none(quantity, rows):
    assert sampled(quantity, rows, 0.95) is None


def table():
    rows = counts()
    mean = moments.mean((noisy(3_000, 30, "a"), noisy(7_000, 30, "b")), Fraction(0), Fraction(10), step=ONE)
    columns = [
        AnswerColumn("n", [linear(noisy(1_000, 2))], "count", "number of rows", sampled=rows),
        AnswerColumn("cost", [mean], "mean", "mean of cost", sampled=ROWS),
        AnswerColumn("age", [BracketedValue(41, 39, 44)], "median", "median of age"),
        AnswerColumn("known", [PublicValue(7)]),
    ]
    return Answer(keys=(), rows=[()], columns=columns)


def test_an_answer_says_its_intervals_of_sampling_and_what_they_do_not_hold():
    answer = table()
    found = answer.sampled()
    for name in ("n", "cost"):
        low, high = answer.interval(name)
        wider = answer.interval(name, sampling=True)
        assert wider == found.interval(name)
        assert wider[0] < low < answer.value(name) == found.value(name) < high < wider[1]
    assert (found.value("age"), found.interval("age")) == (41, (None, None))
    assert found.interval("known") == (7, 7)
    assert "41 [?]" in str(found)
    assert "No interval of sampling can be told" in found.explain()
    assert all(isinstance(end, int) for end in found.interval("n"))
    words = "; ".join(found.notes)
    for part in ("age: no interval of sampling", "over a person's limit", "ask for the variance too"):
        assert part in words
    assert "population" in found.explain()
    assert "population" in found._repr_html_()
    assert found.sampled() is found
    assert Answer.from_json(found.to_json()) == found
    assert not answer.sampling


def test_an_answer_of_before_is_read_as_it_was():
    import json

    record = json.loads(table().to_json())
    del record["answer"]["sampling"]
    for column in record["answer"]["columns"]:
        del column["sampled"]
    found = Answer.from_json(json.dumps(record))
    assert found.interval("n") == table().interval("n")
    assert found.interval("n", sampling=True) == (None, None)


def test_arithmetic_keeps_what_is_known_of_rows():
    rows = counts()
    assert shifted(rows, "*", Fraction(-2), swapped=False) == SampledRows(1, Fraction(-2), Fraction(0))
    assert shifted(rows, "+", Fraction(3), swapped=True) == rows
    assert shifted(rows, "-", Fraction(3), swapped=True) == SampledRows(1, Fraction(-1), Fraction(0))
    assert shifted(rows, "/", Fraction(3), swapped=True) == SampledRows(1)
    answer = table()["n"] * Fraction(1, 2)  # ends of whole numbers are rounded outwards
    low, high = answer.sampled().interval()
    for made, moved in (
        (answer * 2, (2 * low, 2 * high)),
        (answer + 5, (low + 5, high + 5)),
        (5 - answer, (5 - high, 5 - low)),
        (answer.total(), (low, high)),
        (round(answer, 1), (round(low, 1), round(high, 1))),
    ):
        assert made.sampled().interval() == pytest.approx(moved, abs=1)
    assert (answer * answer).sampled().interval() == (None, None)
