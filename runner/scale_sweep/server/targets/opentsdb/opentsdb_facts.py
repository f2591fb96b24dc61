"""OpenTSDB's facts."""

from __future__ import annotations

from scale_sweep.model.questions import BY_VALUE, MORE_BOUNDS, NEWEST_BEFORE
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob, series
from scale_sweep.server.targets.common_facts import NATIVE, SHELL_TOOLS, connections_knob, heap

TAGS_MAX = 8  # of a series, by default

FACTS = Facts(
    name="opentsdb",
    title="OpenTSDB",
    implementation="scale_sweep.server.targets.opentsdb.opentsdb_target:OpentsdbTarget",
    methods=("put", series.TELNET),
    unanswered=(series.TELNET,),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE),
    queries="scale_sweep.server.targets.opentsdb.opentsdb_queries:rendered",
    functions=("median", "stddev"),
    fills=("null",),
    cannot={
        **dict.fromkeys(("fill = previous", "fill = linear"), "OpenTSDB fills with NULL or with a constant only"),
        **dict.fromkeys((NEWEST_BEFORE, BY_VALUE), "OpenTSDB answers in the order of time, oldest first"),
        MORE_BOUNDS: "OpenTSDB has no condition on values",
        "percentile": "OpenTSDB takes percentiles of n values at n + 1 parts, and not at n - 1",
        "stddev_samp": "OpenTSDB's dev is that of a population",
        "rate": "OpenTSDB's rate is that of each point and the one before it",
        "count_distinct": "OpenTSDB has no count of different values",
    },
    iot_benchmark=("OpenTSDB",),
    stores_tags=True,
    own_columns=("device",),
    knobs=(connections_knob(), Knob(name="heap", default=heap), Knob(name="tsd_heap", default=heap)),
    fixed=r"tsd_network_(bind|port)|.*(quorum|cachedir|staticroot|rootdir|tmp_dir|datadir|clientport)"
    r"|hbase_(master|regionserver)_.*(address|hostname|port)",
    any_knob=True,
    vendor_defaults={
        "jvm_heap": "a quarter of the memory",
        "jvm_processors": "all that it sees",
        "tsd_jvm_heap": "a quarter of the memory",
        "tsd_jvm_processors": "all that it sees",
        "tsd.storage.enable_compaction": "true",
        "tsd.storage.max_tags": str(TAGS_MAX),
    },
    acknowledged="in HBase's memory and in its log, which a local file system does not sync",
    rows_per_request=1000,
    rows_per_core_s=2e4,
    at_rest="nothing waits in the TSD, and every memstore of HBase is a file that is synced",
    overhead_s=60.0,
    warmup_s=(10.0, 60.0),  # Java compiles while it runs
    ready_s=300.0,
    image="localhost/scale-opentsdb",
    image_version="2.4.1",
    image_home="/opt/opentsdb",
    is_image_built=True,
    image_java="/opt/java/openjdk",
    image_files={"/opt/opentsdb/lib/": ("lib",)},
    image_tools=(*SHELL_TOOLS, *NATIVE, "chmod", "ls", "bash", "id"),  # the last four for Hadoop's file system
    released={"2.4.1": "2021-09"},
    to_install="scale servers install opentsdb, or give --home DIR with its jars and those of HBase in lib",
)
