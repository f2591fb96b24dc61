"""Watches a load tool and a server that run on this machine."""

from __future__ import annotations

import contextlib
import datetime
import os
import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.base.interrupts import Stop, Stopped, deferred
from scale_sweep.base.units import format_cpus
from scale_sweep.loadgen.readers import Reader, program_at, value_of
from scale_sweep.loadgen.tool_output import ToolLine, ToolRun
from scale_sweep.loadgen.tool_process import ToolProcess
from scale_sweep.machine.sampling.processes import ProcessTree
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.machine.sampling.waits import lock_waits
from scale_sweep.measure.judging.judged_proof import JudgedDisturbing
from scale_sweep.model.loads import LoadProgram
from scale_sweep.model.resources import Accounting
from scale_sweep.model.samples import DataDisk, Sample, SamplerCost
from scale_sweep.server.runtimes.running import RunningServer

ALIVE_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Judging:
    argv: tuple[str, ...]  # as it runs, with the flags that make it report progress
    shown: str  # without passwords
    reader: Reader | None
    rate_from: str
    server: RunningServer
    disks: Sequence[DataDisk]
    hz: float
    linger_s: float
    sink: int = 1  # a file descriptor in place of the tool's standard output
    proves: bool = False
    disturbed_folder: str = ""  # on the disk that a proof disturbs

    @property
    def clients(self) -> int:
        """0: not known."""
        text = value_of(self.argv, self.reader.clients) if self.reader is not None else None
        return int(text) if text and text.isdigit() else 0


@dataclass(frozen=True, kw_only=True)
class WatchedLoad:
    run: ToolRun
    lines: tuple[ToolLine, ...]
    samples: tuple[Sample, ...]
    cost: SamplerCost
    load_cpus: tuple[int, ...]
    others: tuple[str, ...]
    left_behind: tuple[str, ...]  # in words
    is_interrupted: bool
    begun: datetime.datetime
    server_lives: bool
    disturbing: JudgedDisturbing | None = None  # stopped


def watch(judging: Judging, stop: Stop) -> WatchedLoad:
    """Runs the tool to its end, also after a request to end. Raises UsageError if it cannot be started."""
    watched = []
    disturbing = JudgedDisturbing(judging.server.cpus, judging.disturbed_folder) if judging.proves else None
    try:
        with contextlib.suppress(Stopped), deferred():
            watched.append(_watched(judging, disturbing, stop))
    finally:
        if disturbing is not None:
            disturbing.stop()
    return watched[0]


def _watched(judging: Judging, disturbing: JudgedDisturbing | None, stop: Stop) -> WatchedLoad:
    taken: queue.SimpleQueue[Sample] = queue.SimpleQueue()
    others, begun = OtherPrograms(), datetime.datetime.now(datetime.UTC)
    if disturbing is not None:
        disturbing.start()
    tool = ToolProcess(judging.argv, judging.sink)
    tool.start()
    cpus = tuple(sorted(os.sched_getaffinity(0) | set(judging.server.cpus)))
    affinity = _Affinity(tool)
    sampler = Sampler(
        server=judging.server.accounting,
        generator=Accounting(kind="processes", root_pids=(tool.pid,)),
        disks=judging.disks,
        hz=judging.hz,
        on_sample=taken.put,
        pids=judging.server.pids,
        cpus=cpus,
        server_cpus=judging.server.cpus,
        waits=lambda: lock_waits(judging.server.pids()),
        is_foreign=True,
        adopted=lambda: tool.adopted,
    )

    def look() -> None:
        affinity.look()
        if disturbing is not None:
            disturbing.look(affinity.cpus, tool.started_ns)
            tool.disown(disturbing.pids)

    with sampler:
        tool.wait(stop, look)
        if disturbing is not None:
            disturbing.stop()
        has_more, left = bool(tool.adopted), _linger(tool, judging.linger_s, stop)
        ended_ns = time.monotonic_ns() if has_more else tool.ended_ns
    tool.read_to_end()
    samples = []
    while not taken.empty():
        samples.append(taken.get_nowait())
    return WatchedLoad(
        run=ToolRun(
            reader=judging.reader,
            program=_program(judging),
            started_ns=tool.started_ns,
            ended_ns=ended_ns,
            cpu_s=tool.cpu_s,
            code=tool.code or 0,
            clients=judging.clients,
        ),
        lines=tool.lines,
        samples=tuple(samples),
        cost=sampler.cost(),
        load_cpus=tuple(sorted(affinity.cpus)) or tuple(sorted(os.sched_getaffinity(0))),
        others=others.busiest(cpus, judging.server.pids()),
        left_behind=left,
        is_interrupted=tool.is_interrupted,
        begun=begun,
        server_lives=bool(judging.server.pids()),
        disturbing=disturbing,
    )


def _program(judging: Judging) -> LoadProgram:
    reader, at = judging.reader, program_at(judging.argv)
    name = os.path.basename(judging.argv[at if at < len(judging.argv) else 0])
    threads = value_of(judging.argv, reader.threads) if reader is not None else None
    count = int(threads) if threads and threads.isdigit() else 1
    clients = 2 * judging.clients or "CLIENTS"
    return LoadProgram(
        name=name,
        command=judging.shown,
        rows=reader.unit if reader is not None else "",
        more_threads=reader.more_threads.format(threads=2 * count) if reader is not None else "",
        more_clients=reader.more_clients.format(clients=clients) if reader is not None else "",
        pin=_apart(judging.server),
    )


def _apart(server: RunningServer) -> str:
    """Commands by which server and load get CPUs of their own; "" if there is one CPU alone."""
    every, half = sorted(os.sched_getaffinity(0) | set(server.cpus)), len(server.cpus) // 2
    if rest := [cpu for cpu in every if cpu not in server.cpus]:
        return f"taskset -c {format_cpus(tuple(rest))} before the load command"
    pid = next(iter(server.accounting.root_pids or server.pids()), 0)
    if not half or not pid:
        return ""
    own, loads = format_cpus(server.cpus[:-half]), format_cpus(server.cpus[-half:])
    return f"taskset -acp {own} {pid} for the server, and taskset -c {loads} before the load command"


class _Affinity:
    """The CPUs that the tool may use, once it set them: `taskset` begins with all."""

    def __init__(self, tool: ToolProcess) -> None:
        self._tool = tool
        self.cpus: set[int] = set()

    def look(self) -> None:
        used = {}
        for pid in ProcessTree((self._tool.pid,)).pids():
            with contextlib.suppress(OSError):
                used[pid] = os.sched_getaffinity(pid)
        leaves = list(used.values())[1:] or list(used.values())  # what starts others does not load
        self.cpus = set().union(*leaves) if leaves else self.cpus


def _linger(tool: ToolProcess, seconds: float, stop: Stop) -> tuple[str, ...]:
    """Waits for what the tool left in the background; names what still runs then."""
    deadline = time.monotonic() + seconds
    while (left := tool.adopt()) and time.monotonic() < deadline and not stop.requested():
        time.sleep(ALIVE_S)
    named = []
    for pid in left:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            named.append(f"{file.read().strip()} (pid {pid})")
    return tuple(named)
