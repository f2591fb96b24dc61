"""Facts of InfluxDB 3 Core, and the defaults of its knobs. Refuses to import what asks the server."""

from __future__ import annotations

from scale_sweep.model import ServerSource
from scale_sweep.server.targets import Facts, series
from scale_sweep.server.targets.role_knobs import connections_knob

FACTS = Facts(
    name="influxdb3",
    title="InfluxDB 3 Core",
    implementation="scale_sweep.server.targets.influxdb.influxdb3_target:InfluxdbV3Target",
    methods=("http", series.GZIP),
    runs_from=(ServerSource.IMAGE, ServerSource.INSTALLATION),
    remark="InfluxDB 3 Core was written from its documentation and not tried: no registry of packages has it",
    stores_tags=True,
    own_columns=("time", "device"),
    knobs=(connections_knob(),),
    any_knob=True,
    vendor_defaults={"num_threads": "all processors that it sees"},
    acknowledged="in a file of the log, which is not fsynced",
    rows_per_core_s=3e5,
    overhead_s=6.0,
    row_overhead_bytes=40,
    image="influxdb",
    image_version="3-core",
    image_home="/usr",
    home_variable="SCALE_INFLUXDB3_HOME",
    to_install="docker pull influxdb:3-core, or give --home DIR of an installed influxdb3",
)
