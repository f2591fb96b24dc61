"""OpenTSDB: each column of a row is a point of a series, a cell of HBase."""

from __future__ import annotations

import functools
import re
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import LOOPBACK, ServerSpec, Site
from scale_sweep.server.targets import Surroundings, series
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.java import JavaTarget, in_turn, logback, options
from scale_sweep.server.targets.opentsdb.opentsdb_facts import TAGS_MAX
from scale_sweep.server.targets.opentsdb.opentsdb_session import (
    FLUSH_LOG,
    HBASE,
    INFO,
    JARS,
    MADE,
    MASTER,
    REGIONS,
    ROOT,
    TSD,
    ZOOKEEPER,
    OpentsdbSession,
)
from scale_sweep.server.targets.records import lines_with, wrong_input

_NOT_ITEMS = {"connections", "heap", "tsd_heap"}
# Of the client by which the TSD asks HBase: in the TSD's configuration only.
_OF_CLIENT = tuple(f"hbase.{part}." for part in ("increments", "nsre", "region_client", "rpcs", "timer", "workers"))
_OF_TSD, _OF_HBASE = ("tsd.", *_OF_CLIENT), ("hbase.", "hfile.")
_FIXED = re.compile(
    r"tsd\.network\.(bind|port)|tsd\.storage\.hbase\.zk_quorum|tsd\.http\.(cachedir|staticroot)"
    r"|hbase\.(rootdir|tmp\.dir)|hbase\.cluster\.distributed|hbase\.zookeeper\.(quorum|property\.(dataDir|clientPort))"
    r"|hbase\.(master|regionserver)\.(port|hostname|ipc\.address|info\.(port|bindAddress))"
)
_NAMING = ("opentsdb-*.jar", "asynchbase-*.jar", "hbase-*.jar")  # jars whose classes name the items
_ITEM = re.compile(rb"(?:tsd|hbase|hfile)\.[\w.-]+")
_OPENED = ("java.lang", "java.nio", "java.util", "java.util.concurrent", "sun.nio.ch")
_DOUBTFUL = re.compile(
    r"^ERROR (?!ClientCnxn Error while calling watcher).*"  # at the end of ZooKeeper's client
    r"|.*(OutOfMemoryError|No space left|PleaseThrottle|put: (HBase|Unexpected|unknown)|ABORTING).*"
)
# A question for a name without rows, such as a count before the first one, is no reason for doubt.
_ASKED_TOO_EARLY = re.compile(
    r"^ERROR QueryRpc Query exception:.*\n(?:(?!(?:WARN|ERROR) ).*\n)*?"
    r"(?:Caused by: )?net\.opentsdb\.uid\.NoSuchUniqueName: .*$",
    re.MULTILINE,
)


