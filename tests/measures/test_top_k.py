"""Top k: a choice, whose loss is the same for any rows."""

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.core.exact import Exact
from tests.measures.made import made


def test_the_most_frequent_keys_are_ranked_by_one_choice():
    found = made(dp.top_k("ward", 2))
    assert (found.title, found.labels) == ("rank", (1, 2))
    assert found.most_loss == found.loss == made(dp.top_k("ward", 2), rows=9).loss


def test_every_group_is_told_its_own_keys():
    found = made(dp.top_k("ward", 1), Price.of(epsilon=1000))
    # Two bins in each of three groups, one after the other; no choice is this unlikely to be the best.
    counts = Exact([(90,), (0,), (0,), (90,), (90,), (0,)])
    (column,) = found.noisy(counts, 3, "mark")
    first, last = found.mechanism.keys
    assert [told.value for told in column] == [first, last, first]
