"""TimescaleDB's facts: PostgreSQL with an extension, which the same wheel does not contain."""

from __future__ import annotations

from scale_sweep.model import NEEDS, ServerSource
from scale_sweep.model.questions import FURTHER
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob
from scale_sweep.server.targets.postgres.methods import JSONB, METHODS
from scale_sweep.server.targets.postgres.postgres_facts import LOADING, SUMS, VENDOR_DEFAULTS

FACTS = Facts(
    name="timescaledb",
    title="TimescaleDB",
    implementation="scale_sweep.server.targets.postgres.timescale_target:TimescaleTarget",
    methods=METHODS,
    iot_benchmark=("TimescaleDB",),
    accepts=("user", "database"),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    knobs=(
        connections_knob(),
        Knob(name="chunk_interval", default="7d", help="time that a chunk spans"),
        Knob(name="space_partitions", help="partitions of a chunk by device; none by default"),
        Knob(name="compress", default="off", help="on: the flush compresses all chunks"),
    ),
    own_columns=("time", "device_id"),
    any_knob=True,
    loading=LOADING,
    vendor_defaults={**VENDOR_DEFAULTS, "timescaledb.telemetry_level": "basic"},
    fsynced={"synchronous_commit": "on"},
    rows_per_core_s=2e5,
    overhead_s=8.0,
    thread_names=True,
    wait_events=True,
    queries="scale_sweep.server.targets.postgres.postgres_queries:rendered",
    can_query=NEEDS,
    functions=FURTHER,
    fills=("null",),
    cannot=dict.fromkeys(
        ("fill = previous", "fill = linear"),
        "TimescaleDB's time_bucket_gapfill counts stretches of time from the year 2000, and not from 1970",
    ),
    has_device_table=True,
    sums=SUMS,
    decimal_methods=(JSONB,),
    at_rest="`VACUUM (ANALYZE)` and `CHECKPOINT` have returned",
    log_folders=("pg/pg_wal",),
    image="timescale/timescaledb",
    image_version="2.17.2-pg16",
    image_home="/usr/local",
    home_variable="SCALE_TIMESCALEDB_HOME",
    released={"2.17.2": "2024-11"},
    to_install="docker pull timescale/timescaledb:2.17.2-pg16, or give --home DIR of a PostgreSQL with the extension",
)
