"""A real taosd, with its adapter if wanted, on ports and in a directory of its own: for tests and measurements."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ADAPTER_OFFSET = 11
HOW_TO_GET = (
    "no TDengine server: set SCALE_TDENGINE_HOME to a directory holding bin/taosd, bin/taos and lib/libtaos.so"
    " (install TDengine 3.3 from https://tdengine.com/downloads, or copy these out of its Docker image)"
)


def find_home() -> Path | None:
    """SCALE_TDENGINE_HOME, else where PATH has taosd."""
    named = os.environ.get("SCALE_TDENGINE_HOME")
    on_path = shutil.which("taosd")
    home = Path(named) if named else Path(on_path).resolve().parent.parent if on_path else None
    return home if home and (home / "bin" / "taosd").exists() else None


def free_port() -> int:
    """A port with room for the adapter's above it."""
    for port in range(16130, 16900, 40):
        if not listens(port) and not listens(port + ADAPTER_OFFSET):
            return port
    raise AssertionError("no free port")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class TdengineServer:
    """Started and stopped by hand; everything it writes is below `folder`."""

    def __init__(self, folder: Path, home: Path, *, cpus: str = "", adapter: bool = False) -> None:
        self.folder, self.home, self.port = folder, home, free_port()
        self._cpus, self._adapter = cpus, adapter
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.config, self.client_config = folder / "cfg", folder / "client"
        self._write()

    def _write(self) -> None:
        for name in ("cfg", "client", "data", "log", "tmp"):
            (self.folder / name).mkdir()
        common = "monitor 0\ntelemetryReporting 0\ncrashReporting 0\nminimalTmpDirGB 0.1\nminimalLogDirGB 0.1\n"
        (self.config / "taos.cfg").write_text(
            f"fqdn localhost\nfirstEp localhost:{self.port}\nserverPort {self.port}\ndataDir {self.folder}/data\n"
            f"logDir {self.folder}/log\ntempDir {self.folder}/tmp\naudit 0\nudf 0\nnumOfCores 2\n"
            f"supportVnodes 64\ntimezone UTC\n{common}"
        )
        (self.client_config / "taos.cfg").write_text(
            f"firstEp localhost:{self.port}\nlogDir {self.client_config}\ntempDir {self.client_config}\n"
            f"timezone UTC\n{common}"
        )
        (self.config / "taosadapter.toml").write_text(
            f'debug = false\nport = {self.adapter_port}\ntaosConfigDir = "{self.client_config}"\nlogLevel = "error"\n'
            "[monitor]\ndisable = true\n[opentsdb_telnet]\nenable = false\n[collectd]\nenable = false\n"
            f'[statsd]\nenable = false\n[log]\npath = "{self.folder}/log"\n[uploadKeeper]\nenable = false\n'
        )

    @property
    def adapter_port(self) -> int:
        return self.port + ADAPTER_OFFSET

    def spec(self) -> dict[str, object]:
        """How the load generator reaches it."""
        return {
            "driver": "tdengine",
            "host": "localhost",
            "port": self.port,
            "adapter_port": self.adapter_port,
            "library": self.home / "lib" / "libtaos.so",
            "client_config": self.client_config,
        }

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")}
        return kept | {"LD_LIBRARY_PATH": str(self.home / "lib"), "TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def start(self) -> None:
        self.start_taosd()
        if self._adapter:
            self.start_adapter()

    def start_taosd(self) -> None:
        self._start("taosd", self.config)
        self._wait(lambda: "ready" in self.shell("SHOW DNODES"), "taosd is not ready")

    def _wait(self, is_so: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < deadline, otherwise
            time.sleep(0.2)

    def _start(self, program: str, config: Path) -> None:
        pin = ["taskset", "-c", self._cpus] if self._cpus else []
        with (self.folder / f"{program}.out").open("ab") as out:
            self._processes[program] = subprocess.Popen(
                [*pin, str(self.home / "bin" / program), "-c", str(config)],
                env=self.environment(),
                cwd=self.folder,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def cpu_s(self) -> float:
        """CPU seconds that the server and its adapter have used."""
        ticks = 0
        for process in self._processes.values():
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def kill_taosd(self) -> None:
        """As a crash would."""
        process = self._processes.pop("taosd")
        process.kill()
        process.wait(60)

    def stop_adapter(self) -> None:
        """Leaves taosd running."""
        process = self._processes.pop("taosadapter")
        process.terminate()
        process.wait(60)

    def signal_adapter(self, what: signal.Signals) -> None:
        self._processes["taosadapter"].send_signal(what)

    def start_adapter(self) -> None:
        self._start("taosadapter", self.config / "taosadapter.toml")
        self._wait(lambda: listens(self.adapter_port), "taosadapter does not listen")

    def stop(self) -> None:
        for name in reversed(list(self._processes)):
            process = self._processes.pop(name)
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)

    def shell(self, statement: str) -> str:
        """The answer of the server's own shell, by lines: at its exit it can abort, and what it still holds is lost."""
        done = subprocess.run(
            ["stdbuf", "-oL", str(self.home / "bin" / "taos"), "-c", str(self.client_config), "-s", statement],
            env=self.environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr
