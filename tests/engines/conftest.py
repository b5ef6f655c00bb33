"""What the tests of engines may ask for; an engine's tests stay on one worker, so that its server starts once."""

import pytest

from tests.engines.subjects import SUBJECTS, Opened


@pytest.fixture(scope="session")
def opened():
    found = Opened()
    yield found
    found.close()


@pytest.fixture(scope="session", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SUBJECTS])
def subject(request, opened):
    """Each engine in turn, open, and able to read the same rows."""
    return opened[request.param]
