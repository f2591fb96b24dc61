"""The settings of the workload: tables, columns, values, requests. Its rate and duration are in `settings.py`."""

from __future__ import annotations

from scale_sweep.base.units import parse_count, parse_seconds
from scale_sweep.experiment.setting import Setting, Takes, readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u
from scale_sweep.experiment.setting.laws import laws, up_to
from scale_sweep.sweep.named_workloads import NAMED

WORKLOAD_SETTINGS: tuple[Setting, ...] = (
    _u(
        "workload.name",
        "--workload",
        readers.OneOf(*NAMED),
        "write",
        "A named workload: write, iot-queries (reads of devices), iot-mixed (nine writes to one read), tsbs-devops "
        "(TSBS) or cassandra-reads (a published comparison). Other flags override its settings.",
        "NAME",
    ),
    _u(
        "mix",
        "--mix",
        readers.weights,
        "",
        "Operations and their weights, like write=9,range=1.",
        "NAME=WEIGHT,...",
    ),
    _s(
        "operation",
        "--operation",
        readers.parameter,
        "",
        "A parameter of an operation of the mix, like range.span=1h (docs/reads.md). Repeatable.",
        "NAME.PARAMETER=VALUE",
        takes=Takes.VALUES,
    ),
    _s(
        "preload.rows",
        "--preload",
        readers.at_least(0, parse_count),
        "0",
        "Rows written before the load, in no rate, the same number to each table.",
        "N",
    ),
    _s(
        "preload.read_recent",
        "--read-recent",
        parse_seconds,
        "",
        "Reads select the newest rows of --preload, of so much time.",
        "TIME",
    ),
    _s(
        "method.cache",
        "--cache",
        readers.OneOf("as-is", "warm", "cold"),
        "as-is",
        "The rows of --preload when the load begins. warm: their files were read. cold: the server was started again, "
        "with their pages not in the page cache. as-is: neither.",
        "as-is|warm|cold",
    ),
    _s("workload.tables", "--tables", readers.at_least(1, parse_count), "100", "Series (child tables, devices).", "N"),
    _s(
        "workload.columns",
        "--columns",
        readers.columns,
        "current:float,voltage:int,phase:float",
        "Columns as name:type, or N:type for N columns m1..mN.",
        "LIST",
    ),
    _s(
        "workload.tag_columns",
        "--tag-columns",
        readers.columns,
        "groupid:int,location:binary(24)",
        "Tag columns as name:type.",
        "LIST",
    ),
    _s(
        "workload.values",
        "--values",
        laws,
        "walk",
        "Values: walk (a random walk), random, normal, constant, line (rises and falls back), sine or square; or the "
        "share of the columns for each, like line=1,sine=1,random=2.",
        "LAWS",
    ),
    _s(
        "workload.period_rows",
        "--value-period",
        readers.at_least(2, parse_count),
        "100",
        "Rows after which line, sine and square repeat.",
        "ROWS",
    ),
    _s(
        "workload.decimals",
        "--decimals",
        up_to(5, parse_count),
        "",
        "Decimals of values with a fraction, 0 to 5. Default: 3; random is not rounded.",
        "N",
    ),
    _s(
        "workload.disorder",
        "--disorder",
        readers.OneOf("poisson", "batch"),
        "",
        "Rows come out of order. poisson: some come again for an earlier time; batch: the first part of each batch of "
        "rows comes last.",
        "MODE",
    ),
    _s(
        "workload.disorder_ratio",
        "--disorder-ratio",
        readers.percent,
        "10%",
        "Share of the rows that come late, with --disorder.",
        "PERCENT",
    ),
    _s(
        "workload.disorder_lambda",
        "--disorder-lambda",
        readers.between(0.001, 1e6),
        "2200",
        "Mean delay in rows, with --disorder poisson.",
        "ROWS",
    ),
    _s(
        "workload.disorder_max_k",
        "--disorder-max-k",
        readers.at_least(1, parse_count),
        "170k",
        "Longest delay in rows, with --disorder poisson.",
        "ROWS",
    ),
    _s(
        "workload.disorder_rows",
        "--disorder-rows",
        readers.at_least(2, parse_count),
        "1000",
        "Rows of a table in one batch, with --disorder batch.",
        "ROWS",
    ),
    _s(
        "workload.text",
        "--text",
        readers.OneOf("vocabulary", "random"),
        "vocabulary",
        "Text columns: vocabulary (words of a list, which compress well) or random (hard to compress).",
        "KIND",
    ),
    _s(
        "workload.rows_per_request",
        "--rows-per-request",
        readers.at_least(1, parse_count),
        "",
        "Rows in one request. Default: the target's.",
        "N",
    ),
    _s(
        "workload.interlace_rows",
        "--interlace-rows",
        readers.at_least(0, parse_count),
        "0",
        "Rows of one table before those of the next, within a request. 0: a request has rows of one table only.",
        "N",
    ),
    _s(
        "workload.requests_per_table",
        "--requests-per-table",
        readers.at_least(1, parse_count),
        "1",
        "Requests with rows of one table before those of the next. Above 1, TDengine's stmt uses less client CPU.",
        "N",
    ),
    _s("workload.start_ms", "--start-ms", parse_count, "1500000000000", "First timestamp, ms since 1970.", "MS"),
    _s(
        "workload.step_ms",
        "--step-ms",
        readers.at_least(1, parse_count),
        "1",
        "Time between two rows of a table, in ms.",
        "MS",
    ),
)
