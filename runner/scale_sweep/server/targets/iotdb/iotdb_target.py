"""IoTDB, a ConfigNode and a DataNode: a device is a path of its tree, written by tablets over Thrift."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.loadgen.binary import loopback_path
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import LOOPBACK, ServerSpec, Site
from scale_sweep.server.targets import Surroundings
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.iotdb.iotdb_session import (
    CONFIG_LOG,
    DATA,
    DATA_LOG,
    FLUSH_LOG,
    ROOT,
    TYPES,
    WAL,
    IotdbSession,
)
from scale_sweep.server.targets.java import JavaTarget, java_settings, logback, options
from scale_sweep.server.targets.records import blocking, wrong_input

_NOT_ITEMS = {"connections", "heap", "config_heap", "aligned"}
# Addresses and the driver's protocol: not to be chosen.
_FIXED = re.compile(r"\w+_(address|port|dirs?|config_node)|(cn|dn)_rpc_\w*compression_enable|enable_thrift_ssl")
_TEMPLATE = "iotdb-system.properties.template"
_OPENED = ("java.lang", "java.util", "java.util.concurrent", "java.nio", "java.io", "java.net")
_DOUBTFUL = re.compile(  # the excepted one is of new regions that the DataNode cannot hear of yet, and then asks for
    r"^ERROR (?!DataNodeTSStatusRPCHandler ).*"
    r"|.*(OutOfMemoryError|No space left|[Rr]eject(ed)? write|[Dd]isk.*(full|insufficient)).*"
)


class IotdbTarget(JavaTarget):
    doubtful = _DOUBTFUL
    types = TYPES
    session_type = IotdbSession
    jar = "iotdb-server-"

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        return {
            **java_settings(trial),
            "aligned": trial.knobs["aligned"],
            "flush_thread_count": cores_of(trial),
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        findings = list(super().check(trial, around))
        if trial.knobs["aligned"] not in ("true", "false"):
            sentence = f"aligned={trial.knobs['aligned']} is neither true nor false"
            findings.append(wrong_input("--knob", sentence, "--knob aligned=true"))
        for name in filter(_FIXED.fullmatch, trial.knobs):
            sentence = f"{name} is set by the trial: IoTDB's addresses, ports, folders and protocol are fixed"
            findings.append(wrong_input("--knob", sentence, f"leave out {name}"))
        return tuple(findings)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Items that its template does not name, and that it ignores."""
        known = _items_of(home)
        unknown = [name for name in trial.knobs if known and name not in known and name not in _NOT_ITEMS]
        sentences = (f"IoTDB has no item {name} in its {_TEMPLATE}, and would ignore it" for name in unknown)
        return tuple(wrong_input("--knob", sentence, "correct --knob") for sentence in sentences)

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        try:
            loopback_path()
        except PreflightError as error:
            return (blocking("loopback", error.message, error.remedy),)
        return ()

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        return (*super().programs(trial, home), loopback_path())

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/{ROOT}"
        settings = self.settings(trial, is_ours=True)
        items = {k: v for k, v in settings.items() if not k.startswith("jvm_") and k != "aligned"}
        processors = settings["jvm_processors"]
        places = (
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
            *(f"-D{name}={root}" for name in ("IOTDB_HOME", "IOTDB_CONF", "CONFIGNODE_HOME", "CONFIGNODE_CONF")),
            f"-Dlogback.configurationFile={root}/logback.xml",
            "-cp",
            f"{site.home}/lib/*",
        )
        java = self.java(site)
        config = (java, *options(f"{root}/confignode", processors, trial.knobs["config_heap"]), *places)
        data = (java, *options(site.data_dir, processors, settings["jvm_heap"]), *places)
        on_loopback = {} if site.in_image else {"LD_PRELOAD": site.reachable(loopback_path())}
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/confignode/tmp"),
            argv=("/bin/sh", f"{root}/both.sh"),
            env={**ENVIRONMENT, **on_loopback},
            files={
                f"{root}/both.sh": script(
                    (*config, "org.apache.iotdb.confignode.service.ConfigNode", "-s"),
                    (*data, "org.apache.iotdb.db.service.DataNode", "-s"),
                ),
                f"{root}/iotdb-system.properties": properties(site, items),
                f"{root}/logback.xml": logback({f"{root}/{file}": name for file, name in _LOGGED.items()}),
            },
            ports=(site.port,) if site.in_image else tuple(range(site.port, site.port + PORTS)),
            stop_timeout_s=60.0,
        )


def _items_of(home: str) -> frozenset[str]:
    """Items of the server's template; empty without one."""
    for jar in Path(home, "lib").glob("node-commons-*.jar"):
        try:
            with zipfile.ZipFile(jar) as file:
                text = file.read(_TEMPLATE).decode(errors="replace")
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        return frozenset(re.findall(r"(?m)^#?\s*([a-z]\w*)=", text))
    return frozenset()


PORTS = 7
ONE_NODE = "org.apache.iotdb.consensus.simple.SimpleConsensus"
_LOGGED = {
    CONFIG_LOG: "org.apache.iotdb.confignode.service.ConfigNode",
    DATA_LOG: "org.apache.iotdb.db.service.DataNode",
    FLUSH_LOG: "org.apache.iotdb.db.storageengine.dataregion.memtable.TsFileProcessor",
}
# setpriv: a process whose parent is killed goes with it. One that ends takes the other along.
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
    """A script: both commands until either ends or the shell is to end; its code is that of `data`."""
    return _SCRIPT.format(config=shlex.join(config), data=shlex.join(data))


def properties(site: Site, settings: Mapping[str, str]) -> str:
    """iotdb-system.properties: both nodes on this address, all files in the trial's folders."""
    host = LOOPBACK if site.in_image else site.bind_address
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
    """On each disk, else in the trial's directory."""
    return tuple(f"{path}/{DATA}" for path in site.disks) or (f"{site.data_dir}/{ROOT}/{DATA}",)


def wal_folders(site: Site) -> tuple[str, ...]:
    """Beside the data, or in the trial's directory."""
    on_disks = site.disks if site.wal_disk == "data" else ()
    return tuple(f"{path}/{WAL}" for path in on_disks) or (f"{site.data_dir}/{ROOT}/{WAL}",)
