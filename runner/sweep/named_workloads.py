"""Workloads with a name: texts by key, which a sweep file and flags override. Refuses to interpret them.

Both assume devices that send a row every ten seconds, so that an hour is 360 rows of each.
"""

from __future__ import annotations

from collections.abc import Mapping

_DATA: Mapping[str, str | list[str]] = {"workload.tables": "100", "workload.step_ms": "10000", "preload.rows": "1M"}
NAMED: Mapping[str, Mapping[str, str | list[str]]] = {
    "write": {},
    "iot-queries": {
        **_DATA,
        "mix": "point=1,range=1,range_value=1,aggregate=1,group_by_time=1,latest=1,range_desc=1",
        "operation": [
            "range.span=1h",
            "range_value.span=1h",
            "range_value.bound=9..11",
            "aggregate.span=1h",
            "group_by_time.span=4h",
            "group_by_time.bucket=10m",
            "range_desc.span=1h",
        ],
    },
    "iot-mixed": {
        **_DATA,
        "mix": "write=9,range=1",
        "operation": ["range.span=1h"],
        "workload.rows_per_request": "100",
    },
}
