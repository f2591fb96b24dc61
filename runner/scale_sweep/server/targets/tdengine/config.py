"""How taosd is started: taos.cfg, the command, and which knobs are items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import LOOPBACK, ServerSpec, Site
from scale_sweep.server.targets import Part
from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS
from scale_sweep.server.targets.tdengine.tdengine_facts import FACTS, ROLE_KNOBS

ITEMS = frozenset(
    """arbCheckSyncIntervalSec arbHeartBeatIntervalSec arbSetAssignedTimeoutSec assert asyncLog audit auditCreateTable
    auditInterval cacheLazyLoadThreshold checkpointBackupDir checkpointInterval compactPullupInterval compressMsgSize
    compressor countAlwaysReturnValue crashReporting curRange dDebugFlag dPrecision debugFlag disableStream
    enableCoreFile enableWhiteList encryptAlgorithm encryptScope experimental fPrecision filterScalarMode fsDebugFlag
    idxDebugFlag ifAdtFse keepAliveIdle logKeepDays lossyColumns mDebugFlag maxRange maxRetryWaitTime
    maxStreamBackendCache maxTsmaNum metaDebugFlag minDiskFreeSize minimalDataDirGB minimalLogDirGB minimalTmpDirGB
    mndLogRetention mndSdbWriteDelta monitor monitorComp monitorForceV2 monitorFqdn monitorInterval
    monitorIntervalForBasic monitorLogProtocol monitorMaxLogs monitorPort mqRebalanceInterval numOfCommitThreads
    numOfCores numOfLogLines numOfMnodeReadThreads numOfQnodeQueryThreads numOfRpcSessions numOfRpcThreads
    numOfSnodeSharedThreads numOfSnodeUniqueThreads numOfVnodeFetchThreads numOfVnodeQueryThreads numOfVnodeRsmaThreads
    pqSortMemThreshold qDebugFlag queryBufferSize queryRsmaTolerance queryRspPolicy ratioOfVnodeStreamThreads
    resolveFQDNRetryTime rpcDebugFlag rpcQueueMemoryAllowed rsyncPort s3Accesskey s3BucketName s3Endpoint
    s3MigrateEnabled s3MigrateIntervalSec s3PageCacheSize s3UploadDelaySec sDebugFlag shellActivityTimer simDebugFlag
    simdEnable skipGrant smaDebugFlag snodeAddress sndDebugFlag stDebugFlag statusInterval streamAggCnt streamBufferSize
    streamSinkDataRate supportVnodes syncElectInterval syncHeartbeatInterval syncHeartbeatTimeout syncSnapReplMaxWaitN
    tagFilterCache tdbDebugFlag telemetryInterval telemetryPort telemetryReporting telemetryServer
    timeToGetAvailableConn timeseriesThreshold tmqMaxTopicNum tmqRowSize tmrDebugFlag tqDebugFlag transPullupInterval
    trimVDbIntervalSec tsdbDebugFlag ttlBatchDropNum ttlChangeOnWrite ttlFlushThreshold ttlPushInterval ttlUnit
    uDebugFlag udf udfDebugFlag udfdLdLibPath udfdResFuncs uptimeInterval vDebugFlag wDebugFlag
    walFsyncDataSizeLimit""".split()
)

# The trial sets these, because the load must reach this server.
OURS = ("fqdn", "firstEp", "secondEp", "serverPort", "dataDir", "logDir", "tempDir", "configDir", "scriptDir")

# Former names of options of CREATE DATABASE.
FORMER = {
    "wallevel": "wal_level",
    "fsync": "wal_fsync_period",
    "days": "duration",
    "cache": "buffer",
    "blocks": "buffer",
    "cachelast": "cachemodel",
    "minrowsperfileblock": "minrows",
    "maxrowsperfileblock": "maxrows",
}

# taosd does not start outside these ranges. An unknown greatest value is that of its type.
ITEM_BOUNDS = {
    "numOfCores": (1.0, 100_000.0),
    "numOfCommitThreads": (1, 1024),
    "numOfRpcThreads": (1, 1024),
    "numOfRpcSessions": (1, 100_000),
    "numOfVnodeQueryThreads": (4, 1024),
    "numOfVnodeFetchThreads": (4, 1024),
    "supportVnodes": (0, 4096),
    "rpcQueueMemoryAllowed": (100 * 2**20, 2**63 - 1),
    "minDiskFreeSize": (50 * 2**20, 2**63 - 1),
    "walFsyncDataSizeLimit": (100 * 2**20, 2**63 - 1),
    "minimalDataDirGB": (0.001, 1e7),
    "minimalLogDirGB": (0.001, 1e7),
    "minimalTmpDirGB": (0.001, 1e7),
}

_BY_LOWER = {name.lower(): name for name in (*ITEMS, *OURS)}


def spelled(name: str) -> str:
    """As the server writes it: taosd ignores case."""
    return _BY_LOWER.get(name.lower(), name)


FIRST_VNODE = 2
_PATH_MAX = 127
_LONGEST_FILES = ("tq/subscribe/main.tdb-journal.99", "meta/main.tdb-journal.999999999")  # numbers of transactions


def disk_index(vnode: int, disks: int) -> int:
    """Round robin: 12 vnodes on 3 disks are 4 on each."""
    return (vnode - FIRST_VNODE) % disks


def data_dirs(site: Site) -> tuple[str, ...]:
    if site.disks and site.disk_placement == "tiers":
        return tuple(f"{path} 0 {int(i == 0)}" for i, path in enumerate(site.disks))
    if site.disks and site.disk_placement == "stripe":
        return site.disks[:1]
    return (f"{site.data_dir}/data",)


def refuse_long(site: Site, vgroups: int) -> None:
    """taosd 3.3.0.0 dies of file names above 127 bytes in CREATE DATABASE. Raises ProvisionError."""
    last = FIRST_VNODE + vgroups - 1
    room = _PATH_MAX - max(len(f"/vnode/vnode{last}/{name}") for name in _LONGEST_FILES)
    for line in data_dirs(site):
        path = line.split()[0]
        if len(path) > room:
            raise ProvisionError(
                f"{path} has {len(path)} characters, and TDengine dies of data directories with more than {room}",
                remedy="--data-dir or --dir with a shorter path",
            )


def links(site: Site, vgroups: int) -> dict[str, str]:
    if not site.disks or site.disk_placement != "spread":
        return {}
    vnodes = range(FIRST_VNODE, FIRST_VNODE + vgroups)
    disk_of = {vnode: site.disks[disk_index(vnode, len(site.disks))] for vnode in vnodes}
    return {f"{site.data_dir}/data/vnode/vnode{vnode}": f"{disk}/vnode{vnode}" for vnode, disk in disk_of.items()}


def parts_of(disk_placement: str, data_dir: str, disks: Sequence[str], vnodes: Sequence[int]) -> tuple[Part, ...]:
    """Below the data directory (links are followed later), or on a tier."""
    parts = []
    for vnode in vnodes:
        places = [f"{path}/vnode/vnode{vnode}" for path in disks] if disk_placement in ("tiers", "stripe") else []
        there = next((p for p in places if Path(p).is_dir()), f"{data_dir}/data/vnode/vnode{vnode}")
        wanted = disk_index(vnode, len(disks)) if disk_placement == "spread" else None
        parts.append(Part(name=f"vnode {vnode}", path=there, disk=wanted))
    return tuple(parts)


ADAPTER_OFFSET = 11
THROUGH_ADAPTER = ("rest", "ws")


def database_options(trial: Trial) -> dict[str, str]:
    free = {k.lower(): v for k, v in trial.knobs.items() if k.lower() in DATABASE_OPTIONS}
    return {"vgroups": trial.knobs["vgroups"], **free}


def precision(trial: Trial) -> str:
    """ "ms", "us" or "ns"."""
    return database_options(trial).get("precision", "ms").strip("'").lower()


def config_items(trial: Trial) -> dict[str, str]:
    """The server must confirm them."""
    cores = max(1, int(-(-trial.cores // 1)))
    items = {
        "numOfCores": str(cores),
        "numOfCommitThreads": trial.knobs.get("commit_threads", "4"),
        **{name: value(cores) for name, value in FACTS.by_cores.items()},
        "supportVnodes": str(max(2 * cores, int(trial.knobs["vgroups"]) + 1)),
    }
    free = {spelled(k): v for k, v in trial.knobs.items() if k not in ROLE_KNOBS and k.lower() not in DATABASE_OPTIONS}
    return {**items, **free}


def name_of(site: Site) -> str:
    """For clients."""
    return "localhost" if site.address == LOOPBACK else site.address


def taos_cfg(trial: Trial, site: Site) -> str:
    """Nothing leaves the machine."""
    lines: Mapping[str, str] = {
        "fqdn": name_of(site),
        "firstEp": f"{name_of(site)}:{site.port}",
        "serverPort": str(site.port),
        "logDir": f"{site.data_dir}/log",
        "tempDir": f"{site.data_dir}/tmp",
        "monitor": "0",
        "audit": "0",
        "telemetryReporting": "0",
        "crashReporting": "0",
        "udf": "0",
        "asyncLog": "1",
        "minimalTmpDirGB": "0.1",
        "minimalLogDirGB": "0.1",
        **({"minimalDataDirGB": "0.1"} if site.disks else {}),
        **config_items(trial),
    }
    folders = "".join(f"dataDir {path}\n" for path in data_dirs(site))
    return folders + "".join(f"{name} {value}\n" for name, value in lines.items())


def client_folder(data_dir: str) -> str:
    return f"{data_dir}/client"


def _client_cfg(site: Site) -> str:
    folder = client_folder(site.data_dir)
    return (
        f"firstEp {name_of(site)}:{site.port}\nlogDir {folder}\ntempDir {folder}\n"
        "minimalLogDirGB 0.1\nminimalTmpDirGB 0.1\nmonitor 0\ntelemetryReporting 0\ncrashReporting 0\n"
    )


def adapter_port(port: int) -> int:
    return port + ADAPTER_OFFSET


def _adapter_toml(site: Site) -> str:
    return (
        f'debug = false\nport = {adapter_port(site.port)}\ntaosConfigDir = "{site.data_dir}/cfg"\n'
        "[monitor]\ndisable = true\n[opentsdb_telnet]\nenable = false\n[collectd]\nenable = false\n"
        f'[statsd]\nenable = false\n[log]\npath = "{site.data_dir}/log"\n[uploadKeeper]\nenable = false\n'
    )


def server_spec(trial: Trial, site: Site, *, adapter: bool) -> ServerSpec:
    """A shell starts the adapter beside taosd if a method needs it. Raises ProvisionError."""
    folder = f"{site.data_dir}/cfg"
    taosd = (f"{site.home}/bin/taosd", "-c", folder)
    script = f'"$0" -c {folder}/taosadapter.toml & exec "$@"'
    with_adapter = ("/bin/sh", "-c", script, f"{site.home}/bin/taosadapter", *taosd)
    refuse_long(site, int(trial.knobs["vgroups"]))
    of_vnodes = links(site, int(trial.knobs["vgroups"]))
    ports = (site.port, adapter_port(site.port)) if adapter else (site.port,)
    return ServerSpec(
        folders=(*(f"{site.data_dir}/{name}" for name in ("data", "log", "tmp")), *of_vnodes.values()),
        links=of_vnodes,
        argv=with_adapter if adapter else taosd,
        env={"TZ": "UTC", "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": f"{site.home}/lib"},  # for the adapter's libtaos
        files={
            f"{folder}/taos.cfg": taos_cfg(trial, site),
            f"{folder}/taosadapter.toml": _adapter_toml(site),
            f"{client_folder(site.data_dir)}/taos.cfg": _client_cfg(site),
        },
        ports=ports,
        log_paths=(f"{site.data_dir}/log/taosdlog.0",),
        stop_process="taosd",
        stop_timeout_s=90.0,
    )
