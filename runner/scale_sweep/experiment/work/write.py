"""Writing rows: the only kind of operation that stores something, and whose result is checked by a count."""

from __future__ import annotations

import re

from scale_sweep.experiment.work.operation import OperationKind, Rate
from scale_sweep.model import Operation, Work, Workload

_WITHOUT_PERIOD = ("walk", "random", "constant")


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


class _Write(OperationKind):
    name, unit = "write", "rows"

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
        """The shape of the rows and of the requests."""
        data = work.data
        return {
            "tables": str(data.tables),
            "columns": ",".join(data.columns),
            "tags": ",".join(data.tags),
            **_tag_groups(data),
            "values": data.values.replace("=", ":"),
            "text": data.text,
            "rows_per_request": str(data.rows_per_request),
            "requests_per_table": str(data.requests_per_table),
            "interlace_rows": str(data.interlace_rows),
            "start_ms": str(data.start_ms),
            "step_ms": str(data.step_ms),
            **_period(data),
            **_disorder(data),
            **operation.parameters,
        }

    def rate(self, *, durable: bool) -> Rate:
        """Rows/s, acknowledged or on disk."""
        if durable:
            return Rate(field="durable_rows_per_s", words="durable rows/s")
        return Rate(field="rows_per_s", words="rows/s")

    def logical_bytes(self, work: Work) -> int:
        """Bytes of one row's values."""
        return row_bytes(work.data)

    def miscounted(self, acknowledged: int, counted: int) -> str:
        """A sentence unless every acknowledged row is there, and no other."""
        difference = counted - acknowledged
        if not difference:
            return ""
        what = "are missing from" if difference < 0 else "too many are in"
        return f"{abs(difference):,} rows {what} the database: {acknowledged:,} acknowledged, {counted:,} counted"


def _tag_groups(data: Workload) -> dict[str, str]:
    return {"tag_groups": ",".join(data.tag_groups), "tag_prefix": data.tag_prefix} if data.tag_groups else {}


def _period(data: Workload) -> dict[str, str]:
    period = {"period_rows": str(data.period_rows)} if data.values not in _WITHOUT_PERIOD else {}
    return period | ({} if data.decimals is None else {"decimals": str(data.decimals)})


def _disorder(data: Workload) -> dict[str, str]:
    if not data.disorder:
        return {}
    return {
        "disorder": data.disorder,
        "disorder_ratio": f"{data.disorder_percent:g}",
        "disorder_lambda": f"{data.disorder_lambda:g}",
        "disorder_max_k": str(data.disorder_max_k),
        "disorder_rows": str(data.disorder_rows),
    }


WRITE = _Write()
