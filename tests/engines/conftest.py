"""What the tests of engines may ask for."""

from collections import Counter

import pytest

from tests.engines.subjects import ENGINES, SUBJECTS, Opened

# Of the many cases of these files a slow engine is given one in `one_in` in `make test`, and all in `make check`.
LONG = ("test_batches.py", "test_links.py", "test_marginals.py", "test_questions.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the other cases of a slow engine slow."""
    seen = Counter()
    for item in items:
        engine = item.callspec.params.get("subject") if hasattr(item, "callspec") else None
        if item.path.name in LONG and engine in SUBJECTS:
            test = engine, item.nodeid.partition("[")[0]
            if seen[test] % SUBJECTS[engine].one_in:
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
