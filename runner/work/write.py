"""Writing rows: the only kind of operation that stores something, and whose result is checked by a count."""

from __future__ import annotations

from runner.model import Operation, Work
from runner.work.operation import OperationKind, Rate
from runner.work.rows import row_bytes


class _Write(OperationKind):
    name, unit = "write", "rows"

    def told(self, work: Work, operation: Operation) -> dict[str, str]:
        """The shape of the rows and of the requests."""
        data = work.data
        return {
            "tables": str(data.tables),
            "columns": ",".join(data.columns),
            "tags": ",".join(data.tags),
            "values": data.values,
            "text": data.text,
            "rows_per_request": str(data.rows_per_request),
            "requests_per_table": str(data.requests_per_table),
            "interlace_rows": str(data.interlace_rows),
            "start_ms": str(data.start_ms),
            "step_ms": str(data.step_ms),
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


WRITE = _Write()
