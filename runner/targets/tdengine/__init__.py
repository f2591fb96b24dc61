"""TDengine 3.3: supertable and subtables spread evenly over vgroups, every derived setting written and read back.

taosd does not see a cpuset, so numOfCores is set to the cores given, and with it all that it derives from them.
Refuses to reach into Docker or to wait: it says what to start, what to ask and what the answers mean.
"""

from __future__ import annotations

import ctypes.util
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.model import Finding, Piece, ResourceRange, Rule, ServerSpec, Site, Trial
from runner.targets import Address, Installation, Surroundings
from runner.targets.tdengine import admission, client, config
from runner.targets.tdengine.session import TdengineSession
from runner.units import common_multiple

NAME = "tdengine"
RUNTIMES = ("docker", "process", "endpoint")
METHODS = ("stmt", "sql", "sml-line", "sml-telnet", "sml-json", "rest", "ws")
KNOBS = ("vgroups", "write_threads", "commit_threads")
ANY_KNOB = True
ROWS_PER_REQUEST = 10_000
ROWS_PER_CORE_S = 3e6
OVERHEAD_S = 11.0
REFUSES_ROOT = False
THREAD_NAMES = True
THREADS_PER_PROCESS = admission.CLIENT_THREADS_PER_PROCESS
LOADERS = ("scale", "taosbenchmark")
DISK_PLACEMENTS = ("tiers", "spread")
WAL_DISKS = ("data",)
IMAGE_LIBRARY = "/usr/lib/libtaos.so"
HOME_VARIABLE = "SCALE_TDENGINE_HOME"  # may name an installation; `scale load` and the tests read it
VERSION = "3.3.0.0"
_DOUBTFUL = re.compile(
    r"vnodeCommitImpl failed|failed to commit|out of memory|No space left|start to crash|"
    r"assert|signal:?\s*(?:6|9|11)\b",
    re.IGNORECASE,
)


def _constant(value: int) -> Rule:
    return Rule(pieces=(Piece(first=None, last=None, value=str(value)),))


def default_knobs(given: ResourceRange) -> Mapping[str, Rule]:
    """Vgroups and write threads as many as the most cores, at least 4, constant along the axis; 4 commit threads.

    One vgroup has one writing thread in the server, so fewer vgroups than cores would cap the curve. On prepared disks:
    vgroups that every number of disks divides, at least 12, and as many write and commit threads, because one vgroup is
    committed by one thread. Small buffers, so that a window covers commits; the log is deleted after a commit, so that
    it does not fill the disks.
    """
    if given.disks:
        parts = common_multiple(given.disks, 12)
        threads = {name: _constant(parts) for name in ("vgroups", "write_threads", "commit_threads")}
        return {**threads, "wal_retention_period": _constant(0), "buffer": _constant(32)}
    many = max(4, int(-(-max(given.cores) // 1)))
    return {"vgroups": _constant(many), "write_threads": _constant(many), "commit_threads": _constant(4)}


def default_image(version: str) -> str:
    """The official image, pinned."""
    return f"tdengine/tdengine:{version or VERSION}"


def image_home() -> str:
    """Where the official image keeps its programs (/usr/bin) and its library."""
    return "/usr"


def find(home: str) -> Installation | None:
    """taosd in `home`/bin, else on PATH."""
    taosd = Path(home) / "bin" / "taosd" if home else Path(shutil.which("taosd") or "/nonexistent")
    if not taosd.exists():
        return None
    where = str(Path(home).resolve()) if home else str(taosd.resolve().parent.parent)
    return Installation(home=where, version=_version(taosd), found="--home" if home else "PATH")


def _version(taosd: Path) -> str:
    try:
        said = subprocess.run([str(taosd), "-V"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"(\d+\.\d+\.\d+\.\d+)", said.stdout + said.stderr)
    return match.group(1) if match else ""


def what_to_install() -> str:
    """For the error when there is none."""
    return f"docker pull tdengine/tdengine:{VERSION}, or install TDengine, or give --home DIR holding bin/ and lib/"


def settings(trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
    """Items of taos.cfg and options of CREATE DATABASE, those that derive from the cores included."""
    return {**(config.config_items(trial) if is_ours else {}), **config.database_options(trial)}


def reserves(trial: Trial, memory_bytes: int) -> Mapping[str, str]:
    """Vnodes, memory and disk, of what the server would admit."""
    return admission.figures(trial, memory_bytes)


def check(trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
    """Admission as the mnode computes it: vnodes, memory, disk, option ranges of the community edition."""
    return admission.findings(trial, around)


def check_installed(home: str, trial: Trial) -> tuple[Finding, ...]:
    """Its items are known here, with their ranges: `check` names what it would refuse."""
    return ()


def check_client(home: str, server_version: str) -> tuple[Finding, ...]:
    """libtaos: there, complete, and of the server's version."""
    return client.library_findings(library(home), server_version)


def check_endpoint(address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
    """A question to the running server: whether its names resolve here, its vnodes are free, its adapter listens."""
    vgroups = max(int(trial.knobs["vgroups"]) for trial in trials)
    through_adapter = any(trial.subject.method in config.THROUGH_ADAPTER for trial in trials)
    return (
        *client.endpoint_findings(address, library(address.home), vgroups),
        *(client.adapter_findings(address) if through_adapter else ()),
    )


def server(trial: Trial, site: Site, secret: str) -> ServerSpec:
    """taosd on a configuration of the trial's own; with the adapter beside it for the methods that need it."""
    return config.server_spec(trial, site, adapter=trial.subject.method in config.THROUGH_ADAPTER)


def suspicious(log: str) -> tuple[str, ...]:
    """Lines of taosd's log that mean lost or unwritten data."""
    return tuple(dict.fromkeys(line.strip()[:300] for line in log.splitlines() if _DOUBTFUL.search(line)))[:20]


def session(trial: Trial, address: Address) -> TdengineSession:
    """A session through the load core's `sql` verb, so that libtaos never enters the runner."""
    return TdengineSession(trial, address, library(address.home))


def library(home: str) -> str:
    """libtaos of the installation, else the system's; "" lets the load core search."""
    for folder in ("lib", "driver"):
        for name in ("libtaos.so", "libtaos.so.1"):
            if home and (Path(home) / folder / name).exists():
                return str(Path(home) / folder / name)
    return ctypes.util.find_library("taos") and "libtaos.so" or ""
