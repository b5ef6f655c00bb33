"""Choose: the least predicted error wins, and the reason is said."""

import pytest

from discreet import mechanisms
from discreet.core.errors import BadParameter
from discreet.mechanisms import Cdf, Count, Gaussian, Laplace, Quantile, choose, crossover, workload


def test_few_attributes_are_answered_by_laplace_and_many_by_gaussian_noise():
    turn = crossover(epsilon=1, delta=1e-6)
    assert isinstance(choose(workload.means(turn - 1), epsilon=1, delta=1e-6).mechanism, Laplace)
    assert isinstance(choose(workload.means(turn), epsilon=1, delta=1e-6).mechanism, Gaussian)


def test_a_smaller_delta_moves_the_crossover_up():
    assert crossover(epsilon=1, delta=1e-12) > crossover(epsilon=1, delta=1e-3) > 1


def test_without_a_delta_there_is_laplace_noise_alone():
    choice = choose(workload.means(500), epsilon=1)
    assert [candidate.name for candidate in choice.candidates] == ["laplace"]
    assert "only candidate" in choice.why


def test_many_thresholds_are_answered_by_a_tree():
    choice = choose(workload.thresholds(1000), epsilon=1, delta=1e-6)
    assert isinstance(choice.mechanism, Cdf)
    assert choice.mechanism.exact([0, 5, 999]).tolist() == workload.points(1000).answers([0, 5, 999]).tolist()


def test_candidates_come_best_first_with_the_errors_they_promise():
    choice = choose(workload.means(50), epsilon=1, delta=1e-6, beta=0.1)
    errors = [candidate.error for candidate in choice.candidates]
    assert errors == sorted(errors)
    assert errors == [each.mechanism.error(0.1, dimension=50) for each in choice.candidates]
    assert choice.mechanism is choice.candidates[0].mechanism


def test_the_reason_names_the_winner_its_error_and_the_others():
    choice = choose(workload.means(50), epsilon=1, delta=1e-6)
    assert choice.why.startswith("gaussian: off by at most")
    assert "laplace" in choice.why
    assert "times as much" in choice.why


@pytest.mark.parametrize(("count", "method"), [(2, "separate"), (63, "recursive")])
def test_few_quantiles_are_found_separately_and_many_one_inside_the_other(count, method):
    q = tuple((place + 1) / 64 for place in range(count))
    choice = choose(Quantile(q=q, low=0, high=1000, epsilon=1))
    assert choice.mechanism.method == method
    assert len(choice.candidates) == 2


def test_any_mechanisms_can_be_compared():
    choice = choose(Count(epsilon=1), Count(rho=0.005))
    assert choice.mechanism == Count(epsilon=1)


def test_it_is_called_as_a_name_of_the_package():
    assert mechanisms.choose(Count(epsilon=1)).mechanism == Count(epsilon=1)


def test_a_workload_needs_a_budget_and_mechanisms_have_theirs():
    with pytest.raises(BadParameter, match="epsilon"):
        choose(workload.means(3))
    with pytest.raises(BadParameter, match="epsilon"):
        choose(Count(epsilon=1), epsilon=1)


def test_mechanisms_without_any_error_are_compared_without_a_ratio():
    choice = choose(Count(epsilon=1), Count(epsilon=1000))
    assert choice.mechanism == Count(epsilon=1000)
    assert "times as much" not in choice.why
