"""MST: what a choice of pairs may depend on, and which of two pairs that hang together alike is taken."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.publish.kernels import FINE, distances, weighed
from discreet.publish.methods.mst import Tree


# A star around attribute 0, a chain 4-5-6, and attribute 7 by itself.
def weighed_score(tree: Tree, pair: tuple[int, int], score: int) -> int:
    (found,) = weighed.function([score], [tree.weight(pair)])
    return found


FOREST = Tree.of(8).grown((0, 1)).grown((0, 2)).grown((0, 3)).grown((4, 5)).grown((5, 6))


def test_steps_count_the_pairs_on_the_way() -> None:
    assert [FOREST.steps[pair] for pair in ((0, 3), (1, 2), (4, 6))] == [1, 2, 2]
    assert [FOREST.joins(pair) for pair in ((1, 3), (0, 4))] == [True, False]
    whole = FOREST.grown((3, 4)).grown((0, 7))
    assert np.isfinite(whole.steps).all()
    assert [whole.steps[pair] for pair in ((1, 6), (7, 4))] == [5, 3]
    assert (whole.steps == whole.steps.T).all()


def test_of_pairs_that_hang_together_alike_the_one_in_the_middle_counts_most() -> None:
    scores = {pair: weighed_score(FOREST, pair, 1_000_000) for pair in ((0, 5), (0, 4), (1, 5), (1, 4), (0, 7))}
    assert scores[0, 5] > scores[0, 4] > scores[1, 4]
    assert scores[0, 5] > scores[1, 5] > scores[1, 4]
    assert weighed_score(Tree.of(2), (0, 1), 1_000_000) == 1_000_000


@given(
    score=st.integers(-(1 << 70), 1 << 70), apart=st.integers(0, FINE), pair=st.sampled_from([(0, 5), (1, 4), (2, 7)])
)
def test_weighing_a_pair_never_adds_to_what_a_row_can_move(score: int, apart: int, pair: tuple[int, int]) -> None:
    moved = weighed_score(FOREST, pair, score + apart) - weighed_score(FOREST, pair, score)
    assert 0 <= moved <= FINE


@given(
    place=st.integers(0, 5), expected=st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=6, max_size=6)
)
def test_a_row_moves_a_distance_by_one_row_at_most(place: int, expected: list[float]) -> None:
    before = np.arange(6, dtype=np.int64).reshape(1, 6)
    after = before.copy()
    after[0, place] += 1
    table = np.array([expected])
    assert abs(int(distances(after, table)[0] - distances(before, table)[0])) <= FINE
