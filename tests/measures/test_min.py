"""Min: as low as the mechanism can tell ranks apart."""

import discreet as dp
from tests.measures.made import made


def test_a_minimum_lies_inside_the_data_and_its_end_further_inside():
    least, end = made(dp.min("x")).bought
    assert 0 < least.offset < end.offset
