"""Watches a load tool and a server that run on this machine, and stores what was seen as a run of one trial."""

from __future__ import annotations

import contextlib
import datetime
import os
import queue
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scale_sweep.base.interrupts import Stop, Stopped, deferred
from scale_sweep.base.units import format_cpus
from scale_sweep.loadgen.readers import Reader, program_at, value_of
from scale_sweep.loadgen.tool_output import ToolLine, ToolRun, last_words
from scale_sweep.loadgen.tool_process import ToolProcess
from scale_sweep.machine.sampling.processes import ProcessTree
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.machine.sampling.waits import lock_waits
from scale_sweep.model.loads import LoadProgram
from scale_sweep.model.resources import Accounting
from scale_sweep.model.samples import DataDisk, Sample, SamplerCost
from scale_sweep.server.runtimes.running import RunningServer

if TYPE_CHECKING:  # the judge needs three times the memory; while the tool runs it is not loaded
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.model.planned import Plan
    from scale_sweep.results.store.writer import RunWriter

TRIAL = "judge"
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


def watch(judging: Judging, stop: Stop) -> WatchedLoad:
    """Runs the tool to its end, also after a request to end. Raises UsageError if it cannot be started."""
    watched = []
    with contextlib.suppress(Stopped), deferred():
        watched.append(_watched(judging, stop))
    return watched[0]


def _watched(judging: Judging, stop: Stop) -> WatchedLoad:
    taken: queue.SimpleQueue[Sample] = queue.SimpleQueue()
    others, begun = OtherPrograms(), datetime.datetime.now(datetime.UTC)
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
    with sampler:
        tool.wait(stop, affinity.look)
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


def plan_of(judging: Judging, watched: WatchedLoad) -> Plan:
    """One trial on the axis of clients, which grants none: the tool's user chose how many."""
    from scale_sweep.model.declared import Operation, Subject, Work
    from scale_sweep.model.declared_parts import LoadCommand
    from scale_sweep.model.planned import Plan, Trial
    from scale_sweep.model.resources import Placement, on_cores
    from scale_sweep.sweep.resolve import resolve_sweep

    clients = max(1, watched.run.clients)
    placement = Placement(
        server_cpus=judging.server.cpus, generator_cpus=watched.load_cpus, quota_cores=judging.server.quota_cores
    )
    resources = on_cores(judging.server.quota_cores or float(len(judging.server.cpus)), placement)
    base = resolve_sweep("clients", {"target.name": "null", "axis.clients": str(clients)})
    work = Work(data=base.work.data, operations=(Operation(name="command", unit="requests"),))
    load = replace(
        base.load,
        rows=None,
        duration_s=None,
        warmup_s=0.0,
        warmup_least_s=None,
        window_max_s=None,
        carries_claim=True,
        may_discard=False,
        generator=watched.run.program.name,
        connections=watched.run.clients,
        command=LoadCommand(argv=tuple(shlex.split(judging.shown)), rate_from=judging.rate_from),
    )
    question = f"Is the rate of {watched.run.program.name} that of {judging.server.words}?"
    sweep = replace(
        base, name=f"judge {watched.run.program.name}", target="command", question=question, runtime="endpoint",
        method="command", work=work, load=load,
        replicates=1, drift_check=False,
    )  # fmt: skip
    trial = Trial(
        trial_id=TRIAL,
        point_id=TRIAL,
        order=1,
        level=clients,
        replicate=1,
        resources=resources,
        work=work,
        load=load,
        subject=Subject(target="command", runtime="endpoint", method="command"),
        knobs={"connections": str(clients)},
        seed=0,
    )
    return Plan(sweep=sweep, trials=(trial,), confounds=(), notes=(), seconds_estimated=0.0)


def store(judging: Judging, watched: WatchedLoad, plan: Plan, writer: RunWriter) -> StoredRun:
    """The events of a finished trial, then its report."""
    from scale_sweep.judge.figures.tool_facts import tool_facts
    from scale_sweep.measure.executing.execute import report
    from scale_sweep.measure.trial.order import TrialOrder
    from scale_sweep.measure.trial.stages import ended, facts_at_first
    from scale_sweep.model.events import IntervalSeen, PhaseEntered, SampleTaken, TrialStarted

    trial = plan.trials[0]
    order = TrialOrder(
        run_id=writer.path.name, trial=trial, axis=plan.sweep.axis, data_dir="", home="", client_home="", port=None,
        disks=tuple(judging.disks), disk_placement="", wal_disk="", disk_free_min_bytes=0,
        sample_hz=judging.hz, program="",
    )  # fmt: skip
    facts = replace(
        facts_at_first(order),
        load_start_ns=watched.run.started_ns,
        measure_start_ns=watched.run.started_ns,
        flush_end_ns=watched.run.ended_ns,
        sampler_cost=watched.cost,
        samples=watched.samples,
        others=watched.others,
        aborted=_aborted(judging, watched),
    )
    facts = tool_facts(facts, watched.run, watched.lines)
    unix_s = watched.begun.timestamp()
    writer(TrialStarted(trial=trial, position=1, total=1, unix_s=unix_s, monotonic_ns=watched.run.started_ns))
    writer(PhaseEntered(trial_id=trial.trial_id, phase="measure", monotonic_ns=watched.run.started_ns))
    for sample in watched.samples:
        writer(SampleTaken(trial_id=trial.trial_id, sample=sample))
    for interval in facts.intervals:
        writer(IntervalSeen(trial_id=trial.trial_id, interval=interval))
    seconds = (watched.run.ended_ns - watched.run.started_ns) / 1e9
    for event in ended(order, facts, {"server": judging.server.words}, watched.begun, seconds):
        writer(event)
    writer.update_manifest(status="complete")
    return report(writer)


def _aborted(judging: Judging, watched: WatchedLoad) -> str:
    """Why there is no number; "" if there is one."""
    name, code = watched.run.program.name, watched.run.code
    if watched.is_interrupted:
        return f"{name} was interrupted"
    if code:
        how = f"ended with code {code}" if code > 0 else f"was killed by signal {-code}"
        return f"{name} {how}: {last_words(watched.lines)}"
    if not watched.server_lives:
        return "the server ended under load"
    return ""
