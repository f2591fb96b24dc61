"""Files that IoTDB starts from: its settings, those of its log, and a script that keeps its two processes together."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from scale_sweep.model import Site

ROOT, DATA, WAL = "iotdb", "data", "wal"  # folders: in the trial's directory, and on each disk
CONFIG_LOG, DATA_LOG, FLUSH_LOG = "config.log", "data.log", "flush.log"  # in ROOT
PORTS = 7
ONE_NODE = "org.apache.iotdb.consensus.simple.SimpleConsensus"
_LOGGED = {
    CONFIG_LOG: "org.apache.iotdb.confignode.service.ConfigNode",
    DATA_LOG: "org.apache.iotdb.db.service.DataNode",
    FLUSH_LOG: "org.apache.iotdb.db.storageengine.dataregion.memtable.TsFileProcessor",
}
# setpriv: a process whose parent is killed goes with it. One that ends by itself takes the other one along.
_SCRIPT = """trap : CHLD
setpriv --pdeathsig KILL {config} &
config=$!
setpriv --pdeathsig KILL {data} &
data=$!
trap 'trap "" TERM; ended=1; kill $data $config' TERM
wait $data $config
trap - CHLD
trap '' TERM
[ "$ended" ] || kill $data $config 2>/dev/null
wait $data
code=$?
wait $config
exit $code
"""


def script(config: Sequence[str], data: Sequence[str]) -> str:
    """A script for sh: runs both commands until either ends or the shell is told to end; its code is that of `data`."""
    return _SCRIPT.format(config=shlex.join(config), data=shlex.join(data))


def properties(site: Site, settings: Mapping[str, str]) -> str:
    """iotdb-system.properties: one ConfigNode and one DataNode on this address, all files in the trial's folders."""
    host = "127.0.0.1" if site.in_image else site.bind_address
    port, root = site.port, f"{site.data_dir}/{ROOT}"
    seed = f"{host}:{port + 1}"
    items = {
        "cn_internal_address": host,
        "cn_internal_port": str(port + 1),
        "cn_consensus_port": str(port + 2),
        "cn_seed_config_node": seed,
        "dn_seed_config_node": seed,
        "dn_rpc_address": site.bind_address,
        "dn_rpc_port": str(port),
        "dn_internal_address": host,
        "dn_internal_port": str(port + 3),
        "dn_mpp_data_exchange_port": str(port + 4),
        "dn_schema_region_consensus_port": str(port + 5),
        "dn_data_region_consensus_port": str(port + 6),
        "cn_system_dir": f"{root}/confignode/system",
        "cn_consensus_dir": f"{root}/confignode/consensus",
        "cn_pipe_receiver_file_dir": f"{root}/confignode/receiver",
        "dn_system_dir": f"{root}/system",
        "dn_consensus_dir": f"{root}/consensus",
        "dn_data_dirs": ",".join(data_folders(site)),
        "dn_wal_dirs": ",".join(wal_folders(site)),
        "dn_tracing_dir": f"{root}/tracing",
        "dn_sync_dir": f"{root}/sync",
        "sort_tmp_dir": f"{root}/sort",
        "dn_pipe_receiver_file_dirs": f"{root}/receiver",
        "dn_join_cluster_retry_interval_ms": "1000",  # not 5 s, which each start would wait for
        "config_node_consensus_protocol_class": ONE_NODE,  # of nodes, not of data: there is no other node
        "schema_region_consensus_protocol_class": ONE_NODE,
        "data_region_group_extension_policy": "CUSTOM",
        "cn_metric_level": "OFF",
        "dn_metric_level": "OFF",
        **settings,
    }
    return "".join(f"{name}={value}\n" for name, value in items.items())


def data_folders(site: Site) -> tuple[str, ...]:
    """Where its data files go: a folder on each disk, else one in the trial's directory."""
    return tuple(f"{path}/{DATA}" for path in site.disks) or (f"{site.data_dir}/{ROOT}/{DATA}",)


def wal_folders(site: Site) -> tuple[str, ...]:
    """Where its write-ahead log goes: beside the data, or in the trial's directory."""
    on_disks = site.disks if site.wal_disk == "data" else ()
    return tuple(f"{path}/{WAL}" for path in on_disks) or (f"{site.data_dir}/{ROOT}/{WAL}",)


def logback(root: str) -> str:
    """Warnings to standard output; its settings as it took them, and its flushes, each into a file of its own."""
    kept = "".join(
        f'<appender name="{file}" class="ch.qos.logback.core.FileAppender"><file>{root}/{file}</file>'
        "<encoder><pattern>%msg%n</pattern></encoder></appender>"
        f'<logger name="{name}" level="INFO"><appender-ref ref="{file}"/></logger>\n'
        for file, name in _LOGGED.items()
    )
    out = (
        '<appender name="out" class="ch.qos.logback.core.ConsoleAppender">'
        '<filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>WARN</level></filter>'
        "<encoder><pattern>%level %logger{0} %msg%n%ex{3}</pattern></encoder></appender>\n"
    )
    return f'<configuration>{out}{kept}<root level="WARN"><appender-ref ref="out"/></root></configuration>\n'
