"""Clusters: where Spark runs, and whether it is a folder or a table of its catalog that is read."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import BadParameter


@dataclass(frozen=True, slots=True)
class Cluster:
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
