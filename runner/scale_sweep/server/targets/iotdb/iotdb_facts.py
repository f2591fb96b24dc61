"""IoTDB's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.questions import EACH_TAG, FILLS, MORE_BOUNDS, ONE_TAG, SEVERAL_COLUMNS, SEVERAL_FUNCTIONS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import commit_threads_knob, connections_knob, heap, twice_the_cores

FACTS = Facts(
    name="iotdb",
    title="IoTDB",
    implementation="scale_sweep.server.targets.iotdb.iotdb_target:IotdbTarget",
    methods=("tablet", "tablets", "records"),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    queries="scale_sweep.server.targets.iotdb.iotdb_queries:rendered",
    can_query=(SEVERAL_COLUMNS, SEVERAL_FUNCTIONS, MORE_BOUNDS),
    functions=("stddev", "stddev_samp", "rate"),
    fills=FILLS,
    cannot={
        **dict.fromkeys((EACH_TAG, ONE_TAG), "IoTDB's devices have no tags here"),
        "median": "IoTDB has percentiles only in a library of functions that is not in the server",
        "percentile": "IoTDB has percentiles only in a library of functions that is not in the server",
        "count_distinct": "IoTDB has no count of different values",
    },
    iot_benchmark=("IoTDB-200-SESSION_BY_TABLET=tablet", "IoTDB-200-SESSION_BY_RECORDS=records"),
    iot_benchmark_store="IoTDB",
    iot_benchmark_versions=tuple(
        f"IoTDB-{version}-SESSION_BY_{name}={method}"
        for version in ("013", "100", "110", "130")
        for name, method in (("TABLET", "tablet"), ("RECORDS", "records"))
    ),
    own_columns=("time", "timestamp"),
    knobs=(
        Knob(
            name="default_data_region_group_num_per_database",
            role=KnobRole.PARTITIONS,
            kind="count",
            label="Data regions",
            column="partitions",
            default=twice_the_cores,
            help="data regions, over which IoTDB distributes the devices",
        ),
        connections_knob(),
        commit_threads_knob(
            "flush_thread_count",
            label="Flush threads",
            meaning="memtables that are written to disk at once, by default as many as cores",
        ),
        Knob(name="aligned", default="true"),
        Knob(name="heap", default=heap),
        Knob(name="config_heap", default="256m"),
    ),
    fixed=r"[cd]n_.*(address|port|dirs?|seed_config_node)|sort_tmp_dir",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "half of the memory",
        "jvm_processors": "all that it sees",
        "flush_thread_count": "by the processors that it sees",
        "wal_mode": "ASYNC",
    },
    fsynced={"wal_mode": "SYNC"},
    at_rest="`FLUSH` has returned, and all its files are synced",
    log_folders=("iotdb/wal", "wal"),
    rows_per_core_s=4e5,
    sums=ALL,
    sums_in_doubles=True,
    overhead_s=40.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    ready_s=300.0,
    thread_names=True,
    disk_placements=("dirs",),
    wal_disks=("data", "off-axis"),
    image="apache/iotdb",
    image_version="2.0.1-beta-standalone",
    image_home="/iotdb",
    image_java="/opt/java/openjdk",
    image_files={"/iotdb/lib/": ("lib",)},
    image_tools=("setpriv",),
    released={"2.0.1": "2025-02"},
    to_install="scale servers install iotdb, or give --home DIR with its jars in lib",
)
