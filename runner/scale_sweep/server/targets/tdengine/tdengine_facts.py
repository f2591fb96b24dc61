"""TDengine's facts."""

from __future__ import annotations

import math
from dataclasses import replace

from scale_sweep.experiment.work import sums
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.questions import FILLS, NEEDS
from scale_sweep.model.resources import ResourceRange, ServerSource
from scale_sweep.server.targets import Facts, Knob
from scale_sweep.server.targets.common_facts import connections_knob, partitions_knob, parts_on_disks

VERSION = "3.3.0.0"
CLIENT_THREADS_PER_PROCESS = 10


def _vgroups(resources: ResourceRange) -> str:
    """A vgroup has one writing thread, so fewer would limit the curve."""
    return str(parts_on_disks(resources) if resources.disks else max(4, math.ceil(max(resources.cores))))


def _commit_threads(resources: ResourceRange) -> str:
    """One thread commits one vgroup."""
    return str(parts_on_disks(resources) if resources.disks else 4)


def _no_retention(resources: ResourceRange) -> str | None:
    """So that the log does not fill prepared disks."""
    return "0" if resources.disks else None


def _small_buffer(resources: ResourceRange) -> str | None:
    """So that a window covers commits."""
    return "32" if resources.disks else None


def _rpc_threads(cores: float) -> str:
    return str(min(10, max(2, math.ceil(cores) // 2)))


FACTS = Facts(
    name="tdengine",
    title="TDengine",
    implementation="scale_sweep.server.targets.tdengine.tdengine_target:TdengineTarget",
    methods=("stmt", "sql", "sml-line", "sml-telnet", "sml-json", "rest", "ws"),
    iot_benchmark=("TDengine", "TDengine-3"),
    stores_tags=True,
    own_columns=("ts", "tbname"),
    accepts=("user",),
    runs_from=(ServerSource.IMAGE, ServerSource.INSTALLATION, ServerSource.ENDPOINT),
    auto_rank=10,
    knobs=(
        replace(partitions_knob(_vgroups, "vgroups", name="vgroups"), is_published=True),
        connections_knob(_vgroups),
        Knob(
            name="commit_threads",
            role=KnobRole.COMMIT_THREADS,
            kind="count",
            column="commit_threads",
            default=_commit_threads,
            help="numOfCommitThreads",
            is_published=True,
        ),
        Knob(name="wal_retention_period", default=_no_retention),
        Knob(name="buffer", default=_small_buffer),
    ),
    fixed=r"fqdn|(first|second)ep|serverport|(log|temp|data)dir",
    any_knob=True,
    vendor_defaults={
        "numOfCores": "all that it sees",
        "numOfCommitThreads": "by the cores that it sees",
        "numOfRpcThreads": "by the cores that it sees",
        "supportVnodes": "by the cores that it sees",
        "vgroups": "2",
        "buffer": "256",
        "wal_level": "1",
        "wal_fsync_period": "3000",
        "wal_retention_period": "3600",
    },
    by_cores={"numOfRpcThreads": _rpc_threads},
    fsynced={"wal_level": "2", "wal_fsync_period": "0"},
    rows_per_core_s=3e6,
    overhead_s=11.0,
    thread_names=True,
    threads_per_process=CLIENT_THREADS_PER_PROCESS,
    load_generators=("scale", "taosbenchmark"),
    queries="scale_sweep.server.targets.tdengine.tdengine_queries:rendered",
    can_query=NEEDS,
    functions=("median", "percentile", "stddev", "rate"),
    fills=FILLS,
    cannot={
        "stddev_samp": "TDengine's STDDEV is that of a population",
        "count_distinct": "TDengine estimates the number of different values (HYPERLOGLOG)",
    },
    sums=sums.ALL,
    sums_in_doubles=True,
    keeps_data=True,
    at_rest="`FLUSH DATABASE` has ended in every vgroup",
    log_folders=("data/vnode/vnode*/wal",),
    row_overhead_bytes=20,
    disk_placements=("tiers", "spread"),
    wal_disks=("data",),
    image="tdengine/tdengine",
    image_version=VERSION,
    image_home="/usr",
    image_library="/usr/lib/libtaos.so",
    image_files={
        "/usr/bin/taosd": ("bin/taosd",),
        "/usr/bin/taosadapter": ("bin/taosadapter",),
        "/usr/lib/libtaos.so": ("lib/libtaos.so", "lib/libtaos.so.1", "driver/libtaos.so", "driver/libtaos.so.1"),
    },
    image_extras=("/usr/bin/taosadapter",),
    released={VERSION: "2024-05"},
    home_variable="SCALE_TDENGINE_HOME",
    beyond_loopback="password",
    to_install="install TDengine, or give --home DIR holding bin/ and lib/, "
    f"or docker pull tdengine/tdengine:{VERSION}",
)

ROLE_KNOBS = tuple(knob.name for knob in FACTS.role_knobs)
