"""Top k: a choice, whose loss is the same for any rows."""

import discreet as dp
from tests.measures.made import made


def test_the_most_frequent_keys_are_ranked_by_one_choice():
    found = made(dp.top_k("ward", 2))
    assert (found.title, found.labels) == ("rank", (1, 2))
    assert found.most_loss == found.loss == made(dp.top_k("ward", 2), rows=9).loss
