"""A real server of a target, started from its spec as a trial's would be, which a test may kill and start again.

SCALE_REQUIRE_ALL=1 makes a server that is not on this machine a failure instead of a skip; QuestDB is installed
by `scale servers install` then.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from scale_sweep.loadgen.spec import spec_text, trial_spec
from scale_sweep.machine.host.server_user import as_user, server_user
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.runtimes.local import free_port
from scale_sweep.server.targets import Address, Session, Target, load_target
from tests.integration import cli
from tests.needs import is_required, missing
from tests.unit.trial_orders import trial_order

READY_S = 120.0
REFUSE_ROOT = ("cratedb",)  # servers that do not run as root


def required(name: str) -> Target:
    """The target, whose server is on this machine."""
    target = load_target(name)
    is_installed_by_us = "scale servers install" in target.facts.to_install
    if target.find("") is None and is_installed_by_us and is_required():
        done = cli.run("servers", "install", name, cwd=Path.cwd())
        assert done.returncode == 0, done.stderr
    if target.find("") is None:
        missing(f"no {name} server on this machine: {target.facts.to_install}")
    return target


def from_elsewhere(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> Target:
    """The target, whose server no registry has: the variable names its home."""
    if not (home := os.environ.get(variable, "")):
        pytest.skip(f"{variable} names no {name}")
    target = load_target(name)
    found = target.find(home)
    assert found, f"no {name} in {home}"
    monkeypatch.setattr(type(target), "find", lambda self, home: found)
    return target


@dataclass
class RealServer:
    """One server on a directory that outlives it."""

    target: Target
    trial: Trial
    spec: ServerSpec
    address: Address
    program: str
    user: pwd.struct_passwd | None = None  # that it runs as; None: this one
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> Session:
        """Until it answers."""
        log = open(f"{self.address.data_dir}/console.log", "ab")
        with log:
            self.process = subprocess.Popen(
                [*(as_user(self.user) if self.user else ()), *self.spec.argv],
                env={"PATH": os.environ["PATH"], **self.spec.env},
                stdout=log,
                stderr=log,
                cwd=self.address.data_dir,
                start_new_session=True,
            )
        session = self.target.session(self.trial, self.address)
        deadline = time.monotonic() + max(READY_S, self.target.facts.ready_s)
        while why := session.not_ready():
            assert self.process.poll() is None and time.monotonic() < deadline, f"{why}\n{self.log()}"
            time.sleep(0.1)
        return session

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(60)

    def log(self) -> str:
        """All that it said."""
        return Path(self.address.data_dir, "console.log").read_text(errors="replace")

    def load(self, session: Session, **more: object) -> subprocess.CompletedProcess[str]:
        """The trial's rows by the load generator, as many as `rows` says."""
        told = {**trial_spec(self.trial, session.load_spec()), "warmup_s": "0", **{k: str(v) for k, v in more.items()}}
        told.pop("duration_s", None)
        return subprocess.run(
            [self.program, "load", "-"],
            input=spec_text(told),
            env=os.environ | {"SCALE_PASSWORD": self.address.secret},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@contextmanager
def real_server(
    target: Target, folder: Path, secret: str = "", disks: tuple[str, ...] = (), **flags: str
) -> Iterator[RealServer]:
    """Not started yet; ended, whatever it did. secret: of its login; "" leaves the database's own. disks: a directory on
    each of its disks; empty: its data is in `folder`."""
    order = trial_order(folder, target.facts.name, **flags)
    site = Site(data_dir=str(folder), port=free_port(), bind_address="127.0.0.1", home=order.home, disks=disks)
    spec = target.server(order.trial, site, secret)
    for path in spec.folders:
        Path(path).mkdir(parents=True, exist_ok=True)
    for path, text in spec.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    place = Address(host="127.0.0.1", port=site.port, secret=secret, home=order.home, data_dir=str(folder))
    address = replace(place, disks=disks)
    server = RealServer(target=target, trial=order.trial, spec=spec, address=address, program=order.program)
    if target.facts.name in REFUSE_ROOT and (user := server_user()):
        server.user = user
        for path in (folder, *map(Path, disks), *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.end(signal.SIGKILL)


def listeners(pid: int) -> set[str]:
    """Addresses that the process and those that it started listen on; a socket of both families on an address of IPv4
    has that one."""
    said = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout
    pids = (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True)))
    found = (line.split()[3] for line in said.splitlines() if any(f"pid={one}," in line for one in pids))
    return {address.replace("[::ffff:127.0.0.1]", "127.0.0.1") for address in found}


def on_small_disk(order_folder: Path, megabytes: int) -> Iterator[Path]:
    """A tmpfs of so many megabytes, mounted there while the test runs."""
    order_folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs"]
    subprocess.run(["mount", *options, str(order_folder)], check=True)
    try:
        yield order_folder
    finally:
        subprocess.run(["umount", "-l", str(order_folder)], check=True)
        order_folder.rmdir()


def with_rows(order: TrialOrder, rows: int) -> TrialOrder:
    """The order with fixed work, whatever room its disk has left."""
    load = replace(order.trial.load, rows=rows, duration_s=None)
    return replace(order, trial=replace(order.trial, load=load), disk_free_min_bytes=0)
