"""Selectors of series and conditions on their samples, as paths of /api/v1/ with marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model import Query, Workload
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT
from scale_sweep.server.targets.sql_queries import spelled

_THOUSANDTHS = re.compile(r"(\d+)(\d{3})e-3")
API = "/api/v1/"
PLAIN = "?&="  # what stands between the parts of a path
EVER_MS = 5 * 365 * 86_400_000  # "all time", from the first row on
NAME = "__name__"
COLUMN = "scale_column"  # a label with the name of a series, where functions drop that name
ASKING = {"query_path": API, "query_plain": PLAIN, "answer_rows": "values", "answer_column": NAME}  # of the driver


def metric(column: str) -> str:
    return f"{MEASUREMENT}_{column}"


def names_condition(columns: Sequence[str]) -> str:
    return f'{NAME}=~"{"|".join(map(metric, columns))}"'


def end_of_time(data: Workload) -> str:
    """The moment at which a window of EVER_MS begins with the first row, in seconds."""
    return in_seconds(f"{data.start_ms - 1 + EVER_MS}e-3")


def in_seconds(text: str) -> str:
    """The text with each time before e-3 as seconds, as the load generator writes it: 1500000000001e-3 is
    1500000000.001. VictoriaMetrics 1.131 reads no other."""
    return _THOUSANDTHS.sub(r"\1.\2", text)


def bounds_of(query: Query) -> list[tuple[str, str, str]]:
    """The column, the sign and the number of each condition on values."""
    drawn = [(column, "<" if query.is_below else ">", "{value}") for column in query.bounds]
    return drawn + [(one.column, one.sign, spelled(one.value)) for one in query.conditions]


def chosen_labels(query: Query) -> tuple[str, ...]:
    """The conditions on labels by which a query chooses its devices. Raises CannotAsk for several of all groups."""
    if query.groups > 1:
        raise CannotAsk("PromQL compares labels as texts only", remedy="fraction = 1, or one group")
    if query.groups:
        return (f'{query.tag}="{{value}}"',)
    if query.with_tag:
        return (f'{query.with_tag[0]}="{query.with_tag[1]}"',)
    if query.devices > 1:
        return (f'{DEVICE}=~"{"|".join(["{device}"] * query.devices)}"',)
    return (f'{DEVICE}="{{device}}"',) if query.devices else ()
