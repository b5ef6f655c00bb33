"""Private multiplicative weights: what it costs, what it promises, and that easy questions use up nothing."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.exact import Exact
from discreet.publish.allowance import Spending
from discreet.publish.domain import Domain
from discreet.publish.pmw import SHARES, Weights, picked
from discreet.publish.pmw_session import Ended, PublicHistogram, weigh
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made

DOMAIN = Domain.of({"first": 3, "second": 3, "third": 2, "fourth": 4})
APPROXIMATE = Budget(epsilon=1, delta=1e-6)


def questions(generator, many):
    """Return random questions about three columns, each with some of its codes."""
    for _ in range(many):
        places = generator.choice(4, 3, replace=False)
        yield {
            DOMAIN.names[place]: generator.choice(
                DOMAIN.sizes[place], generator.integers(1, DOMAIN.sizes[place]), replace=False
            ).tolist()
            for place in places
        }


def exact(columns, where):
    return int(np.logical_and.reduce([np.isin(columns[name], codes) for name, codes in where.items()]).sum())


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=Fraction(1, 50)), APPROXIMATE])
def test_the_parts_of_a_session_cost_no_more_than_the_whole(budget, rows):
    terms = Weights.of(DOMAIN, budget, rows=rows, updates=7)
    comparison, amount = terms.comparison(100), terms.allowance.amount
    if terms.allowance.currency == "epsilon":
        assert terms.loss == Pure(amount)
        compared, times = comparison.comparison.epsilon, 1
        assert comparison.comparison.cutoff == 7
    else:
        assert terms.loss == Zcdp(amount)
        compared, times = comparison.comparison.epsilon**2 / 2, 7
        assert comparison.comparison.cutoff == 1
    assert comparison.comparison.sensitivity == rows
    purse = terms.answers()
    for _ in range(7):
        terms.answered(purse, Exact(5))
    with pytest.raises(Refusal):
        terms.answered(purse, Exact(5))
    beginning, answering = SHARES[terms.allowance.currency]
    assert compared * times + purse.spent + beginning * amount <= amount
    assert purse.spent == answering * amount


@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=Fraction(1, 50))])
def test_under_replace_noise_is_for_the_row_that_leaves_and_the_row_that_enters(budget):
    # Replacing one row moves two cells of a histogram by one each: l1-sensitivity 2, not 1.
    removed, replaced = (Weights.of(DOMAIN, budget, relation=way) for way in ("add_remove", "replace"))
    assert (removed.allowance.rows, replaced.allowance.rows) == (1, 2)
    assert replaced.comparison(100).comparison.sensitivity == 2
    assert replaced.answers().allowance.rows == 2
    assert replaced.answering_error > removed.answering_error
    begun = replaced.begin(lambda cliques: [np.zeros(DOMAIN.shape(clique), np.int64) for clique in cliques])
    for one, two in zip(
        removed.begin(lambda cliques: [np.zeros(DOMAIN.shape(clique), np.int64) for clique in cliques]),
        begun,
        strict=True,
    ):
        assert two.scale == pytest.approx(2 * one.scale)


def test_terms_that_move_a_single_row_under_replace_cannot_be_made():
    terms = Weights.of(DOMAIN, Budget(epsilon=1))
    with pytest.raises(BadParameter, match="an even number changes"):
        replace(terms, relation="replace")


def test_the_beginning_costs_its_share_whatever_the_number_of_attributes(monkeypatch):
    spent = []
    measure = Spending.measure

    def remember(self, clique, counts, part):
        spent.append(part)
        return measure(self, clique, counts, part)

    monkeypatch.setattr(Spending, "measure", remember)
    terms = Weights.of(DOMAIN, Budget(epsilon=1))
    begun = terms.begin(lambda cliques: [np.zeros(DOMAIN.shape(clique), np.int64) for clique in cliques])
    assert [each.clique for each in begun] == [(), (0,), (1,), (2,), (3,)]
    assert sum(spent) == SHARES["epsilon"][0]


def test_a_delta_makes_many_updates_compare_with_less_noise():
    pure, approximate = (
        Weights.of(DOMAIN, budget, updates=400) for budget in (Budget(epsilon=1), Budget(epsilon=1, delta=1e-6))
    )
    assert (pure.allowance.currency, approximate.allowance.currency) == ("epsilon", "rho")
    assert approximate.comparing_error < pure.comparing_error / 2
    assert approximate.answering_error < pure.answering_error / 2


def test_a_histogram_moves_to_where_it_agrees_and_keeps_all_proportions():
    found = PublicHistogram(made(1).dirichlet(np.ones(12)).reshape(3, 4))
    before, where = found.table.copy(), {0: (0, 2), 1: (1,)}
    found.move(where, 0.4)
    meant = np.zeros((3, 4), bool)
    meant[[0, 2], 1] = True
    assert found.share(where) == pytest.approx(0.4)
    assert found.table.sum() == pytest.approx(1)
    np.testing.assert_allclose(found.table[meant] / found.table[meant].sum(), before[meant] / before[meant].sum())
    np.testing.assert_allclose(found.table[~meant] / found.table[~meant].sum(), before[~meant] / before[~meant].sum())
    assert found.share({}) == 1
    found.move({0: (0, 1, 2)}, 0.5)  # all of it: there is nothing to move
    assert found.table.sum() == pytest.approx(1)


@pytest.mark.parametrize("budget", [Budget(epsilon=4), Budget(rho=Fraction(1, 2))])
def test_most_questions_need_no_update_and_all_bars_hold(budget):
    """Bars hold together with probability 1 - 1e-6."""
    domain, columns = dependent_table(made(1), rows=8000)
    with seeded(1):
        session = weigh(columns, domain, budget=budget, alpha=0.05, updates=20, questions=300, beta=1e-6)
        for where in questions(made(2), 300):
            found = session.answer(where)
            assert found.low <= exact(columns, where) <= found.high
            assert found.error <= 0.05 * session.rows + max(
                session.terms.comparing_error + 1, session.terms.answering_error
            )
    assert 1 <= session.updates <= 300 / 10
    assert session.asked == 300
    assert "all of it spent at the start" in session.words[0]


def test_the_same_question_again_needs_no_second_update():
    domain, columns = dependent_table(made(1), rows=8000)
    where = {"first": 0, "second": [1, 2]}
    with seeded(2):
        session = weigh(columns, domain, budget=Budget(epsilon=20), alpha=0.05)
        for _ in range(20):
            found = session.answer(where)
    assert session.updates == 1
    assert abs(found.value - exact(columns, {"first": [0], "second": [1, 2]})) < 200


def test_a_session_ends_with_its_updates_and_its_synthetic_data_goes_on():
    domain, columns = dependent_table(made(1))
    with seeded(3):
        session = weigh(columns, domain, budget=Budget(epsilon=50), alpha=0.001, updates=2)
        with pytest.raises(Ended, match="2 updates"):
            [session.answer(where) for where in questions(made(4), 200)]
    assert session.left == 0
    asked = session.asked
    with pytest.raises(Ended):
        session.answer({"first": 0})
    assert session.asked == asked
    synthetic = session.synthetic_data()
    assert synthetic.loss == session.terms.loss
    assert synthetic.answer({"first": 0}).error is None
    assert len(synthetic.codes(10)["first"]) == 10


def test_a_session_ends_with_its_questions():
    domain, columns = dependent_table(made(1))
    session = weigh(columns, domain, budget=Budget(epsilon=1), alpha=0.5, questions=3)
    for _ in range(3):
        session.answer({"first": 0})
    with pytest.raises(Ended, match="3 questions"):
        session.answer({"first": 0})


def test_a_session_is_not_copied_or_stored():
    domain, columns = dependent_table(made(1))
    session = weigh(columns, domain, budget=Budget(epsilon=1))
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Ended, match="same noise"):
            make(session)


def test_threads_ask_one_at_a_time():
    domain, columns = dependent_table(made(1))
    session = weigh(columns, domain, budget=Budget(epsilon=1), alpha=0.5, questions=50)

    def ask(_):
        try:
            session.answer({"first": 0})
        except Ended:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(80))) == 50
    assert session.asked == 50


def test_an_empty_table_is_answered_and_a_null_counts_nowhere():
    with seeded(5):
        empty = weigh({"a": np.zeros(0, int)}, {"a": 2}, budget=Budget(epsilon=1))
        assert empty.answer({"a": 0}).value >= 0
        nulls = weigh({"a": np.full(1000, 9)}, {"a": 2}, budget=Budget(epsilon=50), alpha=0.1)
        assert nulls.answer({"a": 0}).value < 50


def test_what_cannot_be_asked_is_refused_and_uses_up_nothing():
    domain, columns = dependent_table(made(1))
    session = weigh(columns, domain, budget=Budget(epsilon=1))
    for where, refusal in (
        ({"frist": 0}, UnknownName),
        ({"first": 3}, BadParameter),
        ({"first": []}, BadParameter),
        ({"first": True}, BadParameter),
    ):
        with pytest.raises(refusal):
            session.answer(where)
    assert session.asked == 0
    with pytest.raises(Refusal, match="cells"):
        weigh({}, {f"a{place}": 10 for place in range(10)}, budget=Budget(epsilon=1))
    for name, value in (("alpha", 0), ("alpha", 1), ("beta", 1), ("updates", 0), ("questions", 0)):
        with pytest.raises(BadParameter, match=name):
            weigh(columns, domain, budget=Budget(epsilon=1), **{name: value})


@pytest.mark.parametrize("codes", [range(10**12), 1.0, None, "1"])
def test_codes_that_are_none_are_refused_one_by_one(codes):
    with pytest.raises(BadParameter):
        picked(Domain.of({"a": 4}), {"a": codes})