class OpentsdbTarget(JavaTarget):
    types = series.POINT_TYPES
    session_type = OpentsdbSession
    jar = "opentsdb-"

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        cores, tags = cores_of(trial), len(trial.work.data.tags) + 1
        return {
            "jvm_processors": cores,
            "jvm_heap": trial.knobs["heap"],
            "tsd_jvm_processors": cores,
            "tsd_jvm_heap": trial.knobs["tsd_heap"],
            "tsd.storage.enable_compaction": "false",  # with it, rows were missing at the count
            **({"tsd.storage.max_tags": str(tags)} if tags > TAGS_MAX else {}),
            **{name: value for name, value in trial.knobs.items() if name not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        findings = list(super().check(trial, around))
        for name in trial.knobs:
            if _FIXED.fullmatch(name):
                sentence = f"{name} is set by the trial: addresses, ports and folders are fixed"
                findings.append(wrong_input("--knob", sentence, f"leave out {name}"))
            elif name not in _NOT_ITEMS and not name.startswith((*_OF_TSD, *_OF_HBASE)):
                sentence = f"{name} is an item of neither OpenTSDB (tsd.*) nor HBase (hbase.*, hfile.*)"
                findings.append(wrong_input("--knob", sentence, "correct --knob"))
        return tuple(findings)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Items that no class of both names."""
        named = [name for name in trial.knobs if name not in _NOT_ITEMS]
        known = _items_of(home) if named else frozenset()
        unknown = [name for name in named if known and name not in known]
        sentences = (f"neither OpenTSDB nor HBase has a setting {name}: they would ignore it" for name in unknown)
        return tuple(wrong_input("--knob", sentence, "correct --knob") for sentence in sentences)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/{ROOT}"
        settings = self.settings(trial, is_ours=True)
        java = self.java(site)
        shared = (
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
            "-Djava.net.preferIPv4Stack=true",
            "-XX:+ExitOnOutOfMemoryError",
            f"-Dlogback.configurationFile={root}/logback.xml",
            "-cp",
            f"{root}/conf:{site.home}/lib/*",
        )
        hbase = options(f"{root}/{HBASE}", settings["jvm_processors"], settings["jvm_heap"])
        tsd = options(f"{root}/{TSD}", settings["tsd_jvm_processors"], settings["tsd_jvm_heap"])
        of_tsd = {name: value for name, value in settings.items() if name.startswith(_OF_TSD)}
        of_hbase = {k: v for k, v in settings.items() if k.startswith(_OF_HBASE) and k not in of_tsd}
        return ServerSpec(
            folders=tuple(f"{root}/{name}" for name in (f"{HBASE}/tmp", f"{TSD}/tmp", f"{TSD}/cache")),
            argv=("/bin/sh", f"{root}/both.sh"),
            env=ENVIRONMENT,
            files={
                f"{root}/both.sh": script(
                    root,
                    site.home,
                    (java, *hbase, *shared, "org.apache.hadoop.hbase.master.HMaster", "start"),
                    (java, *tsd, *shared, "net.opentsdb.tools.TSDMain", f"--config={root}/conf/opentsdb.conf"),
                ),
                f"{root}/conf/hbase-site.xml": hbase_site(site, of_hbase),
                f"{root}/conf/opentsdb.conf": tsd_conf(site, of_tsd),
                f"{root}/logback.xml": logback({f"{root}/{FLUSH_LOG}": _LOGGED}, _QUIET),
            },
            ports=tuple(site.port + n for n in (PORTS_ASKED if site.in_image else range(PORTS))),
            stop_timeout_s=60.0,
        )

    def suspicious(self, log: str) -> tuple[str, ...]:
        return lines_with(_DOUBTFUL, _ASKED_TOO_EARLY.sub("", log))


@functools.cache
def _items_of(home: str) -> frozenset[str]:
    """Names in classes and defaults of both; empty without jars."""
    items: set[bytes] = set()
    for jar in (jar for pattern in _NAMING for jar in Path(home, "lib").glob(pattern)):
        try:
            with zipfile.ZipFile(jar) as file:
                for name in file.namelist():
                    if name.endswith((".class", "-default.xml")):
                        items.update(_ITEM.findall(file.read(name)))
        except (OSError, zipfile.BadZipFile):
            continue
    return frozenset(name.decode() for name in items)


PORTS = 5
PORTS_ASKED = (0, MASTER, REGIONS, INFO)  # by a session and by the load
_LOGGED = "org.apache.hadoop.hbase.regionserver.HRegion"  # its flushes
_QUIET = '<logger name="org.apache.hadoop.metrics2" level="ERROR"/>\n'  # warns twice that it has no file


def script(root: str, home: str, hbase: Sequence[str], tsd: Sequence[str]) -> str:
    """A script: HBase, then the TSD when the tables are made. home: with the jars of both, which JARS then names."""
    noted = f"echo {shlex.quote(f'{home}/lib')}/*.jar >{shlex.quote(f'{root}/{JARS}')}\n"
    return noted + in_turn(f"{root}/{MADE}", hbase, tsd)


def hbase_site(site: Site, items: Mapping[str, str]) -> str:
    """hbase-site.xml: master, region server and ZooKeeper in one process, all files in one folder."""
    port, root = site.port, f"{site.data_dir}/{ROOT}/{HBASE}"
    host = _of_hbase(site)
    fixed = {
        "hbase.cluster.distributed": "false",
        "hbase.rootdir": f"file://{root}/data",
        "hbase.tmp.dir": f"{root}/tmp",
        "hbase.zookeeper.property.dataDir": f"{root}/zookeeper",
        "hbase.zookeeper.quorum": host,
        "hbase.zookeeper.property.clientPort": str(port + ZOOKEEPER),
        "hbase.master.hostname": host,
        "hbase.master.ipc.address": site.bind_address,
        "hbase.master.port": str(port + MASTER),
        "hbase.master.info.bindAddress": site.bind_address,
        "hbase.master.info.port": str(port + INFO),
        "hbase.regionserver.hostname": host,
        "hbase.regionserver.ipc.address": site.bind_address,
        "hbase.regionserver.port": str(port + REGIONS),
        "hbase.regionserver.info.port": "-1",
        "hbase.unsafe.stream.capability.enforce": "false",  # a local file system cannot sync a log
        **items,
    }
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in fixed.items()
    )
    return f"<configuration>\n{properties}</configuration>\n"


def tsd_conf(site: Site, items: Mapping[str, str]) -> str:
    """opentsdb.conf: names are made for each series, requests have any size."""
    root = f"{site.data_dir}/{ROOT}/{TSD}"
    fixed = {
        "tsd.network.bind": site.bind_address,
        "tsd.network.port": str(site.port),
        "tsd.storage.hbase.zk_quorum": f"{_of_hbase(site)}:{site.port + ZOOKEEPER}",
        "tsd.http.cachedir": f"{root}/cache",
        "tsd.http.staticroot": f"{root}/cache",
        "tsd.core.enable_ui": "false",
        "tsd.core.auto_create_metrics": "true",
        "tsd.http.request.enable_chunked": "true",
        "tsd.http.request.max_chunk": str(1 << 28),
        **items,
    }
    return "".join(f"{name} = {value}\n" for name, value in fixed.items())


def _of_hbase(site: Site) -> str:
    return LOOPBACK if site.in_image else site.bind_address
