"""Sets up what the trials of a run share, and removes it at the end: its disks, its data sets, and the memory that is
held for the server. Measures the load generator's own ceilings, one for all trials that have the same.

A sweep of cores has one disk, the one that holds the data directory; nothing is made then, and its limit is measured
once a day. Whether a server supports several data directories is tried once: with one on each disk, a database is
created, and the place of every part is read back. A data set is loaded by the first trial that needs it, so that what
goes wrong is that trial's verdict, and the next one tries again. Refuses to trust a version or an edition, and to
decide how much memory is held.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, ScaleError
from scale_sweep.base.interrupts import Stop
from scale_sweep.base.units import counted, format_cpus
from scale_sweep.loadgen.ceiling import NONE_FOR_READS, CeilingKey, Means, ceiling_key, means_of, measure_ceiling
from scale_sweep.machine.host import data_disk, disk_of, memory_disk
from scale_sweep.machine.host.held_memory import HeldMemory
from scale_sweep.measure.trial.disks import check_placement
from scale_sweep.measure.trial.order import DataSet, TrialOrder
from scale_sweep.measure.trial.preload import remove
from scale_sweep.measure.trial.provision import provision, reached_by
from scale_sweep.measure.trial.waiting import ANSWER_S, SCHEMA_S, ask, closed_at_last, until_ready, wait_for
from scale_sweep.model import CEILING_S, DataDisk, DiskCeiling, Finding, Plan, Trial
from scale_sweep.plan.data_sets import data_key, makers
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.server.targets.planned import planned_spec

BLOCK_BYTES = 64 * 2**10
Say = Callable[[str], None]
_ENOUGH = 0.95  # of what was wanted


@dataclass(frozen=True, kw_only=True)
class PreparedDisks:
    """The disks of a run, in the order of the axis, and fio's measurements of them."""

    disks: tuple[DataDisk, ...]
    ceilings: tuple[DiskCeiling, ...] = ()
    shared: Finding | None = None

    def manifest(self) -> dict[str, Any]:
        """The disks' part of the manifest."""
        return {
            "data_disks": [asdict(disk) for disk in self.disks],
            "disk_ceilings": [asdict(ceiling) for ceiling in self.ceilings],
            "disks_share_a_bottleneck": self.shared is not None,
        }


@contextlib.contextmanager
def disks_of_run(plan: Plan, data_dir: Path, run_id: str, say: Say) -> Iterator[PreparedDisks]:
    """Prepares the disks for the trials and always removes them afterwards. Raises PreflightError or ProvisionError."""
    sweep = plan.sweep
    if sweep.disks is None:
        yield _only_disk(plan, data_dir, say)
        return
    # a sweep of cores does not need it
    from scale_sweep.machine.disks import measure_ceilings, prepared, shares_bottleneck

    count = max(trial.resources.disks for trial in plan.trials)
    say(f"making {counted(count, 'disk')} ready")
    with prepared(sweep.disks, count, run_id, data_dir) as disks:
        say("measuring the disks' own ceilings (fio: each alone, then all together)")
        ceilings = measure_ceilings(disks, CEILING_S, BLOCK_BYTES)
        stage = PreparedDisks(disks=disks, ceilings=ceilings, shared=shares_bottleneck(ceilings))
        for sentence in ceiling_sentences(stage):
            say(sentence)
        yield stage


def _only_disk(plan: Plan, data_dir: Path, say: Say) -> PreparedDisks:
    """The disk of the data directory, with its limit if a server writes files there."""
    from scale_sweep.machine.disks import limit_of

    disk = disk_of(data_dir)
    only_disk = data_disk(disk) if disk else memory_disk(data_dir)
    writes = any(load_facts(trial.subject.target).has_files for trial in plan.trials)
    limit = limit_of(only_disk, data_dir, BLOCK_BYTES, time.time(), say) if only_disk and writes else None
    return PreparedDisks(disks=(only_disk,) if only_disk else (), ceilings=(limit,) if limit else ())


def ceiling_sentences(stage: PreparedDisks) -> list[str]:
    """fio's results in sentences, with a warning if the disks share a bottleneck."""
    sentences = [f"{' + '.join(c.disks)}: {c.write_mb_per_s:.1f} MB/s sequential writes" for c in stage.ceilings]
    if stage.shared is not None:
        sentences.append(f"{stage.shared.sentence}: {stage.shared.remedy}")
    return sentences


def placement_of(plan: Plan, order: Callable[[Trial, str], TrialOrder], stop: Stop, say: Say) -> tuple[str, str]:
    """The way in which data is spread over the disks, and the reason. Tiers are tried once on the server itself.

    order: makes the order of a trial with a placement. Raises PreflightError if the user asked for tiers and the server
    does not support them; Stopped.
    """
    requested = plan.sweep.disk_placement
    most: Trial = max(plan.trials, key=lambda t: t.resources.disks)
    if not most.resources.disks:
        return requested, ""
    facts = load_facts(most.subject.target)
    can = facts.disk_placements
    chosen, why = requested, f"{requested}, as configured"
    if requested == "stripe":
        why = "stripe, as configured: one RAID-0 array (md) over the disks of each level"
    if requested == "auto":
        chosen, why = can[-1], f"{can[-1]}: the only way of {facts.name}"
    if requested in ("auto", "tiers") and "tiers" in can and most.disks > 1:
        say("checking whether the server supports several data directories")
        honoured, seen = supports_tiers(order(most, "tiers"), stop)
        if requested == "tiers" and not honoured:
            raise PreflightError(f"--disk-placement tiers: {seen}", remedy="--disk-placement spread")
        chosen = "tiers" if honoured else "spread"
        why = f"{chosen}: {seen}"
    say(f"disk placement {why}")
    return chosen, why


