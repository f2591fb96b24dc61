"""Servers on one CPU for bench/judge.py: PostgreSQL, MariaDB, Redis, nginx, also behind a slow disk or network."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from bench.slow_network import slow_network
from scale_sweep.server.runtimes.local import free_port
from scale_sweep.server.targets import load_target
from tests.loadgen.postgres_server import PostgresServer, home_with_tls

SERVER_CPU, LOAD_CPU = (str(end(os.sched_getaffinity(0))) for end in (min, max))
READY_S = 60.0
SLOW_DISK_BYTES, SLOW_MBIT = 2**20, 10.0  # each second
CAPS = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")  # of control groups, version 1
NGINX = """worker_processes 1; daemon off; user root; pid nginx.pid; error_log error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 1000000000; gzip on; gzip_types text/plain; gzip_proxied any;
default_type text/plain; gzip_http_version 1.0;
server {{ listen {port}; root {folder}; location = /small {{ return 200 "ok"; }} }} }}
"""
REDIS = (
    "redis.call('set','big',string.rep('x',500000)) for i=1,20000 do redis.call('rpush','list',i) end "
    "return redis.status_reply('OK')"
)


@dataclass(frozen=True, kw_only=True)
class Server:
    process: psutil.Process
    port: int
    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()  # of a tool that reaches it

    def processes(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


@contextmanager
def started(folder: Path, words: list[str], asked: list[str]) -> Iterator[psutil.Process]:
    """Until what asks it succeeds; ended at the end of the block."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(["taskset", "-c", SERVER_CPU, *words], stdout=log, stderr=log, cwd=folder)
    try:
        deadline = time.monotonic() + READY_S
        while subprocess.run(asked, capture_output=True).returncode:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit((folder / "log").read_text()[-2000:])
            time.sleep(0.2)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(READY_S)


@contextmanager
def postgres(folder: Path, is_slow: bool = False) -> Iterator[Server]:
    """With pgbench's tables. is_slow: with fsync, on a capped disk."""
    more = {"fsync": "on", "checkpoint_timeout": "1h"} if is_slow else {}
    with ExitStack() as cleanup:
        port = free_port()
        server = PostgresServer.create(port=port, listen="127.0.0.1", installed=home_with_tls(), settings=more)
        cleanup.callback(server.remove)
        device = cleanup.enter_context(mounted(server.sockets, folder)) if is_slow else ""
        cleanup.callback(server.stop)
        server.start()
        at = ("-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "postgres")
        subprocess.run(["pgbench", "-i", "-q", "-s", "5", *at], check=True, capture_output=True)
        server.query("CREATE TABLE hot (n bigint)")
        server.query("INSERT INTO hot VALUES (0)")
        server.query("CHECKPOINT")
        if device:
            CAPS.write_text(f"{device} {SLOW_DISK_BYTES}")
            cleanup.callback(CAPS.write_text, f"{device} 0")
        made = Server(process=psutil.Process(server.process.pid), port=port)
        for process in made.processes():
            with suppress(psutil.NoSuchProcess):  # a short-lived child
                process.cpu_affinity([int(SERVER_CPU)])
        yield made


@contextmanager
def mounted(place: Path, folder: Path, size: int = 600 * 2**20) -> Iterator[str]:
    """The same files on a loop device; its number."""
    image, before = folder / "image", folder / "before"
    with image.open("wb") as file:
        file.truncate(size)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    device = subprocess.run(["losetup", "--show", "-f", image], check=True, capture_output=True, text=True).stdout
    try:
        subprocess.run(["cp", "-a", place, before], check=True)
        subprocess.run(["mount", device.strip(), place], check=True)
        try:
            subprocess.run(["cp", "-a", f"{before}/.", place], check=True)
            yield Path("/sys/block", Path(device.strip()).name, "dev").read_text().strip()
        finally:
            subprocess.run(["umount", place], check=True)
    finally:
        subprocess.run(["losetup", "-d", device.strip()], check=True)


@contextmanager
def mariadb(folder: Path) -> Iterator[Server]:
    home, port = load_target("mariadb").find("").home, free_port()
    (folder / "data").mkdir()
    (folder / "init.sql").write_text("CREATE DATABASE sbtest;\n")
    words = (
        f"{home}/sbin/mariadbd --no-defaults --user=root --datadir={folder}/data --lc-messages-dir={home}/share/mysql "
        f"--plugin-dir={home}/lib/mysql/plugin --character-sets-dir={home}/share/mysql/charsets --skip-grant-tables "
        f"--skip-name-resolve --port={port} --bind-address=127.0.0.1 --socket={folder}/socket "
        f"--init-file={folder}/init.sql --innodb-flush-log-at-trx-commit=0"
    )
    tables = f"--mysql-host=127.0.0.1 --mysql-port={port} --mysql-user=root --tables=1 --table-size=20000"
    made = ["sysbench", "oltp_read_write", *tables.split(), "prepare"]
    with started(folder, words.split(), made) as process:
        yield Server(process=process, port=port)


@contextmanager
def redis(folder: Path) -> Iterator[Server]:
    port = free_port()
    words = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    with started(folder, words, ["redis-cli", "-e", "-p", str(port), "eval", REDIS, "0"]) as process:
        yield Server(process=process, port=port)


@contextmanager
def nginx(folder: Path, prefix: tuple[str, ...] = ()) -> Iterator[Server]:
    """With texts that it compresses. prefix: of its command."""
    port = free_port()
    folder.chmod(0o755)
    for kb in (4, 16, 64):
        (folder / f"{kb}k").write_text("".join(f"line {n * n}\n" for n in range(100 * kb)))
    (folder / "conf").write_text(NGINX.format(folder=folder, port=port))
    words = [*prefix, "nginx", "-p", f"{folder}/", "-c", "conf"]
    with started(folder, words, [*prefix, "curl", "-sf", f"http://127.0.0.1:{port}/small"]) as process:
        yield Server(process=process, port=port)


@contextmanager
def far_nginx(folder: Path) -> Iterator[Server]:
    """Behind a slow network."""
    with slow_network(SLOW_MBIT) as link, nginx(folder, link.prefix) as server:
        yield replace(server, prefix=link.loader_prefix)


@contextmanager
def slow_postgres(folder: Path) -> Iterator[Server]:
    with postgres(folder, is_slow=True) as server:
        yield server
