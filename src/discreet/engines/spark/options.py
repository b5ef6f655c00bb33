"""The kind of source that Spark reads: a folder of Parquet files or a table of its catalog, and where Spark runs."""

from __future__ import annotations

from pathlib import Path

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.engines.source import Source, SourceKind, SourceOptions


@dataclass(frozen=True, slots=True)
class Cluster(SourceOptions):
    """Where Spark runs: `master` as Spark writes it ("local[2]", "spark://host:7077", "yarn"); by default, where it is.

    With `catalog` the path of the source is the name of a table in Spark's catalog, not a folder.
    """

    master: str | None = None
    catalog: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.catalog, bool):
            why = "it says whether a table of the catalog is meant"
            raise BadParameter("catalog", self.catalog, why=why, fix="use True or False")
        if self.master is None:
            return
        if not isinstance(self.master, str) or not self.master.strip():
            why, fix = "it says where Spark runs", 'write "local[2]" or "spark://host:7077", or leave it out'
            raise BadParameter("master", self.master, why=why, fix=fix)
        if self.master.lower().startswith("sc://"):
            # Spark Connect ships local rows inside the plan, where others could read the vault's secret order.
            why = "Spark Connect would send the secret order of the vault inside the text of a plan"
            raise BadParameter("master", self.master, why=why, fix="run where the driver runs, as in spark://host:7077")


KINDS = {"spark": SourceKind(Cluster, written="spark(path)")}


def spark(where: str | Path, *, master: str | None = None, catalog: bool = False) -> Source:
    """Describe a folder of Parquet files that Spark reads, or, with `catalog=True`, a table of its catalog.

    `master` is where Spark runs, as in "local[2]" or "spark://host:7077"; without one, where it runs already.
    """
    return Source("spark", str(where), Cluster(master, catalog))


def located(text: str) -> Source | None:
    """Return the source that spark:folder or spark-table:name means; None for all else."""
    if not text.lower().startswith(("spark:", "spark-table:")):
        return None
    scheme, _, path = text.partition(":")
    return spark(path, catalog=scheme.lower() == "spark-table")
