"""Max: as high as the mechanism can tell ranks apart."""

import discreet as dp
from tests.measures.made import made


def test_a_maximum_lies_inside_the_data_and_its_end_further_inside():
    most, end = made(dp.max("x")).bought
    assert 0 > most.offset > end.offset
