"""Takes samples on an absolute schedule, and reads hosts that make a load elsewhere."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from scale_sweep.machine.host.child_programs import CpuWorkReader
from scale_sweep.machine.host.host_facts import kernel_bytes, quota_group, text_of
from scale_sweep.machine.sampling import machine
from scale_sweep.machine.sampling.counters import CpuCounters
from scale_sweep.machine.sampling.load_threads import LoadThreads, LoadUse
from scale_sweep.machine.sampling.machine import EnergyReader
from scale_sweep.machine.sampling.processes import ProcessTree, ThreadReader, subject_reader
from scale_sweep.machine.sampling.waits import WaitReader
from scale_sweep.model.resources import Accounting
from scale_sweep.model.samples import DataDisk, HostSample, Sample, SamplerCost

END_S = 15.0  # for the last sample; a hanging file system takes longer, and its counters are then left out


class Sampler:
    """Samples from entry to exit, with one more at each end."""

    def __init__(
        self,
        *,
        server: Accounting | None,
        generator: Accounting | None,
        disks: Sequence[DataDisk],
        hz: float,
        on_sample: Callable[[Sample], None],
        pids: Callable[[], Sequence[int]] | None = None,
        cpus: Sequence[int] = (),
        waits: Callable[[], Mapping[str, int]] | None = None,
        server_cpus: Sequence[int] = (),
        worked_cpus: Sequence[int] = (),
        network_bits_per_s: Mapping[str, float] | None = None,
        is_foreign: bool = False,
        adopted: Callable[[], Sequence[int]] = tuple,
    ) -> None:
        """is_foreign: another program makes the load, whose tree of processes is read with all of its threads.
        adopted: gives those of its processes whose parent ended."""
        self._server, self._generator = subject_reader(server), subject_reader(generator)
        self._is_simulated = server is not None and server.kind == "counts"
        if self._is_simulated:
            server_cpus = worked_cpus = ()
        self._foreign: LoadThreads | None = None
        if is_foreign and generator is not None and generator.root_pids:
            tree = ProcessTree(generator.root_pids, adopted=adopted, quota_group=_youngests_group)
            self._generator, self._foreign = tree.read, LoadThreads(tree)
        self._disks = tuple(disks)
        self._period_s, self._on_sample, self._pids = 1.0 / hz, on_sample, pids
        self._threads, self._generator_threads = ThreadReader(), ThreadReader(has_switches=False)
        self._generator_pids = generator.root_pids if generator is not None and not self._foreign else ()
        self._cpus = tuple(cpus)
        self._waits = WaitReader(waits, spares=self._foreign is not None)
        self._load_waits = WaitReader(self._foreign.waits if self._foreign else None, spares=True)
        self._speeds = machine.network_speeds(network_bits_per_s)
        self._server_cpus, self._counters = tuple(server_cpus), CpuCounters(())
        self._work = CpuWorkReader(worked_cpus)
        self._energy = EnergyReader()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._cpu_s = self._wall_s = 0.0
        self._ticks = self._missed = 0
        self._failure: Exception | None = None

    def __enter__(self) -> Sampler:
        self._counters = CpuCounters(self._server_cpus)
        self._waits.start()
        self._load_waits.start()
        self._work.start()
        self._thread.start()
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self._stop.set()
        self._thread.join(END_S)
        self._waits.stop()
        self._load_waits.stop()
        self._work.stop()
        if not self._thread.is_alive():
            self._counters.close()
        if self._failure is not None and value is None:
            raise self._failure

    def cost(self) -> SamplerCost:
        return SamplerCost(
            cpu_s=self._cpu_s + self._work.cpu_s, wall_s=self._wall_s, ticks=self._ticks, missed_ticks=self._missed
        )

    def _run(self) -> None:
        start = time.monotonic()
        due = start
        try:
            while True:
                self._on_sample(self.take())
                self._ticks += 1
                due += self._period_s
                late = time.monotonic() - due
                if late > 0:
                    skipped = int(late / self._period_s)
                    self._missed += skipped
                    due += skipped * self._period_s
                if self._stop.wait(max(0.0, due - time.monotonic())):
                    break
            self._on_sample(self.take())
        except Exception as error:
            self._failure = error
        self._cpu_s, self._wall_s = time.thread_time(), time.monotonic() - start

    def take(self) -> Sample:
        """One sample, now. The machine's own figures are not those of a simulated server."""
        now = time.monotonic_ns()
        if self._is_simulated:
            return Sample(
                monotonic_ns=now,
                server=self._server(),
                generator=self._generator(),
                memory_available_bytes=None,
                psi_some_s_total={},
                thread_cpu_s_total={},
                waits_total=self._waits.totals(),
            )
        threads = self._threads.read(self._pids() if self._pids else ())
        generator = self._generator()
        own = self._generator_threads.read(self._generator_pids)
        load = self._foreign.read() if self._foreign else LoadUse(peak_cores=own.peak_cores)
        cpus = machine.cpu_times()
        whole = cpus.pop("", None)
        return Sample(
            monotonic_ns=now,
            server=self._server(),
            generator=generator,
            memory_available_bytes=kernel_bytes("MemAvailable"),
            psi_some_s_total=machine.pressure_s(),
            thread_cpu_s_total=threads.cpu_s_total,
            thread_peak_cores=threads.peak_cores,
            thread_median_cores=threads.median_cores,
            thread_switches_total=threads.switches_total,
            thread_disk_waits=threads.disk_waits if self._pids else None,
            thread_queued_s_total=threads.queued_s_total,
            generator_peak_cores=load.peak_cores,
            generator_wanted_cores=load.wanted_cores,
            generator_queued_cores=load.queued_cores,
            generator_threads=load.threads,
            generator_stopped=load.stopped,
            generator_waits_total=self._load_waits.totals(),
            cpu_busy_s_total={cpu: one.busy_s for cpu, one in cpus.items()},
            cpu_stolen_s_total={cpu: one.stolen_s for cpu, one in cpus.items()},
            waits_total=self._waits.totals(),
            network_bytes_total=machine.network_bytes_total(self._speeds),
            network_bytes_per_s=self._speeds,
            cpu_counters_total=self._counters.read(),
            host_cpu_busy_s_total=whole.busy_s if whole else None,
            host_cpu_stolen_s_total=whole.stolen_s if whole else None,
            disks=machine.disk_samples(self._disks),
            cpu_mhz=machine.cpu_mhz(self._cpus),
            cpu_work=self._work.read(),
            energy_j_total=self._energy.read(),
        )


