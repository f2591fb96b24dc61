"""The size of a row without overhead, for write amplification and estimates of time. Pure."""

from __future__ import annotations

import re

from scale_sweep.model import Workload

TIMESTAMP_BYTES = 8
_FIXED = {
    "bool": 1,
    "tinyint": 1,
    "utinyint": 1,
    "smallint": 2,
    "usmallint": 2,
    "int": 4,
    "uint": 4,
    "float": 4,
    "bigint": 8,
    "ubigint": 8,
    "double": 8,
    "timestamp": 8,
}
_SIZED = re.compile(r"\w+\((\d+)\)")


def row_bytes(workload: Workload) -> int:
    """Bytes of one row's values: the time stamp, fixed types by their size, texts by their declared length.

    The declared length, because the article counts it: 8 + 8 + 8 + 5 x 5000 + 3 x 2500 = 32,524. Words (--text
    vocabulary) are shorter than the column by up to a word.
    """
    return TIMESTAMP_BYTES + sum(_bytes(column.partition(":")[2]) for column in workload.columns)


def _bytes(kind: str) -> int:
    sized = _SIZED.fullmatch(kind)
    return int(sized.group(1)) if sized else _FIXED.get(kind, 8)
