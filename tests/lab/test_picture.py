"""Tests of pictures: every kind is drawn, and the ending of a file says how."""

import pytest

from discreet.core.errors import BadParameter
from discreet.lab.picture import Bars, Curves, GuideLine, Shades, save, svg

BARS = Bars(
    "Shares", ["one", "two"], [0.5, 0.9], "share", kinds=["good", "bad"], lines=[GuideLine(0.5, "chance")], percent=True
)
CURVES = Curves(
    "Lines", [("a", [(1, 1), (2, 4)]), ("b", [(1, 2)])], "x", "y", lines=[GuideLine(2, "law")], logarithmic="xy"
)
CELLS = Shades("Stairs", [[0, 1], [1, 1]], "user", "stage", marks=[(0, 1)])


@pytest.mark.parametrize("picture", [BARS, CURVES, CELLS], ids=["bars", "curves", "cells"])
def test_every_kind_is_drawn_for_pages_and_for_files(picture, tmp_path):
    drawn = svg(picture)
    assert drawn.startswith("<svg")
    assert drawn.rstrip().endswith("</svg>")
    for ending in (".png", ".svg", ".pdf"):
        save(picture, tmp_path / "new" / f"picture{ending}")
        assert (tmp_path / "new" / f"picture{ending}").stat().st_size > 1000


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="ending"):
        save(BARS, tmp_path / "picture.gif")
