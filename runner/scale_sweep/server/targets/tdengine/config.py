"""How taosd is started: its taos.cfg for a trial, the command, and which knobs are configuration items. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.model import LOOPBACK, ServerSpec, Site, Trial
from scale_sweep.server.targets.tdengine import placement
from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS
from scale_sweep.server.targets.tdengine.items import spelled
from scale_sweep.server.targets.tdengine.tdengine_facts import FACTS, ROLE_KNOBS

ADAPTER_OFFSET = 11
THROUGH_ADAPTER = ("rest", "ws")


def database_options(trial: Trial) -> dict[str, str]:
    free = {k.lower(): v for k, v in trial.knobs.items() if k.lower() in DATABASE_OPTIONS}
    return {"vgroups": trial.knobs["vgroups"], **free}


def precision(trial: Trial) -> str:
    """The unit of the database's timestamps: "ms", "us" or "ns"."""
    return database_options(trial).get("precision", "ms").strip("'").lower()


def config_items(trial: Trial) -> dict[str, str]:
    """The items of taos.cfg that affect performance, as the plan sets them and the server must confirm them."""
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
    """The name that taosd has for itself, and by which every client must find it."""
    return "localhost" if site.address == LOOPBACK else site.address


def taos_cfg(trial: Trial, site: Site) -> str:
    """The whole file. Telemetry, crash reports, monitoring and audit are off, so that nothing leaves the machine."""
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
    folders = "".join(f"dataDir {path}\n" for path in placement.data_dirs(site))
    return folders + "".join(f"{name} {value}\n" for name, value in lines.items())


def client_folder(data_dir: str) -> str:
    """The directory of the client's own configuration and logs, apart from the server's."""
    return f"{data_dir}/client"


def _client_cfg(site: Site) -> str:
    folder = client_folder(site.data_dir)
    return (
        f"firstEp {name_of(site)}:{site.port}\nlogDir {folder}\ntempDir {folder}\n"
        "minimalLogDirGB 0.1\nminimalTmpDirGB 0.1\nmonitor 0\ntelemetryReporting 0\ncrashReporting 0\n"
    )


def adapter_port(port: int) -> int:
    """taosAdapter's port. It has the same distance from taosd's as by default (6030, 6041)."""
    return port + ADAPTER_OFFSET


def _adapter_toml(site: Site) -> str:
    return (
        f'debug = false\nport = {adapter_port(site.port)}\ntaosConfigDir = "{site.data_dir}/cfg"\n'
        "[monitor]\ndisable = true\n[opentsdb_telnet]\nenable = false\n[collectd]\nenable = false\n"
        f'[statsd]\nenable = false\n[log]\npath = "{site.data_dir}/log"\n[uploadKeeper]\nenable = false\n'
    )


def server_spec(trial: Trial, site: Site, *, adapter: bool) -> ServerSpec:
    """taosd in the foreground. A shell starts the adapter beside it if a method needs it. Raises ProvisionError."""
    folder = f"{site.data_dir}/cfg"
    taosd = (f"{site.home}/bin/taosd", "-c", folder)
    script = f'"$0" -c {folder}/taosadapter.toml & exec "$@"'
    with_adapter = ("/bin/sh", "-c", script, f"{site.home}/bin/taosadapter", *taosd)
    placement.refuse_long(site, int(trial.knobs["vgroups"]))
    links = placement.links(site, int(trial.knobs["vgroups"]))
    ports = (site.port, adapter_port(site.port)) if adapter else (site.port,)
    return ServerSpec(
        folders=(*(f"{site.data_dir}/{name}" for name in ("data", "log", "tmp")), *links.values()),
        links=links,
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
