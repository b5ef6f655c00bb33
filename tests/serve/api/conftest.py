"""A served vault for a whole file of tests."""

import pytest

from tests.serve.api.served import served


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as made:
        yield made
