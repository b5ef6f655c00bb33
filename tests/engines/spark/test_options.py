"""Spark's options: where it runs, and what is stored of a source."""

import pytest

from discreet.core.errors import BadParameter
from discreet.engines.source import Source
from discreet.engines.spark import source as home
from discreet.engines.spark.options import Cluster, spark


@pytest.mark.parametrize(
    ("master", "why"), [("", "where Spark runs"), (5, "where Spark runs"), ("sc://host", "secret")]
)
def test_a_master_that_cannot_be_is_refused(master, why):
    with pytest.raises(BadParameter, match=why):
        Cluster(master)
    with pytest.raises(BadParameter, match="catalog"):
        Cluster(None, catalog="yes")


def test_sources_are_stored_as_json():
    source = spark("visits", master="yarn", catalog=True)
    assert Source.from_json(source.to_json()) == source
    assert home.from_sql(source) != home.from_sql(spark("visits", catalog=True))
