"""Limits of a token: so many requests at once, so many worked on together, and as many saved up as the burst."""

from contextlib import ExitStack

import pytest

from discreet.curator.remote.problem import TooMany
from discreet.serve.api import limits
from discreet.serve.api.limits import TokenLimits


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""
    now = [0.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    return now


def answered(token):
    with token.request():
        pass


def test_a_token_has_so_many_requests_worked_on_together_and_not_one_more(clock):
    token = TokenLimits(rate=10, burst=100, concurrent=2)
    with ExitStack() as working:
        for _ in range(2):
            working.enter_context(token.request())
        with pytest.raises(TooMany, match="2 requests of this token are being answered"):
            answered(token)
    answered(token)


def test_a_token_that_rests_saves_up_a_burst_and_no_more(clock):
    token = TokenLimits(rate=1, burst=3, concurrent=5)
    clock[0] = 10**6
    for _ in range(3):
        answered(token)
    with pytest.raises(TooMany) as refused:
        answered(token)
    assert refused.value.seconds == 1
    clock[0] += 1
    answered(token)


def test_a_request_that_fails_is_worked_on_no_longer(clock):
    token = TokenLimits(rate=1, burst=3, concurrent=1)
    with pytest.raises(KeyError), token.request():
        raise KeyError
    answered(token)
