"""ClickHouse's facts."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import ALL
from scale_sweep.model.questions import NEEDS
from scale_sweep.model.resources import ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob

TABLES, SERVER = "merge_tree.", "server."

NATIVE, ASYNC = "native", "async"
FSYNCED = f"{TABLES}fsync_after_insert"
FSYNCS = (FSYNCED, f"{TABLES}fsync_part_directory")
LIBRARY = "libclickhouse.so.18.16"  # of Debian's server

FACTS = Facts(
    name="clickhouse",
    title="ClickHouse",
    implementation="scale_sweep.server.targets.clickhouse.clickhouse_target:ClickhouseTarget",
    methods=(NATIVE, ASYNC),
    runs_from=(ServerSource.INSTALLATION, ServerSource.IMAGE, ServerSource.ENDPOINT),
    accepts=("user",),
    own_columns=("time", "device_id"),
    knobs=(connections_knob(), Knob(name="max_threads"), Knob(name="time_codec", default="DoubleDelta, LZ4")),
    fixed=r"server_(listen_host|.*port|.*path|users_config|default_profile|default_database|timezone)",
    any_knob=True,
    vendor_defaults={"max_threads": "the cores that it sees", **dict.fromkeys(FSYNCS, "0")},
    fsynced=dict.fromkeys(FSYNCS, "1"),
    rows_per_core_s=2e6,
    overhead_s=6.0,
    queries="scale_sweep.server.targets.clickhouse.clickhouse_session:rendered",
    can_query=NEEDS,
    functions=("median", "percentile", "stddev", "stddev_samp", "count_distinct", "rate"),
    cannot={
        f"fill = {name}": "ClickHouse is not asked to fill stretches of time" for name in ("null", "previous", "linear")
    },
    has_device_table=True,
    sums=ALL,
    sums_in_doubles=True,
    sums_per_core_s=2e7,
    keeps_data=True,
    at_rest="`OPTIMIZE TABLE FINAL` has merged the parts of the table into one, and its files are synced",
    row_overhead_bytes=20,
    thread_names=True,
    beyond_loopback="password",
    image="clickhouse/clickhouse-server",
    image_version="26.3",
    image_home="/usr/bin",
    image_files={
        "/usr/bin/clickhouse-server": ("clickhouse-server", "clickhouse"),
        f"/usr/lib/{LIBRARY}": (f"../lib/x86_64-linux-gnu/{LIBRARY}",),
    },
    image_extras=(f"/usr/lib/{LIBRARY}",),
    released={"18.16.1": "2018-12", "26.3": "2026-03"},
    to_install="apt-get install clickhouse-server (18.16 of 2018), or docker pull clickhouse/clickhouse-server:26.3, "
    "or give --home DIR with clickhouse-server",
)
