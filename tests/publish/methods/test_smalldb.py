"""SmallDB: every small database once, scores that one row moves by m at most, and a bound that holds."""

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.core.doors import opened
from discreet.core.errors import BadParameter, Refusal
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Coded
from discreet.publish.domain import Domain
from discreet.publish.kernels import database_scores
from discreet.publish.method import MarginalWorkload
from discreet.publish.methods import smalldb
from discreet.testing import seeded
from tests.publish.worlds import made

DOMAIN = Domain.of({"a": 2, "b": 3})


def table(rows=2000, seed=1):
    generator = made(seed)
    first = generator.random(rows) < 0.3
    return {"a": first.astype(int), "b": np.where(first, 2, generator.integers(0, 3, rows))}


@pytest.mark.parametrize(("cells", "rows"), [(1, 4), (2, 3), (4, 5), (6, 1)])
def test_every_multiset_is_gone_through_once(cells, rows):
    found = smalldb._multisets(cells, rows).tolist()
    wanted = [list(each) for each in product(range(rows + 1), repeat=cells) if sum(each) == rows]
    assert sorted(found) == sorted(wanted)
    assert len(found) == smalldb.Sizes(cells, cells, rows).databases


def test_one_row_moves_every_score_by_m_at_most():
    candidates = smalldb._multisets(6, 4)
    questions = smalldb._questions(DOMAIN, [(0,), (1,), (0, 1)])
    assert len(questions) == 2 + 3 + 6
    exact = made(2).integers(0, 20, 6)
    before = np.array(database_scores.function(exact, candidates, questions, 50))
    moves = []
    for cell in range(6):
        after = np.array(database_scores.function(exact + (np.arange(6) == cell), candidates, questions, 50))
        moves.append(abs(after - before).max())
    assert max(moves) == 4


def test_scores_are_the_largest_error_of_any_cell_in_m_ths_of_a_row():
    candidates, exact = smalldb._multisets(6, 3), np.array([5, 0, 2, 9, 1, 3])
    questions = smalldb._questions(DOMAIN, [(0,), (1,)])
    for candidate, score in zip(candidates, database_scores.function(exact, candidates, questions, 20), strict=True):
        errors = []
        for axis in (0, 1):
            told = 20 * candidate.reshape(2, 3).sum(axis=axis) / 3
            errors += abs(told - exact.reshape(2, 3).sum(axis=axis)).tolist()
        assert score == pytest.approx(-3 * max(errors))


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5)])
def test_some_small_database_is_within_alpha_of_every_table(alpha):
    """Existence is what the theorem says; random tables, and ones with all rows in few cells."""
    sizes = smalldb.Sizes.of(6, 11, alpha)
    assert sizes.near <= alpha
    candidates, questions = smalldb._multisets(6, sizes.rows), smalldb._questions(DOMAIN, [(0,), (1,), (0, 1)])
    generator = made(3)
    for sharp in (0.1, 1, 10):
        for _ in range(10):
            exact = generator.multinomial(1000, generator.dirichlet([sharp] * 6))
            best = max(database_scores.function(exact, candidates, questions, 1000))
            assert -best / sizes.rows <= sizes.near * 1000


@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(epsilon=1, delta=1e-6)])
def test_the_printed_bound_holds(budget):
    columns = table()
    exact = np.histogram2d(columns["a"], columns["b"], bins=[2, 3])[0]
    with seeded(4):
        synthetic = publish.synthesize(columns, DOMAIN, budget=budget, method="smalldb", workload=2)
    (words,) = synthetic.words
    bound = float(re.search(r"off by more than ([\d.]+)", words)[1])
    assert abs(synthetic.marginal(["a", "b"]) - exact).max() / 2000 <= bound < 0.5
    assert abs(synthetic.rows - 2000) < 200


def test_the_choice_is_made_with_what_the_number_of_rows_has_left(monkeypatch):
    calls = []
    choose = Spending.choose
    monkeypatch.setattr(
        Spending, "choose", lambda *given: calls.append(given) or choose(*given)
    )  # purse, scores, moves, part
    columns, allowance = table(100), Allowance.of(Budget(epsilon=1), rows=3)
    with seeded(5):
        built = smalldb.build(
            Coded.of(columns, DOMAIN).measure, DOMAIN, allowance, MarginalWorkload.of(DOMAIN, 2), lambda _: None
        )
    ((purse, scores, moves, part),) = calls
    rows = smalldb.Sizes.of(6, 6, smalldb.ALPHA).rows
    assert (moves, part, len(opened(scores))) == (rows, Fraction(9, 10), math.comb(5 + rows, rows))
    assert purse.spent == 1
    assert (built.model.tables[0] * rows).sum() == pytest.approx(rows)


def test_a_synthetic_of_few_rows_is_kept_and_read_again(tmp_path):
    with seeded(6):
        synthetic = publish.synthesize(table(), DOMAIN, budget=Budget(epsilon=1), method="smalldb", workload=1)
    synthetic.save(tmp_path / "synthetic.json")
    again = publish.load(tmp_path / "synthetic.json")
    assert again.words == synthetic.words
    np.testing.assert_array_equal(again.marginal("b"), synthetic.marginal("b"))
    assert again.answer({}).error is not None


def test_a_domain_that_would_not_end_is_refused_with_its_size_before_a_row_is_read():
    wide = Domain.of({"a": 10, "b": 10})
    with pytest.raises(Refusal, match="no faster way is known") as refused:
        publish.synthesize({"a": [0], "b": [0]}, wide, budget=Budget(epsilon=1), method="smalldb")
    assert refused.value.value > smalldb.MOST_DATABASES
    with pytest.raises(Refusal):
        publish.synthesize(
            {"a": [0], "b": [0]}, Domain.of({"a": 60_000, "b": 60_000}), budget=Budget(epsilon=1), method="smalldb"
        )
    with pytest.raises(BadParameter, match="alpha"):
        smalldb.build(
            lambda _: pytest.fail("a row was read"),
            DOMAIN,
            Allowance.of(Budget(epsilon=1)),
            MarginalWorkload.of(DOMAIN),
            lambda _: None,
            alpha=2,
        )
