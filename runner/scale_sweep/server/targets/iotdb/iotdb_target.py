"""IoTDB, one ConfigNode and one DataNode: a device is a path of its tree, written by tablets over Thrift."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.loadgen.binary import loopback_path
from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.iotdb.files import PORTS, ROOT, logback, properties, script
from scale_sweep.server.targets.iotdb.iotdb_session import TYPES, IotdbSession
from scale_sweep.server.targets.java import find_jars, options, outside, program, runtime

JAVA = 17
_NOT_ITEMS = {"connections", "heap", "config_heap", "aligned"}
# Where a trial's server is, and the way that the driver speaks: not to be chosen.
_FIXED = re.compile(r"\w+_(address|port|dirs?|config_node)|(cn|dn)_rpc_\w*compression_enable|enable_thrift_ssl")
_TEMPLATE = "iotdb-system.properties.template"
_OPENED = ("java.lang", "java.util", "java.util.concurrent", "java.nio", "java.io", "java.net")
# The ConfigNode tells the DataNode of new regions before it can hear it; the DataNode asks by itself then.
_DOUBTFUL = re.compile(  # errors, and writes that it rejected
    r"^ERROR (?!DataNodeTSStatusRPCHandler ).*"
    r"|.*(OutOfMemoryError|No space left|[Rr]eject(ed)? write|[Dd]isk.*(full|insufficient)).*"
)


class IotdbTarget(Target):
    """Two processes for each trial."""

    doubtful = _DOUBTFUL

    def find(self, home: str) -> Installation | None:
        """Its jars in `home`, else where `scale servers install` puts them, with a Java that runs them."""
        return find_jars("iotdb", "iotdb-server-", home, JAVA, JAVA)

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Resources of the JVM of the DataNode, and items of iotdb-system.properties that knobs name."""
        cores = str(max(1, math.ceil(trial.cores)))
        return {
            "jvm_processors": cores,
            "jvm_heap": trial.knobs["heap"],
            "aligned": trial.knobs["aligned"],
            "flush_thread_count": cores,
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """Column types that it has, devices that are aligned or not, and items that are the trial's own."""
        findings = list(series.refused_columns("IoTDB", trial, TYPES))
        if trial.knobs["aligned"] not in ("true", "false"):
            sentence = f"aligned={trial.knobs['aligned']} is neither true nor false"
            findings.append(Finding(blocking=True, subject="--knob", sentence=sentence, remedy="--knob aligned=true"))
        for name in filter(_FIXED.fullmatch, trial.knobs):
            sentence = f"{name} is set by the trial: IoTDB's addresses, ports, folders and protocol are fixed"
            findings.append(Finding(blocking=True, subject="--knob", sentence=sentence, remedy=f"leave out {name}"))
        return tuple(findings)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Items that its own template does not name: it ignores them."""
        known = _items_of(home)
        unknown = [name for name in trial.knobs if known and name not in known and name not in _NOT_ITEMS]
        return tuple(
            Finding(
                blocking=True,
                subject="--knob",
                sentence=f"IoTDB has no item {name} in its {_TEMPLATE}, and would ignore it",
                remedy="correct --knob",
            )
            for name in unknown
        )

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        """The library that keeps it on loopback."""
        try:
            loopback_path()
        except PreflightError as error:
            return (Finding(blocking=True, subject="loopback", sentence=error.message, remedy=error.remedy),)
        return ()

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        """Its Java runtime, if that is the machine's, and the library that keeps it on loopback."""
        return (*outside(home, JAVA, JAVA), loopback_path())

    def java_runtime(self, home: str) -> str:
        return runtime(home, JAVA, JAVA)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """Both nodes with their files in a directory of the trial's own, and on its disks."""
        root = f"{site.data_dir}/{ROOT}"
        settings = self.settings(trial, is_ours=True)
        items = {k: v for k, v in settings.items() if not k.startswith("jvm_") and k != "aligned"}
        processors = int(settings["jvm_processors"])
        places = (
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
            *(f"-D{name}={root}" for name in ("IOTDB_HOME", "IOTDB_CONF", "CONFIGNODE_HOME", "CONFIGNODE_CONF")),
            f"-Dlogback.configurationFile={root}/logback.xml",
            "-cp",
            f"{site.home}/lib/*",
        )
        java = program(site, site.home, JAVA, JAVA, image_java=self.facts.image_java)
        config = (java, *options(f"{root}/confignode", processors, trial.knobs["config_heap"]), *places)
        data = (java, *options(site.data_dir, processors, settings["jvm_heap"]), *places)
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/confignode/tmp"),
            argv=("/bin/sh", f"{root}/both.sh"),
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8", **_kept_on_loopback(site)},
            files={
                f"{root}/both.sh": script(
                    (*config, "org.apache.iotdb.confignode.service.ConfigNode", "-s"),
                    (*data, "org.apache.iotdb.db.service.DataNode", "-s"),
                ),
                f"{root}/iotdb-system.properties": properties(site, items),
                f"{root}/logback.xml": logback(root),
            },
            ports=(site.port,) if site.in_image else tuple(range(site.port, site.port + PORTS)),
            stop_timeout_s=60.0,
        )

    def session(self, trial: Trial, address: Address) -> IotdbSession:
        """A session that speaks through the load generator."""
        return IotdbSession(trial, address, self.settings(trial, is_ours=True))


def _kept_on_loopback(site: Site) -> Mapping[str, str]:
    return {} if site.in_image else {"LD_PRELOAD": site.reachable(loopback_path())}


def _items_of(home: str) -> frozenset[str]:
    """Names of the items in the template that comes with the server; empty where it is not to be had."""
    for jar in Path(home, "lib").glob("node-commons-*.jar"):
        try:
            with zipfile.ZipFile(jar) as file:
                text = file.read(_TEMPLATE).decode(errors="replace")
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        return frozenset(re.findall(r"(?m)^#?\s*([a-z]\w*)=", text))
    return frozenset()
