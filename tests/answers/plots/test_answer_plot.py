"""Plots: every kind of answer can be drawn, with its error bars."""

import datetime as dt
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.quantity import NoisyInteger, linear
from discreet.core.errors import BadParameter
from tests.curator.answers import single, wards


def count(at, value, scale=4):
    return linear(NoisyInteger(str(at), value, "laplace", Fraction(scale)))


def table(keys, rows, kind="count", values=None, words=""):
    values = values or [(at * 37 + 11) % 90 for at in range(len(rows))]
    column = AnswerColumn("n", [count(*each) for each in enumerate(values)], kind, words)
    return Answer(keys=keys, rows=rows, columns=[column])


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


def edged(*edges):
    labels = [f"[{low}, {high})" for low, high in pairwise(edges)]
    return [(label,) for label in [*labels[:-1], labels[-1][:-1] + "]"]]


def histogram(*edges, values=None, keys=("bin",)):
    return table(keys, edged(*edges), "histogram", values, "histogram of age")


def test_bins_that_are_alike_touch_and_show_their_rows():
    axes = histogram(0, 10, 20, 30, values=[5, 40, 12]).plot().axes[0]
    assert [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in axes.patches] == [
        (0, 10, 5),
        (10, 10, 40),
        (20, 10, 12),
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", "rows in each bin")
    assert list(axes.get_xticks()) == [0, 10, 20, 30]


def test_bins_that_are_unlike_are_as_wide_as_they_are_and_their_areas_are_rows():
    answer = histogram(0, 18, 30, 65, 110, values=[310, 220, 640, 300])
    axes = answer.plot().axes[0]
    assert [bar.get_x() for bar in axes.patches] == [0, 18, 30, 65]
    assert [bar.get_width() * bar.get_height() / 12 for bar in axes.patches] == pytest.approx([310, 220, 640, 300])
    assert axes.get_ylabel().startswith("rows per 12 of age")
    segments = axes.collections[0].get_segments()
    assert tuple(segments[2][:, 1]) == pytest.approx(
        [answer.column().cells[2].low * 12 / 35, answer.column().cells[2].high * 12 / 35]
    )


def test_bins_too_narrow_to_be_seen_get_a_logarithmic_axis_and_show_their_rows():
    axes = histogram(0, 100, 1000, 10_000, 50_000, values=[5310, 1220, 240, 30]).plot().axes[0]
    assert [bar.get_height() for bar in axes.patches] == [5310, 1220, 240, 30]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("symlog", "age (logarithmic axis)")
    assert axes.get_ylabel() == "rows in each bin"
    assert [axes.xaxis.get_major_formatter()(place) for place in (1000, 50_000)] == ["1,000", "50,000"]


def test_bins_of_days_lie_on_an_axis_of_days():
    axes = histogram("2024-01-01", "2024-02-01", "2024-07-01", values=[31, 151]).plot().axes[0]
    assert [bar.get_width() for bar in axes.patches] == [31, 151]
    assert [bar.get_height() for bar in axes.patches] == [31, 31]
    assert axes.get_ylabel().startswith("rows per 31 days")


def test_months_are_alike():
    axes = histogram("2024-01-01", "2024-02-01", "2024-03-01", values=[31, 40]).plot().axes[0]
    assert [bar.get_height() for bar in axes.patches] == [31, 40]


def test_histograms_of_groups_have_a_panel_each_on_one_scale():
    rows = [(ward, label) for ward in "ABCDEFGHI" for (label,) in edged(0, 10, 40)]
    figure = table(("ward", "bin"), rows, "histogram", words="histogram of age").plot()
    assert [len(axes.patches) for axes in figure.axes] == [2] * 8
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.axes[1].get_title("left") == "n: histogram of age; ward B (the first 8 of 9 groups)"


def test_shares_of_a_histogram_keep_its_axis():
    counts = histogram(0, 18, 110, values=[100, 300])
    axes = (counts / counts.total()).plot().axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.25, 0.75])
    assert [bar.get_x() for bar in axes.patches] == [0, 18]


@pytest.mark.parametrize("labels", [[1, 2, 5], ["a", "b", "c"], ["[0, 10)", "[5, 20)", "[30, 20)"]])
def test_keys_of_a_histogram_are_named_one_beside_the_other(labels):
    axes = table(("key",), [(label,) for label in labels], "histogram").plot().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(map(str, labels))


def test_all_rows_are_a_dashed_line_over_a_distribution_function():
    axes = table(("at_most",), [(10,), (20,), ("all",)], "cdf", [5, 40, 90], "cdf of age").plot().axes[0]
    assert list(axes.lines[0].get_xdata()[:2]) == [10, 20]
    assert [list(line.get_ydata()) for line in axes.lines if line.get_linestyle() == "--"] == [[90, 90]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", "rows at or below")


def test_distribution_functions_of_groups_share_a_panel():
    rows = [(ward, most) for ward in "AB" for most in (10, 20, "all")]
    axes = table(("ward", "at_most"), rows, "cdf", words="cdf of age").plot().axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["A", "B"]
    assert axes.get_legend().get_title().get_text() == "ward"
    assert len(axes.collections) == 2


def test_many_days_are_bars_on_an_axis_of_days():
    first = dt.date(2024, 1, 1)
    axes = table(("day",), [(first + dt.timedelta(days=at),) for at in range(90)]).plot().axes[0]
    assert len(axes.patches) == 90
    assert axes.patches[0].get_x() + axes.patches[0].get_width() / 2 == (first - dt.date(1970, 1, 1)).days


def test_two_keys_with_many_values_lie_with_all_their_names():
    rows = [(ward, month) for ward in "ABC" for month in range(12)]
    axes = table(("ward", "month"), rows).plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["A / 0", "A / 1"]


def test_a_long_name_is_written_in_two_lines_and_keeps_both_ends():
    names = [f"an extraordinarily long diagnosis, with complications, as it is written in full ({at})" for at in (1, 2)]
    shown = [label.get_text() for label in table(("d",), [(name,) for name in names]).plot().axes[0].get_yticklabels()]
    assert all(len(text.splitlines()) == 2 and max(map(len, text.splitlines())) <= 34 for text in shown)
    assert [text[-3:] for text in shown] == ["(1)", "(2)"]


def test_an_interval_without_ends_is_drawn_without_an_error_bar():
    ratio = single(1000) / single(0, name="m", mark="9")
    assert len(ratio.plot().axes[0].patches) == 1


def test_truth_values_are_not_drawn():
    with pytest.raises(BadParameter, match="plot the numbers themselves"):
        (wards()["n"] > 5).plot()


@pytest.mark.parametrize(
    ("name", "why"), [("nowhere/a.png", "no such folder"), ("a.unknown", "its ending"), ("a", "its ending")]
)
def test_a_place_where_nothing_can_be_drawn_is_refused(name, why, tmp_path):
    with pytest.raises(BadParameter, match=why):
        wards().plot(tmp_path / name)


def test_a_picture_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(BadParameter, match="the picture could not be written"):
        wards().plot(tmp_path / "a.png")
