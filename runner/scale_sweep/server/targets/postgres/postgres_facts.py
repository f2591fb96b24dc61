"""Facts of PostgreSQL, and of TimescaleDB, the same server with an extension."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.model.questions import FURTHER, NEEDS
from scale_sweep.model.resources import ResourceRange, ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob, partitions_knob, parts_on_disks, twice_the_cores

SUMS = ("rows", "times", "values", "sum", "least", "greatest", "timed")
COPY, INSERT, UPSERT, COPY_UPSERT, JSONB = "copy", "insert", "upsert", "copy-upsert", "jsonb"
METHODS = (COPY, INSERT, UPSERT, COPY_UPSERT, JSONB)
REPLACING = (UPSERT, COPY_UPSERT)  # a row replaces that of the same device and time


def _parts(resources: ResourceRange) -> str:
    return str(parts_on_disks(resources)) if resources.disks else twice_the_cores(resources)


def _small_buffers(resources: ResourceRange) -> str | None:
    """Else the page cache takes a whole short trial, and the disks work only in the checkpoint."""
    return "16MB" if resources.disks else None


def _write_at_once(resources: ResourceRange) -> str | None:
    return "256kB" if resources.disks else None


# synchronous_commit off: a CPU sweep must not wait for fsyncs. Every trial counts and flushes what was acknowledged.
# wal_init_zero off (since version 12): a trial's segments are all new, and zeros doubled the written bytes (481 to 256
# bytes a row).
LOADING = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "wal_init_zero": "off",
    "checkpoint_timeout": "5min",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "synchronous_commit": "off",
    "fsync": "on",
}
# The boot_val of pg_settings, as current_setting writes it; tests/integration/test_settings.py asks a real server.
VENDOR_DEFAULTS = {
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "wal_init_zero": "on",
    "checkpoint_timeout": "5min",
    "wal_level": "replica",
    "max_wal_senders": "10",
    "autovacuum": "on",
    "synchronous_commit": "on",
    "fsync": "on",
    "dynamic_shared_memory_type": "posix",
    "max_connections": "100",
    "backend_flush_after": "0",
    "full_page_writes": "on",
    "wal_compression": "off",
    "work_mem": "4MB",
    "maintenance_work_mem": "64MB",
    "commit_delay": "0",
    "checkpoint_completion_target": "0.9",
    "jit": "on",
    "huge_pages": "try",
}

FACTS = Facts(
    name="postgres",
    title="PostgreSQL",
    implementation="scale_sweep.server.targets.postgres.postgres_target:PostgresTarget",
    methods=METHODS,
    iot_benchmark=("PostgreSQL",),
    accepts=("user", "database"),
    takes_tls=True,
    own_columns=("time", "device_id"),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    auto_rank=20,
    knobs=(
        partitions_knob(_parts, "hash partitions"),
        connections_knob(_parts),
        Knob(name="shared_buffers", default=_small_buffers),
        Knob(name="backend_flush_after", default=_write_at_once),
    ),
    fixed=r"port|listen_addresses|unix_socket_directories|data_directory|(hba|config|ident|external_pid)_file"
    r"|logging_collector",
    any_knob=True,
    loading=LOADING,
    vendor_defaults=VENDOR_DEFAULTS,
    fsynced={"synchronous_commit": "on"},
    rows_per_core_s=3e5,
    overhead_s=6.0,
    thread_names=True,
    wait_events=True,
    queries="scale_sweep.server.targets.postgres.postgres_queries:rendered",
    can_query=NEEDS,
    functions=FURTHER,
    fills=("null",),
    cannot=dict.fromkeys(("fill = previous", "fill = linear"), "PostgreSQL's window functions cannot skip NULLs"),
    has_device_table=True,
    sums=SUMS,
    decimal_methods=(JSONB,),
    keeps_data=True,
    at_rest="`VACUUM (ANALYZE)` and `CHECKPOINT` have returned",
    log_folders=("pg/pg_wal",),
    row_overhead_bytes=190,
    beyond_loopback="password",
    disk_placements=("spread",),
    wal_disks=("off-axis", "first"),
    image="postgres",
    image_version="16.4",
    image_home="/usr/lib/postgresql/16",
    image_files={f"/usr/lib/postgresql/16/{folder}/": (folder,) for folder in ("bin", "lib", "share")},
    released={"16.4": "2024-08", "16.14": "2026-05", "18.6": "2026-08"},
    to_install="scale servers install postgres, or apt-get install postgresql, or give --home DIR",
)

TIMESCALE = replace(
    FACTS,
    name="timescaledb",
    auto_rank=None,
    keeps_data=False,
    row_overhead_bytes=0,
    beyond_loopback="",
    disk_placements=(),
    wal_disks=(),
    image_files={},
    title="TimescaleDB",
    implementation="scale_sweep.server.targets.postgres.timescale_target:TimescaleTarget",
    iot_benchmark=("TimescaleDB",),
    knobs=(
        connections_knob(),
        Knob(name="chunk_interval", default="7d", help="time that a chunk spans"),
        Knob(name="space_partitions", help="partitions of a chunk by device; none by default"),
        Knob(name="compress", default="off", help="on: the flush compresses all chunks"),
    ),
    vendor_defaults={**VENDOR_DEFAULTS, "timescaledb.telemetry_level": "basic"},
    rows_per_core_s=2e5,
    overhead_s=8.0,
    cannot=dict.fromkeys(
        ("fill = previous", "fill = linear"),
        "TimescaleDB's time_bucket_gapfill counts stretches of time from the year 2000, and not from 1970",
    ),
    image="timescale/timescaledb",
    image_version="2.17.2-pg16",
    image_home="/usr/local",
    home_variable="SCALE_TIMESCALEDB_HOME",
    released={"2.17.2": "2024-11"},
    to_install="give --home DIR of a PostgreSQL with the extension, or docker pull timescale/timescaledb:2.17.2-pg16",
)
