"""What the tests of Spark may ask for."""

import pytest

from tests.engines.spark.sample_files import SECRET
from tests.spark import opened


@pytest.fixture(scope="module")
def ours():
    with opened(SECRET) as engine:
        yield engine
