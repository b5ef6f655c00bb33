"""Fixtures of the ledger's tests."""

import pytest

from discreet.ledger import Ledger
from tests.ledger.helpers import Clock, epsilon


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vault.discreet"


@pytest.fixture
def ledger(path, clock):
    """A vault with one account, people, of epsilon 1."""
    with Ledger.create(path, clock=clock) as made:
        made.add_account("people", epsilon(1))
        yield made
