"""Fixtures of the ledger's tests. A module that says EVERY_STORE runs once for each kind of store."""

import pytest

from discreet.ledger import Ledger
from tests.ledger.helpers import Clock, epsilon
from tests.ledger.stores import STORES, homes, new_place


def pytest_generate_tests(metafunc):
    if "store" in metafunc.fixturenames and getattr(metafunc.module, "EVERY_STORE", False):
        metafunc.parametrize("store", STORES, indirect=True)


@pytest.fixture
def store(request):
    return getattr(request, "param", "sqlite")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(store, tmp_path, monkeypatch):
    """The path, or the URL, of a vault to be made."""
    for name, value in homes(tmp_path).items():
        monkeypatch.setenv(name, value)
    return new_place(store, tmp_path)


@pytest.fixture
def ledger(path, clock):
    """A vault with one account, people, of epsilon 1."""
    with Ledger.create(path, clock=clock) as made:
        made.add_account("people", epsilon(1))
        yield made
