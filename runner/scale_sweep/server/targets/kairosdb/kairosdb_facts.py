"""KairosDB's facts."""

from __future__ import annotations

from scale_sweep.model.questions import BY_VALUE, MORE_BOUNDS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import NATIVE, SHELL_TOOLS, connections_knob, heap

FACTS = Facts(
    name="kairosdb",
    title="KairosDB",
    implementation="scale_sweep.server.targets.kairosdb.kairosdb_target:KairosdbTarget",
    methods=("datapoints", series.GZIP, series.TELNET),
    unanswered=(series.TELNET,),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    queries="scale_sweep.server.targets.kairosdb.kairosdb_queries:rendered",
    functions=("stddev_samp",),
    fills=("null",),
    cannot={
        **dict.fromkeys(("fill = previous", "fill = linear"), "KairosDB marks gaps with NULL only"),
        BY_VALUE: "KairosDB orders points by time only",
        "median": "KairosDB has percentiles of a random sample of the points only",
        "percentile": "KairosDB has percentiles of a random sample of the points only",
        "stddev": "KairosDB's dev is that of a sample",
        "rate": "KairosDB's rate is that of each point and the one before it",
        "count_distinct": "KairosDB has no count of different values",
    },
    can_query=(MORE_BOUNDS,),
    iot_benchmark=("KairosDB",),
    stores_tags=True,
    own_columns=("device",),
    knobs=(connections_knob(), Knob(name="heap", default=heap), Knob(name="datastore", default="cassandra")),
    fixed=r"(jetty|telnetserver)_(address|port)|.*_(path|dir|director(y|ies))|(cassandra_)?(listen|rpc|storage"
    r"|native)_.*(address|port)",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "a quarter of the memory",
        "jvm_processors": "all that it sees",
        "datastore": "h2",
        "cassandra.commitlog_sync": "periodic",
    },
    acknowledged="in KairosDB's queue; with H2 in its memory, and written within half a second",
    rows_per_request=100,
    rows_per_core_s=1500,
    keeps_data=True,
    at_rest="H2's file has every commit, or Cassandra every point of the queue, and the files are synced",
    row_overhead_bytes=600,
    overhead_s=20.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    ready_s=400.0,  # with Cassandra both start one after the other
    image="localhost/scale-kairosdb",
    image_version="1.3.0-1",
    image_home="/opt/kairosdb",
    is_image_built=True,
    image_java="/opt/java/openjdk",
    image_files={"/opt/kairosdb/lib/": ("lib",)},
    image_tools=(*SHELL_TOOLS, *NATIVE),
    released={"1.3.0": "2021-08"},
    to_install="scale servers install kairosdb, or give --home DIR with its jars in lib",
)
