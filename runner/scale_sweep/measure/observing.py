"""Samples a machine without any load: the files of a trial, events for the same sinks."""

from __future__ import annotations

import contextlib
import datetime
import json
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import StoreError
from scale_sweep.base.interrupts import Stop
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.model.declared import Subject
from scale_sweep.model.events import Event, PhaseEntered, SampleTaken, TrialStarted
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import Accounting, Placement, on_cores
from scale_sweep.model.samples import DataDisk, Sample, SamplerCost
from scale_sweep.results.identity import identity
from scale_sweep.results.store.stored import MANIFEST, make_folder, new_file, new_folder, write
from scale_sweep.results.store.texts import TIMESERIES_HEADER, samples_text, series_text, timeseries_part
from scale_sweep.sweep.resolve import resolve_sweep

LOOK_S = 0.1
FOREVER_S = 10 * 365 * 86_400.0
_GIGA = 1e9
TRIAL = "observe"
_OF_TRIAL = f"trials/{TRIAL}"


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Means; None: not known."""

    path: str
    samples: int
    seconds: float  # from the first sample to the last
    interrupted: bool
    machine_cpu_cores: float | None
    stolen_cpu_cores: float | None
    server_cpu_cores: float | None
    server_memory_gb_max: float | None
    memory_available_gb_min: float | None
    disk_write_mb_per_s: float | None
    disk_busy_percent_max: float | None
    sampler_cpu_percent: float | None
    missed_ticks: int


@dataclass(frozen=True, kw_only=True)
class Watched:
    plan: Plan
    server: Accounting | None  # None: the machine alone
    disks: Sequence[DataDisk]
    hz: float
    seconds: float  # 0: until it is stopped


def record(
    folder: Path, watched: Watched, sinks: Sequence[Callable[[Event], None]], stop: Stop, facts: Mapping[str, Any]
) -> Observed:
    """Into a new folder. Raises StoreError."""
    server = watched.server
    writer = _Writer(folder, facts)
    trial, cpus = watched.plan.trials[0], watched.plan.trials[0].placement.server_cpus
    taken: queue.SimpleQueue[Sample] = queue.SimpleQueue()
    sampler = Sampler(
        server=server,
        generator=None,
        disks=watched.disks,
        hz=watched.hz,
        on_sample=taken.put,
        pids=(lambda: server.root_pids) if server else None,
        cpus=cpus,
        server_cpus=cpus,
    )
    now_ns = time.monotonic_ns()
    _tell(sinks, TrialStarted(trial=trial, position=1, total=1, unix_s=time.time(), monotonic_ns=now_ns))
    _tell(sinks, PhaseEntered(trial_id=trial.trial_id, phase="measure", monotonic_ns=now_ns))
    interrupted = False
    try:
        with sampler:
            deadline = time.monotonic() + (watched.seconds or FOREVER_S)
            while (left := deadline - time.monotonic()) > 0:
                stop.sleep(min(left, LOOK_S))
                _drain(taken, writer, sinks, trial.trial_id)
    except KeyboardInterrupt:
        interrupted = True
    _drain(taken, writer, sinks, trial.trial_id)
    return writer.finish(sampler.cost(), interrupted=interrupted)


def _tell(sinks: Sequence[Callable[[Event], None]], event: Event) -> None:
    for sink in sinks:
        sink(event)


def _drain(
    taken: queue.SimpleQueue[Sample], writer: _Writer, sinks: Sequence[Callable[[Event], None]], trial_id: str
) -> None:
    while not taken.empty():
        sample = taken.get_nowait()
        writer.take(sample)
        _tell(sinks, SampleTaken(trial_id=trial_id, sample=sample))


class _Writer:
    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self._run = new_folder(path)
        self._samples: list[Sample] = []
        self._manifest: dict[str, Any] = {"run": path.name, **identity(), **facts, "created_utc": _now()}
        with self._errors_named():
            make_folder(self._run, _OF_TRIAL)
            self._file = new_file(self._run, f"{_OF_TRIAL}/samples.jsonl")
            self._write_manifest("running")

    def take(self, sample: Sample) -> None:
        """Raises StoreError."""
        self._samples.append(sample)
        with self._errors_named():
            self._file.write(samples_text([sample]))
            self._file.flush()

    def finish(self, cost: SamplerCost, *, interrupted: bool) -> Observed:
        """Raises StoreError."""
        seen = _summed(self._run.path, self._samples, cost, interrupted=interrupted)
        with self._errors_named():
            self._file.close()
            series = series_text((), self._samples, 0)
            write(self._run, f"{_OF_TRIAL}/series.csv", series.encode())
            write(self._run, "timeseries.csv", (TIMESERIES_HEADER + timeseries_part(TRIAL, series)).encode())
            self._manifest |= {"ended_utc": _now(), "observed": asdict(seen)}
            self._write_manifest("interrupted" if interrupted else "done")
        return seen

    def _write_manifest(self, status: str) -> None:
        text = json.dumps({**self._manifest, "status": status}, indent=1, ensure_ascii=False, default=str)
        write(self._run, MANIFEST, text.encode())

    @contextlib.contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            sentence = f"samples cannot be written to {self._run}: {error.strerror}"
            raise StoreError(sentence, remedy="give another folder with --to DIR") from None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _summed(folder: Path, samples: Sequence[Sample], cost: SamplerCost, *, interrupted: bool) -> Observed:
    start, end = (samples[0].monotonic_ns, samples[-1].monotonic_ns) if samples else (0, 0)
    use = measure_window(samples, start, end)
    seconds = (end - start) / 1e9
    busy = [s.host_cpu_busy_s_total for s in (samples[0], samples[-1])] if samples else []
    known = [b for b in busy if b is not None]
    used, free = use.memory_used_bytes_max, use.memory_available_bytes_min
    return Observed(
        path=str(folder),
        samples=len(samples),
        seconds=seconds,
        interrupted=interrupted,
        machine_cpu_cores=(known[1] - known[0]) / seconds if len(known) == 2 and seconds > 0 else None,
        stolen_cpu_cores=use.stolen_cpu_cores,
        server_cpu_cores=use.server_cpu_cores,
        server_memory_gb_max=used / _GIGA if used is not None else None,
        memory_available_gb_min=free / _GIGA if free is not None else None,
        disk_write_mb_per_s=use.disk_write_mb_per_s,
        disk_busy_percent_max=max(use.disk_busy_percent.values(), default=None),
        sampler_cpu_percent=100 * cost.cpu_s / cost.wall_s if cost.wall_s > 0 else None,
        missed_ticks=cost.missed_ticks,
    )


def plan_of(cpus: Sequence[int], seconds: float) -> Plan:
    """Without a load, as the exporter shows trials."""
    sweep = resolve_sweep("cpu", {"target.name": "null", "axis.cores": str(len(cpus))})
    placement = Placement(server_cpus=tuple(cpus), generator_cpus=())
    trial = Trial(
        trial_id=TRIAL,
        point_id=TRIAL,
        order=1,
        level=len(cpus),
        replicate=1,
        resources=on_cores(len(cpus), placement),
        work=sweep.work,
        load=sweep.load,
        subject=Subject(target=sweep.target, runtime="endpoint", method=""),
        knobs={},
        seed=0,
    )
    return Plan(sweep=sweep, trials=(trial,), confounds=(), notes=(), seconds_estimated=seconds)
