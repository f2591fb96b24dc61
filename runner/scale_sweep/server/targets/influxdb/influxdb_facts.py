"""Facts of InfluxDB 1 and 2."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.experiment.work.sums import STEPS
from scale_sweep.model.questions import BY_VALUE, FILLS, NEEDS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import commit_threads_knob, connections_knob

SUMS = ("rows", "first", "last", STEPS, "values", "sum")

FACTS = Facts(
    name="influxdb",
    title="InfluxDB",
    implementation="scale_sweep.server.targets.influxdb.influxdb_target:InfluxdbTarget",
    methods=("http", series.GZIP),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    accepts=("user",),
    iot_benchmark=("InfluxDB",),
    stores_tags=True,
    own_columns=("time", "device"),
    knobs=(
        connections_knob(),
        commit_threads_knob(
            "data_max_concurrent_compactions",
            label="Compactions at once",
            meaning="concurrent compactions, by default half of the cores",
        ),
        Knob(name="shard_duration", default="7d"),
        Knob(name="data_wal_fsync_delay", default="0s"),
    ),
    fixed=r"(.*_)?bind_address|(meta|data|data_wal)_dir|(bolt|sqlite|engine)_path",
    any_knob=True,
    vendor_defaults={
        "gomaxprocs": "all processors that it sees",
        "data_max_concurrent_compactions": "half of the processors that it sees",
        "data_cache_max_memory_size": "1073741824",
        "data_cache_snapshot_memory_size": "26214400",
        "data_max_series_per_database": "1000000",
        "data_max_values_per_tag": "100000",
        "data_wal_fsync_delay": "0s",
        "shard_duration": "168h0m0s",
    },
    fsynced={"data_wal_fsync_delay": "0s"},
    rows_per_core_s=3e5,
    sums=SUMS,
    decimal_methods=("http", series.GZIP),
    sums_in_doubles=True,
    sums_per_core_s=1.6e6,
    keeps_data=True,
    at_rest="the files of its log are synced",
    row_overhead_bytes=40,
    overhead_s=5.0,
    queries="scale_sweep.server.targets.influxdb.influxdb_queries:rendered",
    can_query=tuple(words for words in NEEDS if words != BY_VALUE),
    functions=("median", "stddev_samp", "count_distinct"),
    fills=FILLS,
    cannot={
        BY_VALUE: "InfluxQL orders rows by time only",
        "percentile": "InfluxQL's PERCENTILE is the value at a rank, and not between two values",
        "stddev": "InfluxQL's STDDEV is that of a sample",
        "rate": "InfluxQL's DERIVATIVE compares two stretches of time, not the rows of one",
    },
    image="influxdb",
    image_version="1.12",
    image_home="/usr",
    image_files={"/usr/bin/influxd": ("bin/influxd",)},
    released={"1.6.7": "2020-12", "1.13.2": "2026-10"},
    beyond_loopback="open",
    to_install="scale servers install influxdb (with Go 1.26 and Rust), or apt-get install influxdb (1.6.7 of 2020), "
    "or give --home DIR",
)

FACTS_V2 = replace(
    FACTS,
    name="influxdb2",
    title="InfluxDB 2",
    implementation="scale_sweep.server.targets.influxdb.influxdb2_target:InfluxdbV2Target",
    iot_benchmark=("InfluxDB-2.x", "InfluxDB-2.0", "InfluxDB2"),
    accepts=("token",),
    knobs=(
        connections_knob(),
        commit_threads_knob(
            "storage_max_concurrent_compactions",
            label="Compactions at once",
            meaning="concurrent compactions, by default half of the cores",
        ),
        Knob(name="shard_duration", default="7d"),
        Knob(name="storage_wal_fsync_delay", default="0s"),
    ),
    vendor_defaults={
        "storage_max_concurrent_compactions": "half of the processors that it sees",
        "storage_cache_max_memory_size": "1073741824",
        "storage_cache_snapshot_memory_size": "26214400",
        "storage_wal_fsync_delay": "0s",
        "shard_duration": "168h0m0s",
    },
    fsynced={"storage_wal_fsync_delay": "0s"},
    overhead_s=6.0,
    image_version="2.7.12",
    released={"2.7.11": "2024-12", "2.7.12": "2025-05"},
    home_variable="SCALE_INFLUXDB2_HOME",
    beyond_loopback="password",
    to_install="give --home DIR of an installed influxd 2, or docker pull influxdb:2.7.12",
)