def _youngests_group(pids: Sequence[int]) -> str:
    """That of the last process: a script may have started it there."""
    return quota_group(str(pids[-1])) if pids else ""


ANY_PORT = 9  # nothing is sent to it
_TCP = re.compile(r"^Tcp: (\D.*)\nTcp: (.*)$", re.MULTILINE)


class HostReader:
    """Reads a host whose load is measured elsewhere. server: its address. cpus: of the load here; empty: none."""

    def __init__(self, server: str, cpus: Sequence[int]) -> None:
        self._cpus = tuple(str(cpu) for cpu in cpus)
        self._interface = interface_towards(server)
        self._load = ProcessTree((os.getpid(),))

    def read(self) -> HostSample:
        """One sample, now, on this host's clock."""
        moved = machine.network_bytes_total({self._interface: 0.0}) if self._interface else {}
        segments, cpus = tcp_segments(), machine.cpu_times()
        own = [cpus[cpu] for cpu in self._cpus if cpu in cpus]
        are_all = len(own) == len(self._cpus)
        return HostSample(
            monotonic_ns=time.monotonic_ns(),
            cpus=len(self._cpus),
            load_cpu_s_total=self._load.read().cpu_s_total,
            busy_cpu_s_total=sum(one.busy_s for one in own) if are_all else None,
            stolen_cpu_s_total=sum(one.stolen_s for one in own) if are_all else None,
            sent_bytes_total=moved.get(f"{self._interface} sent"),
            received_bytes_total=moved.get(f"{self._interface} received"),
            segments_total=segments.get("OutSegs"),
            segments_again_total=segments.get("RetransSegs"),
        )


def interface_towards(server: str) -> str:
    """ "" if no interface reaches the address."""
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((server, ANY_PORT))
        except OSError:
            return ""
        own = probe.getsockname()[0]
    addresses = ((name, one.address.partition("%")[0]) for name, ones in psutil.net_if_addrs().items() for one in ones)
    return next((name for name, address in addresses if address == own), "")


def tcp_segments() -> Mapping[str, float]:
    """TCP counters of this network namespace (proc(5), /proc/net/snmp); empty if it has none."""
    lines = _TCP.search(text_of(Path("/proc/net/snmp")))
    return dict(zip(lines[1].split(), map(float, lines[2].split()), strict=False)) if lines else {}
