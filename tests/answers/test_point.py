"""Points: what may be anything has none, and neither has what is computed from it."""

import math
from fractions import Fraction

import pytest

from discreet.answers import algebra
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.interval import interval
from discreet.answers.point import point_of
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    NoisyInteger,
    PublicValue,
    RatioQuantity,
    linear,
)
from discreet.measures import moments


def noisy(mark, value, scale=100):
    return NoisyInteger(mark, value, "laplace", Fraction(scale))


def mean(above, below, mark=""):
    return moments.mean(
        (noisy(f"a{mark}", above), noisy(f"b{mark}", below)), Fraction(0), Fraction(10), step=Fraction(1)
    )


NOBODY, MANY, COUNT = mean(-40, 30), mean(40_000, 60_000, "m"), linear(noisy("c", 50, 2))


def answer(*quantities):
    columns = [AnswerColumn("x", list(quantities), "mean", "mean of x")]
    return Answer(keys=("k",), rows=[(at,) for at in range(len(quantities))], columns=columns)


def test_a_mean_of_nobody_has_its_range_and_no_point():
    assert (interval(NOBODY), point_of(NOBODY)) == ((0, 10), None)
    assert point_of(MANY) == pytest.approx(4)
    (cell,) = answer(NOBODY).columns[0].cells
    assert (cell.value, cell.low, cell.high) == (None, 0, 10)


@pytest.mark.parametrize(
    "made",
    [
        algebra.multiply(NOBODY, COUNT),
        algebra.add(NOBODY, MANY),
        algebra.divide(MANY, NOBODY),
        algebra.rounded(NOBODY, 1),
        algebra.clip(NOBODY, Fraction(1), Fraction(5)),
        algebra.absolute(algebra.scale(NOBODY, Fraction(-1))),
        algebra.scale(NOBODY, Fraction(3)),
        FunctionQuantity("root", (NOBODY,)),
    ],
    ids=["product", "sum", "quotient", "rounded", "clipped", "absolute", "scaled", "root"],
)
def test_what_is_computed_from_no_point_has_none(made):
    assert point_of(made) is None
    low, high = interval(made)
    assert low < high


def test_a_quotient_by_what_may_be_zero_has_no_point():
    ratio = RatioQuantity(linear(noisy("a", 40, 1)), linear(noisy("b", 1, 5)))
    assert (interval(ratio), point_of(ratio)) == ((-math.inf, math.inf), None)


def test_an_exact_value_and_a_clipped_count_have_points():
    assert point_of(PublicValue(3)) == 3
    assert point_of(LinearQuantity((), Fraction(1, 2))) == 0.5
    assert point_of(algebra.clip(linear(noisy("n", -3, 2)), Fraction(0), None)) == 0


def test_comparisons_with_no_point_are_neither_true_nor_false():
    found = algebra.compare(NOBODY, ">", PublicValue(5))
    assert (found.value, found.low, found.high) == (None, False, True)
    certain = algebra.compare(NOBODY, ">=", PublicValue(-1))
    assert (certain.value, certain.low, certain.high) == (None, True, True)


def test_a_bracket_without_a_value_moves_with_its_ends():
    bracket = BracketedValue(None, 0, 10)
    moved = algebra.add(algebra.scale(bracket, Fraction(-2)), PublicValue(Fraction(1)))
    assert moved == BracketedValue(None, -19, 1)
    assert algebra.scale(BracketedValue(3, None, None), Fraction(2)) == BracketedValue(6, None, None)
    assert point_of(algebra.multiply(bracket, COUNT)) is None


def test_a_missing_point_is_a_question_mark_and_null(tmp_path):
    shown = answer(MANY, NOBODY)
    assert str(shown).splitlines()[-1].split(maxsplit=1)[1] == "? [0.000, 10.000]"
    page = shown._repr_html_()
    assert '<td class="number">?</td><td class="error">[0.000, 10.000]</td><td></td>' in page
    assert shown.to_arrow().to_pydict()["x"][1] is None
    assert shown.to_pandas()["x"].isna().tolist() == [False, True]
    shown.to_csv(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines()[-1] == "1,,0.0,10.0"
    again = Answer.from_json(shown.to_json())
    assert again.cell(1).value is None
    assert "no value" in shown.explain()


def test_a_missing_point_is_a_gap_in_a_plot():
    axes = answer(MANY, NOBODY).plot().axes[0]
    heights = [patch.get_height() for patch in axes.patches]
    assert [each.get_text() for each in axes.texts] == ["?"]
    assert axes.get_xlim()[1] > 1
    assert heights[0] == pytest.approx(4)
    assert math.isnan(heights[1])


def test_arithmetic_on_sums_of_one_mechanism_uses_their_joint_law():
    """Noise of the same integers cancels: narrower than any box of the parts, and the same as if asked for at once."""
    parts = [noisy(mark, value, 3_000) for mark, value in (("a", 4_000_000), ("b", 3_000_000), ("c", 3_000_000))]
    count = LinearQuantity(tuple((Fraction(1, 10_000), each) for each in parts))
    weights = (Fraction(1), Fraction(1, 2), Fraction(0))
    total = LinearQuantity(tuple((weight / 100, each) for weight, each in zip(weights, parts, strict=True)))
    bounded = RatioQuantity(total, count, Fraction(0), Fraction(100))
    low, high = interval(algebra.divide(total, count))
    box = interval(total)[1] / interval(count)[0] - interval(total)[0] / interval(count)[1]
    assert high - low < box / 2
    assert interval(bounded) == pytest.approx((low, high), rel=1e-5)
    assert algebra.multiply(bounded, count) == total
    assert algebra.multiply(algebra.scale(count, Fraction(2)), bounded) == total.times(2)
    assert algebra.divide(total, bounded) == count
    assert algebra.divide(bounded, bounded) == PublicValue(Fraction(1))
    both = algebra.add(bounded, algebra.scale(bounded, Fraction(-1)))
    assert both == PublicValue(Fraction(0))
