"""VictoriaMetrics' facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import STEPS
from scale_sweep.model.questions import (
    ALL_DEVICES,
    EACH_DEVICE,
    EACH_TAG,
    MORE_BOUNDS,
    NEWEST_BEFORE,
    ONE_TAG,
    SEVERAL_COLUMNS,
)
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import commit_threads_knob, connections_knob

SUMS = ("rows", "first", "last", STEPS, "values", "sum", "least", "greatest")
SHARE = 1e-11  # of a fraction

IN_IMAGE = "/victoria-metrics-prod"  # the program

FACTS = Facts(
    name="victoriametrics",
    title="VictoriaMetrics",
    implementation="scale_sweep.server.targets.victoriametrics.victoriametrics_target:VictoriametricsTarget",
    methods=("http", series.GZIP, "remote-write", "import", "put", series.TCP, series.TELNET),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    unanswered=(series.TCP, series.TELNET),
    own_ports=(series.TCP, series.TELNET, "put"),
    queries="scale_sweep.server.targets.victoriametrics.victoriametrics_queries:rendered",
    can_query=(ALL_DEVICES, SEVERAL_COLUMNS, EACH_DEVICE, EACH_TAG, ONE_TAG, MORE_BOUNDS),
    functions=("median", "percentile", "stddev", "count_distinct", "rate"),
    fills=("previous",),
    cannot={
        "fill = null": "MetricsQL has no NULL: a stretch of time without samples has no value",
        "fill = linear": "MetricsQL's interpolate repeats the nearest value at the ends of a range",
        "stddev_samp": "MetricsQL's stddev_over_time is that of a population",
        NEWEST_BEFORE: "MetricsQL has no samples in the order of time, newest first",
    },
    iot_benchmark=("VictoriaMetrics",),
    stores_tags=True,
    own_columns=("time", "device"),
    knobs=(
        connections_knob(),
        commit_threads_knob(
            "smallmergeconcurrency",
            label="Merge workers",
            meaning="concurrent merges of small parts, by default as many as the server chooses",
        ),
        Knob(name="memory", default="1GiB"),
    ),
    fixed=r"storagedatapath|.*listenaddr",
    any_knob=True,
    vendor_defaults={
        "gomaxprocs": "all processors that it sees",
        "retentionPeriod": "1",
        "memory.allowedBytes": "0",
        "search.maxSamplesPerQuery": "1000000000",
        "search.maxSamplesPerSeries": "30000000",
        "search.maxQueryDuration": "30s",
        "search.disableCache": "false",
    },
    acknowledged="in memory, and written within about 10 s",
    rows_per_core_s=6e5,
    sums=SUMS,
    decimal_methods=("http", series.GZIP, "remote-write", "import", "put"),
    sums_in_doubles=True,
    sums_share=SHARE,
    keeps_data=True,
    at_rest="a snapshot was made, so that all parts in memory are on disk",
    row_overhead_bytes=10,
    overhead_s=5.0,
    image="victoriametrics/victoria-metrics",
    image_version="v1.131.0",
    image_home="/",
    image_files={IN_IMAGE: ("bin/victoria-metrics",)},
    released={"1.79.5": "2022-11", "1.131.0": "2025-12"},
    beyond_loopback="open",
    to_install="scale servers install victoriametrics (with Go 1.25.4), or apt-get install victoria-metrics (1.79.5 of "
    "2022), or give --home DIR",
)
