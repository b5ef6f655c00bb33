"""Count: rows, or values that are not null."""

import discreet as dp
from tests.measures.made import made


def test_rows_or_present_values_are_counted_with_noise_for_all_rows_of_a_unit():
    assert [tally.kind for tally in made(dp.count()).tallies] == ["rows"]
    assert [tally.kind for tally in made(dp.count("x")).tallies] == ["present"]
    assert made(dp.count(), rows=20).noise == "Laplace, scale 20"