def supports_tiers(order: TrialOrder, stop: Stop) -> tuple[bool, str]:
    """True if every disk of the trial got parts of a database; and the observation in words. Leaves nothing.

    Raises Stopped.
    """
    try:
        with stop.here(), ExitStack() as cleanup:
            counts = _try(replace(order, disk_placement="tiers"), stop, cleanup)
    except ScaleError as error:
        return False, f"the server did not show that it supports several data directories: {error.message}"
    observed = f"several data directories: they got {', '.join(map(str, counts))} parts of the database"
    if len(counts) == len(order.disks) and all(counts):
        return True, f"the server supports {observed}"
    return False, f"the server does not support {observed}"


def _try(order: TrialOrder, stop: Stop, cleanup: ExitStack) -> list[int]:
    subject = order.trial.subject
    target = load_target(subject.target)
    reached = reached_by(target, order.trial, provision(order, target, load_runtime(subject.runtime), "probe", cleanup))
    server, address, session = reached.server, reached.address, reached.session
    with closed_at_last(reached):
        wait_for(server, until_ready(reached, session.not_ready), "the server was not ready", stop)
        ask(reached, session.create_schema, SCHEMA_S)
        wait_for(server, until_ready(reached, session.schema_pending), "the schema was not ready", stop)
        placed = check_placement(ask(reached, session.parts, ANSWER_S), order.disks, address.disks)
    return [int(n) for n in placed.get("parts_per_disk", "").split(",") if n]


@contextlib.contextmanager
def data_of_run(
    plan: Plan, run_id: str, remove: Callable[[str], None] = remove
) -> Iterator[Callable[[Trial], DataSet | None]]:
    """Yields a function: the data set that a trial gets a copy of, None if it loads its own rows. Removes all at the
    end, by the function `remove`."""
    by_key = makers(plan.trials)

    def name_of(key: str) -> str:
        return f"{run_id[-6:]}-data-{key}"

    def data_set(trial: Trial) -> DataSet | None:
        key = data_key(trial)
        return DataSet(name=name_of(key), maker=by_key.setdefault(key, trial)) if key else None

    try:
        yield data_set
    finally:
        for key in by_key:
            remove(name_of(key))


@contextlib.contextmanager
def memory_of_run(wanted_bytes: int, cpus: Sequence[int], say: Say) -> Iterator[Callable[[Trial], None]]:
    """Yields a function to call before each trial. wanted_bytes: the most that a trial may use; 0: nothing is held.
    cpus: those that do the work of holding."""
    if not wanted_bytes:
        yield lambda trial: None
        return
    say(f"holding {wanted_bytes / 1e9:.1f} GB of memory for the server")
    with HeldMemory(wanted_bytes, cpus) as held:

        def before_trial(trial: Trial) -> None:
            if (bytes_held := held.take()) < _ENOUGH * wanted_bytes:
                say(f"only {bytes_held / 1e9:.1f} GB of memory are held: pages beyond that cost more CPU time")

        yield before_trial


class Ceilings:
    """client_homes: where the load generator finds the client library, by `Subject.server`. measured: measures the
    ceiling of a program and a key."""

    def __init__(
        self,
        program: str,
        client_homes: Mapping[tuple[str, ...], str],
        measured: Callable[[str, CeilingKey], float | None] = measure_ceiling,
    ) -> None:
        self._program, self._homes, self._measured = program, client_homes, measured
        self._rates: dict[CeilingKey, float | None] = {}
        self._means: dict[tuple[str, str], Means] = {}

    def measure(self, trials: Iterable[Trial]) -> None:
        """Measures each ceiling that is not known yet. Raises LoadError."""
        for trial in trials:
            key = self._key(trial)
            if key not in self._rates:
                self._rates[key] = self._measured(self._program, key)

    def of(self, trial: Trial) -> float | None:
        """The ceiling in rows/s; None if there is no such ceiling, or it was not measured."""
        return self._rates.get(self._key(trial))

    def described(self) -> dict[str, float | str]:
        """Each ceiling for people: the rate, or why there is none."""
        return {_words(key): rate if rate is not None else key.means.value for key, rate in self._rates.items()}

    def _key(self, trial: Trial) -> CeilingKey:
        if trial.work.counts_requests:
            return NONE_FOR_READS
        target = load_target(trial.subject.target)
        spec = planned_spec(trial, target, self._homes[trial.subject.server])
        method = spec["driver"], spec.get("method", "")
        if method not in self._means:
            self._means[method] = means_of(self._program, spec)
        cpus, threads = trial.placement.generator_cpus, target.facts.threads_per_process
        return ceiling_key(spec, cpus, threads, self._means[method])


def _words(key: CeilingKey) -> str:
    if key is NONE_FOR_READS:
        return "a load that reads"
    spec = dict(key.spec)
    interlaced = f", {spec['interlace_rows']} of a table in turn" if spec.get("interlace_rows", "0") != "0" else ""
    if spec.get("requests_per_table", "1") != "1":
        interlaced = f", {spec['requests_per_table']} requests of a table in a row"
    driver = f", driver {spec['driver']} with {key.means.value}" if key.means is Means.STUBBED else ""
    return (
        f"{spec['threads']} threads, {spec['rows_per_request']} rows a request{interlaced}, {spec['tables']} tables, "
        f"{f'on CPU {format_cpus(key.cpus)}' if key.cpus else 'on the load hosts'}{driver}"
    )
