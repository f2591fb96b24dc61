"""Writing rows: the only kind of operation that stores something, and whose result is checked by a count."""

from __future__ import annotations

import re

from scale_sweep.experiment.work.operation import OperationKind, Rate
from scale_sweep.model import Operation, Work, Workload

_WITHOUT_PERIOD = ("walk", "random", "constant")
TIMESTAMP_BYTES = 8
_FIXED = {  # bytes by type
    **dict.fromkeys(("bool", "tinyint", "utinyint"), 1),
    **dict.fromkeys(("smallint", "usmallint"), 2),
    **dict.fromkeys(("int", "uint", "float"), 4),
}
_SIZED = re.compile(r"\w+\((\d+)\)")


def row_bytes(workload: Workload) -> int:
    """Bytes of one row's values: the time stamp, fixed types by their size, texts by their declared length.

    The declared length, because the article counts it: 8 + 8 + 8 + 5 x 5000 + 3 x 2500 = 32,524. Words (--text
    vocabulary) are shorter than the column by up to a word.
    """
    kinds = [column.partition(":")[2] for column in workload.columns]
    return TIMESTAMP_BYTES + sum(int(s[1]) if (s := _SIZED.fullmatch(k)) else _FIXED.get(k, 8) for k in kinds)


class _Write(OperationKind):
    name, unit = "write", "rows"

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
        """The shape of the rows and of the requests."""
        data = work.data
        groups = {"tag_groups": ",".join(data.tag_groups), "tag_prefix": data.tag_prefix} if data.tag_groups else {}
        period = {"period_rows": str(data.period_rows)} if data.values not in _WITHOUT_PERIOD else {}
        decimals = {"decimals": str(data.decimals)} if data.decimals is not None else {}
        disorder = {
            "disorder": data.disorder,
            "disorder_ratio": f"{data.disorder_percent:g}",
            "disorder_lambda": f"{data.disorder_lambda:g}",
            "disorder_max_k": str(data.disorder_max_k),
            "disorder_rows": str(data.disorder_rows),
        }
        return {
            "tables": str(data.tables),
            "columns": ",".join(data.columns),
            "tags": ",".join(data.tags),
            **groups,
            "values": data.values.replace("=", ":"),
            "text": data.text,
            "rows_per_request": str(data.rows_per_request),
            "requests_per_table": str(data.requests_per_table),
            "interlace_rows": str(data.interlace_rows),
            "start_ms": str(data.start_ms),
            "step_ms": str(data.step_ms),
            **period,
            **decimals,
            **(disorder if data.disorder else {}),
            **operation.parameters,
        }

    def rate(self, *, durable: bool) -> Rate:
        kind = "durable_" if durable else ""
        return Rate(field=f"{kind}rows_per_s", words=f"{kind.replace('_', ' ')}rows/s")

    def logical_bytes(self, work: Work) -> int:
        return row_bytes(work.data)

    def miscounted(self, acknowledged: int, counted: int) -> str:
        """A sentence unless every acknowledged row is there, and no other."""
        difference = counted - acknowledged
        if not difference:
            return ""
        what = "are missing from" if difference < 0 else "too many are in"
        return f"{abs(difference):,} rows {what} the database: {acknowledged:,} acknowledged, {counted:,} counted"


WRITE = _Write()
