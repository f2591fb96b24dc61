"""Prometheus' facts."""

from __future__ import annotations

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
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob

METHOD = "remote-write"
WINDOW = "out_of_order_time_window"  # the item of its file, and not a flag

FACTS = Facts(
    name="prometheus",
    title="Prometheus",
    implementation="scale_sweep.server.targets.prometheus.prometheus_target:PrometheusTarget",
    methods=(METHOD,),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    queries="scale_sweep.server.targets.prometheus.prometheus_queries:rendered",
    can_query=(ALL_DEVICES, SEVERAL_COLUMNS, EACH_DEVICE, EACH_TAG, ONE_TAG, MORE_BOUNDS),
    functions=("median", "percentile", "stddev"),
    cannot={
        "fill = null": "PromQL has no NULL: a stretch of time without samples has no value",
        "fill = linear": "PromQL does not fill stretches of time",
        "fill = previous": "PromQL does not fill stretches of time",
        "stddev_samp": "PromQL's stddev_over_time is that of a population",
        "count_distinct": "PromQL does not count different values",
        "rate": "PromQL has no time of a first or last sample",
        NEWEST_BEFORE: "PromQL has no samples in the order of time, newest first",
    },
    stores_tags=True,
    own_columns=("time", "device"),
    knobs=(
        connections_knob(),
        Knob(name="storage.tsdb.retention.time", default="100y"),
        Knob(name="query.max-samples", default="100000000000"),
        Knob(name="query.timeout", default="1h"),
        Knob(name=WINDOW, default="100y"),
    ),
    fixed=r"config_file|storage_tsdb_path|web_listen_address",
    any_knob=True,
    vendor_defaults={
        "gomaxprocs": "all processors that it sees",
        "storage.tsdb.retention.time": "15d",
        "query.max-samples": "50000000",
        "query.timeout": "2m",
        WINDOW: "0s",
    },
    acknowledged="in the log, which is fsynced when a segment of 128 MiB is full",
    rows_per_request=2000,
    rows_per_core_s=1.5e5,
    sums=("rows", "values", "sum", "least", "greatest"),
    decimal_methods=(METHOD,),
    sums_in_doubles=True,
    keeps_data=True,
    at_rest="the files of its logs are synced",
    log_folders=("prometheus/wal", "prometheus/wbl"),
    row_overhead_bytes=30,
    overhead_s=5.0,
    image="prom/prometheus",
    image_version="v3.5.0",
    image_home="/",
    image_files={"/bin/prometheus": ("bin/prometheus",)},
    released={"2.42": "2023-01", "3.16": "2026-11"},
    beyond_loopback="open",
    to_install="scale servers install prometheus (with Go 1.26.7), or apt-get install prometheus (2.42 of 2023), or "
    "give --home DIR",
)
