"""Orders of real trials, carried out here, in another thread and in another process; and what their events tell."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.interrupts import Stop, current
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host.block_devices import data_disk, disk_of
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import ArtifactMade, Event, IntervalSeen, Noted, PhaseEntered, SampleTaken, TrialFinished
from scale_sweep.model.measured import TrialResult
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep

ROOT = Path(__file__).resolve().parents[2]
RUN = f"{os.getpid():06x}"  # ends the run's id and begins the names of its control groups; no other test's
QUICK = {"load.duration": "1s", "load.warmup": "300ms", "load.window_max": "0", "workload.tables": "10"}


def trial_order(folder: Path, target: str = "null", **flags: str) -> TrialOrder:
    """The first trial of a sweep of one core, planned for this machine. flags: by key, "." written "__"."""
    module = load_target(target)
    given = {k.replace("__", "."): v for k, v in flags.items()}
    found = module.find("")
    sweep = replace(resolve_sweep("cpu", {"axis.cores": "1", **QUICK, **given}), target=target, runtime="process")
    plan = make_plan(complete(sweep, module.facts), read_host(), module.facts)
    disk = disk_of(folder)
    return TrialOrder(
        run_id=f"20260102T030405Z-order-{RUN}",
        trial=plan.trials[0],
        axis=plan.sweep.axis,
        data_dir=str(folder),
        home=found.home if found else "",
        client_home=found.home if found else "",
        port=None,
        disks=(data_disk(disk),) if disk else (),
        disk_placement=plan.sweep.disk_placement,
        wal_disk=plan.sweep.wal_disk,
        disk_free_min_bytes=plan.sweep.disk_free_min_bytes,
        sample_hz=plan.sweep.sample_hz,
        program=loadgen_path(),
    )


def here(order: TrialOrder) -> list[Event]:
    """Its events, in this thread."""
    return list(run_trial(order, current()))


def in_a_thread(order: TrialOrder) -> list[Event]:
    """Its events, in a thread that ends with the trial."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: list(run_trial(order, Stop()))).result(120)


def in_a_process(order: TrialOrder) -> list[Event]:
    """Its events, pickled, from another process that got nothing but the pickled order."""
    words, asked = [sys.executable, "-m", "tests.unit.trial_orders"], pickle.dumps(order)
    done = subprocess.run(words, input=asked, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


def story(events: Iterable[Event]) -> list[str]:
    """Kinds, phases and names in order: without samples, which a thread of its own takes, and intervals but the first
    of each phase, because the last one is told only if something came in it."""
    told: list[str] = []
    for event in events:
        name = {
            PhaseEntered: lambda event: event.phase,
            ArtifactMade: lambda event: event.name,
            IntervalSeen: lambda event: event.interval.phase,
        }.get(type(event), lambda event: "")
        word = f"{type(event).__name__} {name(event)}".strip()
        is_again = isinstance(event, IntervalSeen) and word in told[-1:]
        if not (is_again or isinstance(event, SampleTaken) or word == "IntervalSeen drain"):
            told.append(word)
    return told


def result_of(events: Iterable[Event]) -> TrialResult:
    """What the trial came to."""
    (result,) = (event.result for event in events if isinstance(event, TrialFinished))
    return result


def notes_of(events: Iterable[Event]) -> list[str]:
    """What it noted."""
    return [event.sentence for event in events if isinstance(event, Noted)]


def artifact_of(events: Iterable[Event], name: str) -> str:
    """A file of the trial."""
    (text,) = (event.text for event in events if isinstance(event, ArtifactMade) and event.name == name)
    return text


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(here(pickle.loads(sys.stdin.buffer.read()))))
