"""Plots: every kind of answer can be drawn, with its error bars."""

import datetime as dt
from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter
from discreet.curator.answer import Answer, AnswerColumn
from discreet.curator.quantity import Noisy, linear
from tests.curator.answers import single, wards


def count(at, value, scale=4):
    return linear(Noisy(str(at), value, "laplace", Fraction(scale)))


def table(keys, rows, kind="count", values=None):
    values = values or [(at * 37 + 11) % 90 for at in range(len(rows))]
    return Answer(keys=keys, rows=rows, columns=[AnswerColumn("n", [count(*each) for each in enumerate(values)], kind)])


def test_every_column_has_a_panel_and_every_row_a_bar_with_its_error(tmp_path):
    answer = wards()
    figure = answer.plot(tmp_path / "wards.png")
    assert [len(axes.patches) for axes in figure.axes] == [4, 4, 4]
    assert [axes.get_title("left") for axes in figure.axes] == [
        "n: number of rows",
        "cost: mean of cost",
        "age: median of age",
    ]
    segments = figure.axes[0].collections[0].get_segments()
    cell = answer.column("n").cells[0]
    assert next(tuple(segment[:, 1]) for segment in segments) == (cell.low, cell.high)
    assert (tmp_path / "wards.png").read_bytes().startswith(b"\x89PNG")


def test_a_single_number_is_one_lying_bar():
    figure = single().plot()
    assert len(figure.axes) == 1
    assert [patch.get_width() for patch in figure.axes[0].patches] == [single().value()]


def test_many_rows_lie_and_are_cut_with_a_word():
    axes = table(("k",), [(f"a long name {at}",) for at in range(60)]).plot().axes[0]
    assert len(axes.patches) == 40
    assert axes.get_xlabel() == "the first 40 of 60 rows"


def test_two_keys_are_drawn_side_by_side_with_a_legend():
    rows = [(ward, sex) for ward in "ABC" for sex in ("f", "m")]
    axes = table(("ward", "sex"), rows).plot().axes[0]
    assert len(axes.patches) == 6
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["f", "m"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["A", "B", "C"]


@pytest.mark.parametrize("places", [[10, 20, 50], [dt.date(2024, 1, day) for day in (1, 2, 9)], ["10", "20", "all"]])
def test_a_distribution_function_is_a_step_line_with_a_band(places):
    axes = table(("age",), [(place,) for place in places], "cdf", [5, 40, 90]).plot().axes[0]
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert len(axes.collections) == 1


def test_the_bars_of_a_histogram_touch():
    axes = table(("age",), [(f"{low} to {low + 9}",) for low in range(0, 80, 10)], "histogram").plot().axes[0]
    first, second = axes.patches[:2]
    assert second.get_x() == pytest.approx(first.get_x() + first.get_width())


def test_an_interval_without_ends_is_drawn_without_an_error_bar():
    ratio = single(1000) / single(0, name="m", mark="9")
    assert len(ratio.plot().axes[0].patches) == 1


def test_truth_values_are_not_drawn():
    with pytest.raises(BadParameter, match="plot the numbers themselves"):
        (wards()["n"] > 5).plot()


@pytest.mark.parametrize("name", ["nowhere/a.png", "a.unknown"])
def test_a_picture_that_cannot_be_written_is_refused(name, tmp_path):
    with pytest.raises(BadParameter, match="the picture could not be written"):
        wards().plot(tmp_path / name)
