"""The base class of kinds of operations, and writing rows. Pure."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from scale_sweep.model.declared import Operation, Work, Workload
from scale_sweep.model.questions import Query


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A quantity of a trial."""

    field: str  # of Measurement
    words: str  # its unit, for people


class OperationKind(ABC):
    name: str  # in sweeps and events
    unit: str  # what one request counts, plural
    title: str = ""
    in_mix = True  # a sweep may name it
    # whether they are compared with the right ones; "": it reads nothing
    answers: Literal["", "checked", "unchecked"] = ""
    parameters: Mapping[str, str] = MappingProxyType({})  # that a sweep may give: each with its meaning, for people

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
        return dict(operation.parameters)

    def query(self, work: Work, operation: Operation) -> Query | None:
        """None if the operation does not read. Raises ValueError for a parameter that does not fit the rows."""
        return None

    @abstractmethod
    def rate(self, *, durable: bool) -> Rate:
        """If this is the only kind. durable: counted to the end of flush and sync."""

    def logical_bytes(self, work: Work) -> int:
        """Bytes of one unit, without overhead; 0: nothing is stored."""
        return 0

    def miscounted(self, acknowledged: int, counted: int) -> str:
        return ""


WEIGHT_MAX = 1_000_000  # loadgen/operations.c


def whole(weights: Sequence[float]) -> tuple[int, ...]:
    """In the same proportion; whole ones stay. Raises ValueError if there are none, as for 1 and 0.00000001."""
    exact = [Fraction(str(weight)) for weight in weights]
    common = math.lcm(*(part.denominator for part in exact))
    numbers = tuple(int(part * common) for part in exact)
    if max(numbers, default=0) > WEIGHT_MAX:
        raise ValueError(f"weights of {min(weights):g} and {max(weights):g} are too far apart, or have too many digits")
    return numbers


_WITHOUT_PERIOD = ("walk", "random", "constant")
TIMESTAMP_BYTES = 8
_FIXED = {  # bytes by type
    **dict.fromkeys(("bool", "tinyint", "utinyint"), 1),
    **dict.fromkeys(("smallint", "usmallint"), 2),
    **dict.fromkeys(("int", "uint", "float"), 4),
}
_SIZED = re.compile(r"\w+\((\d+)\)")


def row_bytes(workload: Workload) -> int:
    """Texts count by their declared length, as in the article: 8 + 8 + 8 + 5 x 5000 + 3 x 2500 = 32,524. Words (--text
    vocabulary) are shorter by up to a word."""
    kinds = [column.partition(":")[2] for column in workload.columns]
    return TIMESTAMP_BYTES + sum(int(s[1]) if (s := _SIZED.fullmatch(k)) else _FIXED.get(k, 8) for k in kinds)


class _Write(OperationKind):
    name, unit = "write", "rows"

    def spec_lines(self, work: Work, operation: Operation) -> dict[str, str]:
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
        return rows_differ(acknowledged, counted)


def rows_differ(acknowledged: int, counted: int) -> str:
    difference = counted - acknowledged
    if not difference:
        return ""
    what = "are missing from" if difference < 0 else "too many are in"
    return f"{abs(difference):,} rows {what} the database: {acknowledged:,} acknowledged, {counted:,} counted"


WRITE = _Write()


class _Command(OperationKind):
    """The work of another program, which counts by itself."""

    name, unit, in_mix = "command", "requests", False

    def rate(self, *, durable: bool) -> Rate:
        return Rate(field="requests_per_s", words="requests/s")

    def miscounted(self, acknowledged: int, counted: int) -> str:
        return rows_differ(acknowledged, counted)


COMMAND = _Command()
