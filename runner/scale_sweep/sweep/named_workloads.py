"""Workloads with a name: texts by key, which a sweep file and flags override."""

from __future__ import annotations

from collections.abc import Mapping

_DATA: Mapping[str, str | list[str]] = {"workload.tables": "100", "workload.step_ms": "10000", "preload.rows": "1M"}
_CPU = ("user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_USAGES = [f"usage_{name}" for name in _CPU]
_TAGS = ("region", "datacenter", "rack", "os", "arch", "team", "service", "service_version", "service_environment")


def _parameters(name: str, **parameters: str) -> list[str]:
    return [f"{name}.{parameter}={value}" for parameter, value in parameters.items()]


def _grouped(name: str, columns: int, hours: int, bucket: str, **more: str) -> list[str]:
    named = ",".join(_USAGES[:columns])
    return _parameters(name, kind="group_by_time", columns=named, span=f"{hours}h", bucket=bucket, step=bucket, **more)


_DEVOPS = [
    line
    for lines in (
        *(
            _grouped(
                f"single-groupby-{columns}-{hosts}-{hours}", columns, hours, "1m", function="max", devices=str(hosts)
            )
            for columns, hosts, hours in ((1, 1, 1), (1, 1, 12), (1, 8, 1), (5, 1, 1), (5, 1, 12), (5, 8, 1))
        ),
        *(_grouped(f"cpu-max-all-{n}", len(_CPU), 8, "1h", function="max", devices=str(n)) for n in (1, 8)),
        *(
            _grouped(f"double-groupby-{name}", columns, 12, "1h", function="avg", devices="all", each="device")
            for name, columns in (("1", 1), ("5", 5), ("all", len(_CPU)))
        ),
        *(
            _parameters(
                f"high-cpu-{n}", kind="range_value", devices=n, span="12h", bound="90", bound_column="usage_user"
            )
            for n in ("1", "all")
        ),
        _parameters("lastpoint", kind="latest", devices="all"),
        _parameters(
            "groupby-orderby-limit",
            kind="group_by_time_limit",
            function="max",
            column="usage_user",
            devices="all",
            bucket="1m",
            span="1h",
            step="1m",
        ),
    )
    for line in lines
]
_SHARES = range(10, 101, 10)  # percent of the groups
_FUNCTIONS = ("count", "avg", "sum", "max", "min", "spread")


def _some_groups(name: str, percent: int, **more: str) -> list[str]:
    return _parameters(f"{name}_{percent}", fraction=f"{percent / 100:g}", **more)


_GROUPS = [
    line
    for lines in (
        _parameters("scan", kind="scan_tag"),
        *(
            _some_groups(function, percent, kind="aggregate_tag", function=function)
            for function in _FUNCTIONS
            for percent in _SHARES
        ),
        *(_some_groups("group", percent, kind="group_by_tag", functions="count,sum,avg") for percent in _SHARES),
        *(
            _some_groups("minute", percent, kind="aggregate_tag", functions="count,sum,avg", bucket="1m")
            for percent in _SHARES
        ),
    )
    for line in lines
]


def _mix_of(lines: list[str]) -> str:
    return ",".join(dict.fromkeys(line.partition(".")[0] for line in lines))


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
    "tsbs-devops": {
        **_DATA,
        "preload.rows": "864000",
        "workload.start_ms": "1451606400000",
        "workload.columns": ",".join(f"{name}:tinyint" for name in _USAGES),
        "workload.tag_columns": ",".join(f"{name}:binary(16)" for name in _TAGS),
        "workload.values": "random",
        "mix": _mix_of(_DEVOPS),
        "operation": _DEVOPS,
    },
    "cassandra-reads": {
        "preload.rows": "1M",
        "workload.tables": "1000",
        "workload.step_ms": "1000",
        "workload.columns": "temperature:int,humidity:float",
        "workload.values": "normal",
        "workload.tag_columns": "devid:int,devname:binary(16),devgroup:int",
        "mix": _mix_of(_GROUPS),
        "operation": _GROUPS,
    },
}
