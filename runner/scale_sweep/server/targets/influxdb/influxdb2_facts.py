"""Facts of InfluxDB 2, and the defaults of its knobs. Refuses to import what asks the server."""

from __future__ import annotations

from scale_sweep.model import FILLS, ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import commit_threads_knob, connections_knob
from scale_sweep.server.targets.influxdb.influxdb_facts import FUNCTIONS, LACKS, SAYS, SUMS

FACTS = Facts(
    name="influxdb2",
    title="InfluxDB 2",
    implementation="scale_sweep.server.targets.influxdb.influxdb2_target:InfluxdbV2Target",
    methods=("http", series.GZIP),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    iot_benchmark=("InfluxDB-2.x", "InfluxDB-2.0", "InfluxDB2"),
    accepts=("token",),
    stores_tags=True,
    own_columns=("time", "device"),
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
    any_knob=True,
    vendor_defaults={
        "storage_max_concurrent_compactions": "half of the processors that it sees",
        "storage_cache_max_memory_size": "1073741824",
        "storage_cache_snapshot_memory_size": "26214400",
        "storage_wal_fsync_delay": "0s",
        "shard_duration": "168h0m0s",
    },
    fsynced={"storage_wal_fsync_delay": "0s"},
    rows_per_core_s=3e5,
    sums=SUMS,
    decimal_methods=("http", series.GZIP),
    sums_in_doubles=True,
    sums_per_core_s=1.6e6,
    keeps_data=True,
    at_rest="the files of its log are synced",
    row_overhead_bytes=40,
    overhead_s=6.0,
    queries="scale_sweep.server.targets.influxdb.influxdb_queries:rendered",
    can_query=SAYS,
    functions=FUNCTIONS,
    fills=FILLS,
    cannot=LACKS,
    image="influxdb",
    image_version="2.7.12",
    image_home="/usr",
    image_files={"/usr/bin/influxd": ("bin/influxd",)},
    released={"2.7.11": "2024-12", "2.7.12": "2025-05"},
    home_variable="SCALE_INFLUXDB2_HOME",
    beyond_loopback="password",
    to_install="docker pull influxdb:2.7.12, or give --home DIR of an installed influxd 2",
)
