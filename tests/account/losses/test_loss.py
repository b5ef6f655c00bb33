"""Losses as values: algebra, relations, refusals, methods and JSON."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.account import (
    Approx,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Parallel,
    PrivacyLoss,
    Pure,
    RandomizedResponse,
    Renyi,
    Sampled,
    Unsupported,
    Zcdp,
    total,
)
from discreet.core.errors import BadParameter, UnknownName
from tests.account.cases import ALL, SINGLE

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "losses.json").read_text(encoding="utf-8"))


def test_equal_parts_are_counted_and_sums_are_values():
    loss = Laplace(1) + Gaussian(2) + Laplace(1)
    assert loss == Gaussian(2) + Laplace(1) * 2
    assert hash(loss) == hash(Laplace(1) * 2 + Gaussian(2))
    assert {type(part): count for part, count in loss.parts} == {Laplace: 2, Gaussian: 1}


def test_sums_and_totals_agree():
    losses = [Laplace(10 + i % 7) for i in range(50)]
    assert sum(losses) == total(losses)
    assert Laplace(1) * 1 == Laplace(1)
    assert 3 * Laplace(1) == Laplace(1) * 3


def test_a_sum_of_many_unlike_losses_is_made_in_reasonable_time():
    losses = [Laplace(10 + i) for i in range(2000)]
    assert len(sum(losses).parts) == 2000


def test_losses_are_frozen():
    with pytest.raises(AttributeError):
        Laplace(1).scale = 2
    with pytest.raises(AttributeError):
        Pure(1).epsilon0 = 2


def test_a_loss_shows_what_it_is():
    assert repr(Pure(Fraction(1, 2))) == "Pure(epsilon=Fraction(1, 2))"
    assert repr(Approx(1, 1e-6, relation="replace")) == "Approx(epsilon=1, delta=1e-06, relation='replace')"


def test_parameters_are_kept_exactly():
    assert Laplace(Fraction(1, 3)).scale == Fraction(1, 3)
    assert type(Laplace(Fraction(1, 3)).scale) is Fraction
    assert type(Laplace(np.float64(0.5)).scale) is float
    assert type(Laplace(np.int64(2)).scale) is int


@pytest.mark.parametrize("name", SINGLE)
def test_every_loss_carries_its_relation(name):
    loss = SINGLE[name]
    assert loss.relation == "add_remove"
    given = loss.parameters() | {"relation": "replace"}
    assert type(loss)(**given).relation == "replace"
    with pytest.raises(BadParameter, match="relation='neighbours'"):
        type(loss)(**loss.parameters() | {"relation": "neighbours"})


def test_relations_do_not_mix():
    with pytest.raises(BadParameter, match="not neighbours of the other"):
        Laplace(1) + Laplace(1, relation="replace")
    with pytest.raises(BadParameter, match="not neighbours of the other"):
        total([Laplace(i + 1) for i in range(9)]) + Laplace(1, relation="replace")


BAD = {
    "scale": [
        (Laplace, (0,)),
        (Laplace, (-1,)),
        (DiscreteLaplace, (math.nan,)),
        (Laplace, (math.inf,)),
        (Laplace, ("2",)),
    ],
    "sigma": [(Gaussian, (0,)), (Gaussian, (-0.5,)), (DiscreteGaussian, (math.nan,)), (Gaussian, (True,))],
    "sensitivity": [(DiscreteLaplace, (1, 0)), (DiscreteGaussian, (1, 2.5)), (DiscreteGaussian, (1, -1))],
    "epsilon": [(Pure, (-1,)), (RandomizedResponse, (math.nan,)), (Exponential, (-0.1,)), (Approx, (math.inf, 0.1))],
    "delta": [(Approx, (1, 1)), (Approx, (1, -1e-9)), (Zcdp, (1, 1.5)), (Approx, (1, math.nan))],
    "rho": [(Zcdp, (-1,)), (Zcdp, (math.nan,))],
    "mu": [(GaussianDP, (-1,)), (GaussianDP, (math.inf,))],
}


@pytest.mark.parametrize(("name", "kind", "values"), [(n, k, v) for n, rows in BAD.items() for k, v in rows])
def test_parameters_that_make_no_sense_are_refused_by_name_value_and_fix(name, kind, values):
    with pytest.raises(BadParameter) as refusal:
        kind(*values)
    assert refusal.value.name == name
    assert any(refusal.value.value is value for value in values)
    assert refusal.value.fix


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, "1e-6"])
def test_a_delta_that_makes_no_sense_is_refused(delta):
    with pytest.raises(BadParameter, match="delta="):
        Laplace(1).epsilon(delta)


@pytest.mark.parametrize("epsilon", [-1, math.nan, math.inf])
def test_an_epsilon_that_makes_no_sense_is_refused(epsilon):
    with pytest.raises(BadParameter, match="epsilon="):
        Laplace(1).delta(epsilon)


@pytest.mark.parametrize("k", [0, -1, 2.5, 2.0, math.nan, True])
def test_a_count_that_makes_no_sense_is_refused(k):
    with pytest.raises(BadParameter, match="k="):
        Laplace(1) * k
    with pytest.raises(BadParameter, match="k="):
        Laplace(1).group(k)


@pytest.mark.parametrize("alpha", [0.5, 0, -2, math.nan])
def test_an_order_below_one_is_refused(alpha):
    with pytest.raises(BadParameter, match="alphas="):
        Laplace(1).rdp(alpha)
    with pytest.raises(BadParameter, match="alphas="):
        Laplace(1).rdp([2, alpha])


def test_accountants_are_named_and_what_they_cannot_do_is_refused_by_name():
    assert (Laplace(1) * 2).methods() == ("pld", "renyi", "zcdp", "pure")
    assert Gaussian(1).methods() == ("gaussian", "pld", "renyi", "zcdp")
    assert Zcdp(1).methods() == ("renyi", "zcdp")
    with pytest.raises(Unsupported, match="'gaussian'"):
        Laplace(1).epsilon(1e-6, method="gaussian")
    with pytest.raises(UnknownName):
        Laplace(1).epsilon(1e-6, method="rnyi")


@pytest.mark.parametrize("name", ALL)
def test_every_loss_answers_or_refuses_every_question(name):
    loss = ALL[name]
    epsilon = loss.epsilon(1e-6)
    assert 0 < epsilon < 10
    assert loss.delta(epsilon * 1.001) <= 1.01e-6
    if loss.slack == 0 and loss.rho is not None:
        assert 0 < loss.zcdp() < 100
    if loss.slack == 0 and loss.has_divergence:
        assert 0 < loss.rdp(2) <= loss.rdp([2, 3])[1]
    assert ((curve := loss.tradeoff([0.01, 0.1])) > 0).all()
    assert curve[0] >= curve[1]


@pytest.mark.parametrize("name", GOLDEN)
def test_the_meaning_of_a_stored_loss_never_changes(name):
    loss = PrivacyLoss.from_json(json.dumps(GOLDEN[name]))
    assert loss == ALL[name]
    assert json.loads(loss.to_json()) == GOLDEN[name]


def test_every_kind_of_loss_is_in_the_golden_file():
    assert set(GOLDEN) == set(ALL)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"discreet": 1}',
        '{"discreet": 2, "loss": {"kind": "Pure", "epsilon": 1, "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Pure", "epsilon": -1, "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Pure", "epsilon": "1/0", "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Pure", "epsilon": 1, "relation": "replaced"}}',
        '{"discreet": 1, "loss": {"kind": "Pure", "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Pure", "epsilon": 1, "delta": 0, "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Poor", "epsilon": 1, "relation": "add_remove"}}',
        '{"discreet": 1, "loss": {"kind": "Composed", "of": [], "relation": "add_remove"}}',
        '{"discreet": 1, "loss": 3}',
    ],
)
def test_text_that_is_no_loss_is_refused(text):
    with pytest.raises((BadParameter, UnknownName)):
        PrivacyLoss.from_json(text)


def test_compositions_check_their_parts():
    with pytest.raises(BadParameter):
        Composed(((Laplace(1), 0),))
    with pytest.raises(BadParameter):
        Composed(((Laplace(1, relation="replace"), 1),))
    with pytest.raises(BadParameter, match="nothing happened"):
        total([])
    with pytest.raises(BadParameter):
        Parallel(())


def test_what_is_not_a_loss_is_not_added():
    with pytest.raises(TypeError):
        Laplace(1) + 1.0
    assert isinstance(Gaussian(1).sampled(0.5), Sampled)
    assert isinstance(Renyi({2: 1}) + Pure(1), Composed)
