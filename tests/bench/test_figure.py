"""Figures and bars: comparison per item, limits, and how they read."""

import pytest
from bench.harness.bar import at_most, faster
from bench.harness.figure import compare, show, show_compared


def test_a_ratio_is_the_peers_figure_over_ours():
    assert compare({"discreet": 2.0, "a": 6.0}, "ratio", "a") == 3.0


def test_a_difference_is_ours_above_the_peers():
    assert compare({"discreet": 2.5, "a": 2.0}, "difference", "a") == 0.5


@pytest.mark.parametrize("figures", [{}, {"discreet": 1.0}, {"a": 1.0}, {"discreet": 0.0, "a": 1.0}])
def test_nothing_is_compared_when_a_figure_is_missing_or_a_ratio_has_no_ground(figures):
    assert compare(figures, "ratio", "a") is None
    assert not faster("a", 0.001).cleared(figures)


def test_a_ratio_bar_is_cleared_at_its_limit_and_missed_just_below():
    bar = faster("a", 10)
    assert bar.cleared({"discreet": 1.0, "a": 10.0})
    assert not bar.cleared({"discreet": 1.0, "a": 9.999})


def test_an_absolute_bar_is_cleared_at_its_limit_and_missed_just_above():
    bar = at_most(0.05)
    assert bar.cleared({"discreet": 0.05})
    assert not bar.cleared({"discreet": 0.0501})
    assert not bar.cleared({})


def test_a_bar_above_a_peer_looks_at_the_difference_alone():
    bar = at_most(0.03, above="bare")
    assert bar.cleared({"discreet": 5.02, "bare": 5.0})
    assert not bar.cleared({"discreet": 0.04, "bare": 0.001})
    assert not bar.cleared({"discreet": 0.01})


@pytest.mark.parametrize(
    ("figure", "unit", "text"),
    [
        (1.52e-9, "s", "1.52 ns"),
        (4.2e-13, "s", "0.00 ns"),
        (0.0123, "s", "12.3 ms"),
        (123.4, "s", "123 s"),
        (64_000_000, "B", "64.0 MB"),
        (512, "B", "512 B"),
        (-0.002, "s", "-2.00 ms"),
        (0.0, "s", "0.00 ns"),
    ],
)
def test_a_figure_is_shown_with_three_digits_in_a_readable_unit(figure, unit, text):
    assert show(figure, unit) == text


def test_comparisons_show_what_they_are():
    assert show_compared(1234.4, "ratio", "s") == "1,234x"
    assert show_compared(0.004, "difference", "s") == "+4.00 ms"
    assert show_compared(-0.004, "difference", "s") == "-4.00 ms"
    assert show_compared(0.004, "figure", "s") == "4.00 ms"


def test_a_bar_says_its_promise():
    assert faster("a", 1000).text("s") == ">= 1,000x"
    assert at_most(0.05).text("s") == "<= 50.0 ms"
    assert at_most(0.03, above="bare").text("s") == "<= +30.0 ms"
    assert at_most(64_000_000).text("B") == "<= 64.0 MB"
