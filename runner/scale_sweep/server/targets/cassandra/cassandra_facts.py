"""Cassandra's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.questions import BY_VALUE, EACH_TAG, FILLS, FURTHER, MORE_BOUNDS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import NATIVE, commit_threads_knob, connections_knob, heap

FACTS = Facts(
    name="cassandra",
    title="Cassandra",
    implementation="scale_sweep.server.targets.cassandra.cassandra_target:CassandraTarget",
    methods=("batch",),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    queries="scale_sweep.server.targets.cassandra.cassandra_queries:rendered",
    can_query=(MORE_BOUNDS,),
    cannot={
        **dict.fromkeys((f"fill = {fill}" for fill in FILLS), "CQL answers with stored rows only"),
        **dict.fromkeys(FURTHER, "CQL has no functions of several rows but count, avg, sum, max and min"),
        BY_VALUE: "CQL orders rows by the columns of the key only",
        EACH_TAG: "CQL groups by the primary key only, and no tag is in it",
    },
    iot_benchmark=("Cassandra",),
    stores_tags=True,
    own_columns=("device", "ts"),
    knobs=(
        connections_knob(),
        commit_threads_knob(
            "memtable_flush_writers",
            label="Memtable flush writers",
            meaning="memtables that are written to disk at once, by default as many as Cassandra chooses",
        ),
        Knob(name="commitlog_sync", default="periodic"),
        Knob(name="heap", default=heap),
    ),
    fixed=r"(listen|rpc|storage|native|broadcast)_.*(address|port)|.*_director(y|ies)|cluster_name|seed_provider",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "half of the memory, 1 GB at most, or a quarter, 8 GB at most",
        "jvm_processors": "all that it sees",
        "commitlog_sync": "periodic",
    },
    fsynced={"commitlog_sync": "batch"},
    rows_per_request=2000,
    rows_per_core_s=4e4,
    sums=ALL,
    sums_in_doubles=True,
    sums_per_core_s=4e5,
    keeps_data=True,
    at_rest="the files of its commit log are synced",
    row_overhead_bytes=60,
    overhead_s=30.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    writes_warmup_s=(150.0, 300.0),  # on one core from 50 to 200 k rows/s in 160 s, in steps that look level
    ready_s=300.0,
    thread_names=True,
    image="cassandra",
    image_version="5.0.9",
    image_home="/opt/cassandra",
    image_java="/opt/java/openjdk",
    image_files={"/opt/cassandra/lib/": ("lib",)},
    image_tools=NATIVE,
    released={"5.0.9": "2026-07"},
    to_install="scale servers install cassandra, or give --home DIR with its jars in lib",
)
