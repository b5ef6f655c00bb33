"""Moments in milliseconds: Parquet's coarse timestamps as Spark reads them, without a conversion that could fail.

Spark turns them into microseconds while it reads, and fails where one does not fit: a single value would fail every
question. So they are read as the integers that they are, moved to the nearest moment that fits, and then converted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_MOST = ((1 << 63) - 1) // 1000
_MILLIS = "TIMESTAMP(MILLIS,"


def in_milliseconds(found: SparkSession, files: Iterable[str]) -> list[frozenset[str]]:
    """Return for each Parquet file the columns that are moments in milliseconds; only its schema is read."""
    java: Any = found._jvm  # noqa: SLF001  (PySpark has no other way to a file's own schema)
    settings = found._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    return [_columns(java, settings, file) for file in files]


def _columns(java: Any, settings: Any, file: str) -> frozenset[str]:  # noqa: ANN401  (objects of Java)
    parquet = java.org.apache.parquet.hadoop
    opened = parquet.ParquetFileReader.open(
        parquet.util.HadoopInputFile.fromPath(java.org.apache.hadoop.fs.Path(file), settings)
    )
    try:
        fields = [field for field in opened.getFileMetaData().getSchema().getFields() if field.isPrimitive()]
        return frozenset(
            str(field.getName()) for field in fields if str(field.getLogicalTypeAnnotation()).startswith(_MILLIS)
        )
    finally:
        opened.close()


def as_integers(schema: StructType, names: Iterable[str]) -> StructType:
    """Return a schema by which these columns are read as the integers that they are."""
    from pyspark.sql.types import LongType, StructField, StructType

    chosen = {*names}
    return StructType([StructField(each.name, LongType(), True) if each.name in chosen else each for each in schema])


def moment_sql(quoted: str, kind: str) -> str:
    """Write milliseconds since 1970 as a moment of a type; what is beyond all moments is the first or the last one."""
    within = f"timestamp_millis(greatest(least({quoted}, {_MOST}), {-_MOST}))"
    # Spark's least of null and a number is the number.
    return f"CAST(CASE WHEN {quoted} IS NOT NULL THEN {within} END AS {kind})"
