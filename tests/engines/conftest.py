"""What the tests of engines may ask for."""

import pytest

from tests.engines.subjects import ENGINES, Opened


@pytest.fixture(scope="session")
def opened():
    found = Opened()
    yield found
    found.close()


@pytest.fixture(scope="session", params=ENGINES)
def subject(request, opened):
    """Each engine in turn, open, and able to read the same rows."""
    return opened[request.param]
