"""A thread that takes a Sample on an absolute schedule: without drift, with a count of missed ticks and its own CPU
time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from scale_sweep.machine.host.cpu_work import CpuWorkReader
from scale_sweep.machine.host.usable import kernel_bytes
from scale_sweep.machine.sampling import machine, network
from scale_sweep.machine.sampling.counters import CpuCounters
from scale_sweep.machine.sampling.energy import EnergyReader
from scale_sweep.machine.sampling.subjects import subject_reader
from scale_sweep.machine.sampling.threads import ThreadReader
from scale_sweep.machine.sampling.waits import WaitReader
from scale_sweep.model import Accounting, DataDisk, Sample, SamplerCost

END_S = 15.0  # for the last sample; a hanging file system takes longer, and its counters are then left out


class Sampler:
    """A context manager that samples from entry to exit, with one more sample at each end.

    pids: returns the server's processes, whose threads are then counted by name; None: they are not. cpus: their clock
    rates are read. server_cpus: their hardware counters are read. worked_cpus: their speed is measured, which takes 1 %
    of each. waits: returns what the server's connections or threads wait for now; None: unknown. network_bits_per_s: of
    interfaces whose speed the kernel does not know.
    """

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
    ) -> None:
        self._server, self._generator = subject_reader(server), subject_reader(generator)
        self._disks = tuple(disks)
        self._period_s, self._on_sample, self._pids = 1.0 / hz, on_sample, pids
        self._threads, self._generator_threads = ThreadReader(), ThreadReader(has_switches=False)
        self._generator_pids = generator.root_pids if generator is not None else ()
        self._cpus = tuple(cpus)
        self._waits = WaitReader(waits)
        self._speeds = network.speeds(network_bits_per_s)
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
        self._work.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(END_S)
        self._waits.stop()
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
        """One sample, now."""
        now = time.monotonic_ns()
        threads = self._threads.read(self._pids() if self._pids else ())
        of_generator = self._generator_threads.read(self._generator_pids)
        return Sample(
            monotonic_ns=now,
            server=self._server(),
            generator=self._generator(),
            memory_available_bytes=kernel_bytes("MemAvailable"),
            psi_some_s_total=machine.pressure_s(),
            thread_cpu_s_total=threads.cpu_s_total,
            thread_peak_cores=threads.peak_cores,
            thread_median_cores=threads.median_cores,
            thread_switches_total=threads.switches_total,
            generator_peak_cores=of_generator.peak_cores,
            cpu_busy_s_total=machine.each_cpu_busy_s(),
            cpu_stolen_s_total=machine.each_cpu_stolen_s(),
            waits_total=self._waits.totals(),
            network_bytes_total=network.bytes_total(self._speeds),
            network_bytes_per_s=self._speeds,
            cpu_counters_total=self._counters.read(),
            host_cpu_busy_s_total=machine.cpu_busy_s(),
            host_cpu_stolen_s_total=machine.cpu_stolen_s(),
            disks=machine.disk_samples(self._disks),
            cpu_mhz=machine.cpu_mhz(self._cpus),
            cpu_work=self._work.read(),
            energy_j_total=self._energy.read(),
        )
