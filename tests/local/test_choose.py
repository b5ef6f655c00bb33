"""The chooser: the least error that fits, told with its reasons."""

import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.choose import _candidates


@pytest.mark.parametrize(
    ("k", "epsilon", "most", "chosen"),
    [
        (2, 1, None, "randomized_response"),
        (4, 2, None, "randomized_response"),
        (100, 1, None, "local_hash"),
        (100, 1, 1, "hadamard"),
        (1000, 8, None, "randomized_response"),
        (100_000, 1, 3, "local_hash"),
    ],
)
def test_the_least_error_that_fits_is_chosen(k, epsilon, most, chosen):
    choice = local.choose(k, epsilon, 10_000, max_bytes=most)
    assert choice.protocol.name == chosen
    fitting = [option for option in choice.options if option.fits]
    least = min(option.error for option in fitting)
    assert choice.protocol.error(10_000) <= 1.02 * least
    assert all(most is None or option.bytes_per_report <= most for option in fitting)
    assert all(option.seconds >= 0 for option in choice.options)


def test_a_choice_prints_every_option_and_why():
    choice = local.choose(1000, 1, 1_000_000, max_bytes=10)
    text = str(choice)
    assert text.splitlines()[-1] == choice.why
    assert "unary needs 125" in choice.why or "least error" in choice.why
    for option in choice.options:
        assert option.protocol.name in text
    assert "too long" in text
    assert "->" in text


def test_predicted_errors_are_those_of_the_protocols():
    for option in local.choose(50, 0.5, 5000).options:
        assert option.error == option.protocol.error(5000)
        assert option.bytes_per_report == option.protocol.bytes_per_report


def test_more_values_than_a_sketch_tells_apart_leave_the_others():
    names = {protocol.name for protocol in _candidates((1 << 24) + 1, 1)}
    assert "local_hash" not in names
    assert "hadamard" in names


def test_a_limit_that_nothing_meets_is_refused():
    with pytest.raises(BadParameter, match="shortest report"):
        local.choose(100_000, 1, 10, max_bytes=2)
    with pytest.raises(BadParameter):
        local.choose(100, 1, 0)
