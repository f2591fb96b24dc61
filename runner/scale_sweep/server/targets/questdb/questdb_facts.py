"""QuestDB's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.questions import FILLS, NEEDS
from scale_sweep.model.resources import ResourceRange, ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import (
    commit_threads_knob,
    connections_knob,
    heap,
    partitions_knob,
    parts_on_disks,
    twice_the_cores,
)

PGWIRE = "pgwire"  # INSERT by PostgreSQL's protocol


def _tables(resources: ResourceRange) -> str:
    """One worker at a time applies a table's log, so one table alone does not scale."""
    return str(parts_on_disks(resources)) if resources.disks else twice_the_cores(resources, least=8)


FACTS = Facts(
    name="questdb",
    title="QuestDB",
    implementation="scale_sweep.server.targets.questdb.questdb_target:QuestdbTarget",
    methods=("http", series.GZIP, series.TCP, PGWIRE),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    unanswered=(series.TCP,),
    own_ports=(series.TCP, PGWIRE),
    iot_benchmark=("QuestDB",),
    stores_tags=True,
    own_columns=("timestamp", "device"),
    knobs=(
        partitions_knob(_tables, "tables, over which the devices are distributed"),
        connections_knob(),
        commit_threads_knob(
            "wal_apply_worker_count",
            label="WAL apply workers",
            meaning="threads that apply the log to the tables, by default as many as cores",
        ),
        Knob(name="cairo_commit_mode"),
        Knob(name="heap", default=heap),
    ),
    fixed=r"(.*_)?bind_to|cairo_(volumes|root)|pg_(enabled|user|password)|line_tcp_enabled",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "a quarter of the memory",
        "jvm_processors": "all that it sees",
        "shared_network_worker_count": "by the processors that it sees",
        "shared_query_worker_count": "by the processors that it sees",
        "shared_write_worker_count": "by the processors that it sees",
        "wal_apply_worker_count": "by the processors that it sees",
        "cairo_commit_mode": "nosync",
    },
    fsynced={"cairo_commit_mode": "sync"},
    rows_per_core_s=8e5,
    sums=ALL,
    sums_in_doubles=True,
    sums_per_core_s=5.3e6,
    keeps_data=True,
    at_rest="the log of every table is applied, and `CHECKPOINT CREATE` has returned",
    row_overhead_bytes=90,
    overhead_s=7.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    queries="scale_sweep.server.targets.questdb.questdb_queries:rendered",
    can_query=NEEDS,
    functions=("stddev", "stddev_samp", "count_distinct", "rate"),
    fills=FILLS,
    cannot={
        "median": "QuestDB's percentiles are approximate (approx_median)",
        "percentile": "QuestDB's percentiles are approximate (approx_percentile)",
    },
    ready_s=240.0,  # ten CPU seconds: a minute and a half on a tenth of a core
    thread_names=True,
    disk_placements=("spread",),
    wal_disks=("data",),
    image="questdb/questdb",
    image_version="9.3.4",
    image_home="/app",
    image_java="/app",
    image_files={"/app/questdb.jar": ("questdb.jar",)},
    image_tools=("libstdc++.so.6", "libgcc_s.so.1", "librt.so.1", "libpthread.so.0", "libdl.so.2", "libm.so.6"),
    released={"9.3.4": "2026-03"},
    beyond_loopback="open",
    to_install="scale servers install questdb, or give --home DIR with questdb.jar",
)
