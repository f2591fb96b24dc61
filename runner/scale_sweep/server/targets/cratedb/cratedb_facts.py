"""CrateDB's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.questions import FILLS, NEEDS
from scale_sweep.model.resources import ResourceRange, ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import (
    connections_knob,
    heap,
    partitions_knob,
    parts_on_disks,
    twice_the_cores,
)

UNNEST, BULK = "unnest", "bulk"
PGWIRE = "pgwire"  # arrays by the protocol of PostgreSQL
OF_TABLE = "table."  # begins a setting of the table
DURABILITY = f"{OF_TABLE}translog.durability"


def _shards(resources: ResourceRange) -> str:
    return str(parts_on_disks(resources)) if resources.disks else twice_the_cores(resources)


FACTS = Facts(
    name="cratedb",
    title="CrateDB",
    implementation="scale_sweep.server.targets.cratedb.cratedb_target:CratedbTarget",
    methods=(UNNEST, BULK, PGWIRE),
    own_ports=(PGWIRE,),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    own_columns=("time", "device_id"),
    knobs=(
        partitions_knob(_shards, "shards of the table"),
        connections_knob(),
        Knob(name=DURABILITY, default="REQUEST"),
        Knob(name="heap", default=heap),
    ),
    fixed=r"(cluster|node)_name|(network|http|transport|psql|path|discovery|auth|udc)_.*",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "a quarter of the memory",
        "jvm_processors": "all that it sees",
        DURABILITY: "REQUEST",
    },
    fsynced={DURABILITY: "REQUEST"},
    rows_per_core_s=1e5,
    overhead_s=15.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    ready_s=240.0,
    queries="scale_sweep.server.targets.cratedb.cratedb_session:rendered",
    can_query=NEEDS,
    functions=("stddev", "stddev_samp", "count_distinct", "rate"),
    cannot={
        "median": "CrateDB's percentiles are approximate (a t-digest)",
        "percentile": "CrateDB's percentiles are approximate (a t-digest)",
        **{f"fill = {name}": "CrateDB is not asked to fill stretches of time" for name in FILLS},
    },
    has_device_table=True,
    sums=ALL,
    sums_in_doubles=True,
    sums_per_core_s=5e6,
    keeps_data=True,
    at_rest="`OPTIMIZE TABLE` has merged the files of each shard into one, and committed it",
    row_overhead_bytes=200,
    thread_names=True,
    disk_placements=("spread",),
    wal_disks=("data",),
    image="crate",
    image_version="6.4.3",
    image_home="/crate",
    image_java="/crate/jdk",
    image_files={"/crate/lib/": ("lib",)},
    home_variable="SCALE_CRATEDB_HOME",
    to_install="give --home DIR with lib/crate-server-6.4.3.jar, or docker pull crate:6.4.3",
)
