"""What the tests of engines may ask for."""

from collections import Counter

import pytest

from tests.engines.subjects import ENGINES, Opened

# Spark takes its time for every plan. Of the many cases of these files it is given one in five in `make test`, all in
# `make check`; five, since the units of a table are gone through in fours and threes, and each of them is met so.
LONG, ONE_IN = ("test_marginals.py", "test_questions.py"), 5


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark four in five of Spark's cases slow."""
    seen = Counter()
    for item in items:
        if (
            item.path.name in LONG
            and getattr(item, "callspec", None)
            and item.callspec.params.get("subject") == "spark"
        ):
            test = item.nodeid.partition("[")[0]
            if seen[test] % ONE_IN:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


@pytest.fixture(scope="session")
def opened():
    found = Opened()
    yield found
    found.close()


@pytest.fixture(scope="session", params=ENGINES)
def subject(request, opened):
    """Each engine in turn, open, and able to read the same rows."""
    return opened[request.param]
