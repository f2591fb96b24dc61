"""GreptimeDB's facts and the defaults of its knobs. Refuses to import what asks the server."""

from __future__ import annotations

from scale_sweep.model import ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.role_knobs import connections_knob

FACTS = Facts(
    name="greptimedb",
    title="GreptimeDB",
    implementation="scale_sweep.server.targets.greptimedb.greptimedb_target:GreptimedbTarget",
    methods=("http", series.GZIP),
    runs_from=(ServerSource.IMAGE,),
    remark="GreptimeDB was written from its documentation and not tried: no registry of packages has it",
    stores_tags=True,
    own_columns=("greptime_timestamp", "device"),
    knobs=(connections_knob(), Knob(name="wal.sync_write", default="false")),
    any_knob=True,
    vendor_defaults={
        "runtime.global_rt_size": "all processors that it sees",
        "runtime.compact_rt_size": "half of the processors that it sees",
        "wal.sync_write": "false",
    },
    fsynced={"wal.sync_write": "true"},
    rows_per_core_s=3e5,
    overhead_s=6.0,
    row_overhead_bytes=40,
    image="greptime/greptimedb",
    image_version="v1.0.0",
    image_home="/greptime",
    to_install="docker pull greptime/greptimedb:v1.0.0",
)
