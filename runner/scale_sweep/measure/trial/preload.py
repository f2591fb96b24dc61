"""The rows that the reads of a trial find: loaded, at rest and counted before the measurement, outside of its rate."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scale_sweep.base.errors import LoadError, ProvisionError, ScaleError
from scale_sweep.base.interrupts import Stop, deferred, undone
from scale_sweep.base.units import format_bytes
from scale_sweep.experiment.work import row_logical_bytes
from scale_sweep.loadgen.binary import kept_by
from scale_sweep.loadgen.spec import preload_of, trial_spec
from scale_sweep.machine.state.records import directory_at, read_record, record_of, remove_recorded, save
from scale_sweep.machine.state.trusted import read_own, write_own
from scale_sweep.measure.trial.disks import bytes_at_rest, sync_disks
from scale_sweep.measure.trial.loads import load_of
from scale_sweep.measure.trial.order import DataSet, TrialOrder
from scale_sweep.measure.trial.provision import Files, Provisioned, Reached, provision, reached_by, started_again
from scale_sweep.measure.trial.waiting import (
    answer_within,
    ask,
    closed_at_last,
    count_s,
    flush_s,
    idle_cores,
    wait_for_schema,
    wait_until_ready,
    with_cause,
)
from scale_sweep.model.questions import Preloaded
from scale_sweep.model.resources import ServerOrder, Site
from scale_sweep.server.runtimes import Runtime, load_runtime
from scale_sweep.server.runtimes.data_files import can_reflink, copy_tree, drop_files, read_files, resident_percent
from scale_sweep.server.runtimes.local import CONSOLE
from scale_sweep.server.targets import Facts, load_target

LEAST_S = 300.0
ROWS_PER_S_SLOWEST = 2000.0
SIZE_S = 10.0
_COMPLETE = "prepared.json"
COLD_PERCENT_MAX = 10.0  # read by a server that starts
WARM_PERCENT_LEAST = 90.0


def preload(order: TrialOrder, reached: Reached, facts: Facts, stop: Stop) -> Preloaded:
    """Raises LoadError if rows are missing, TargetError, Stopped."""
    work, begun = order.trial.work, time.monotonic()
    before = _sizes(reached, facts.log_folders)
    writing = replace(order, trial=preload_of(order.trial))
    spec = kept_by(order.program, trial_spec(writing.trial, reached.session.load_spec()))
    load = load_of(writing, spec, facts.threads_per_process, reached)
    try:
        load.start()
        for _ in load.lines(LEAST_S + work.preload_rows / ROWS_PER_S_SLOWEST):
            stop.look()
            if not reached.server.alive():
                raise LoadError("the server ended while rows were loaded for the reads")
    finally:
        load.stop()
    summary = load.summary()
    acknowledged = summary.rows_acked if summary else 0
    if acknowledged != work.preload_rows:
        troubles = "; ".join(f"{trouble.code}: {trouble.message}" for trouble in load.troubles)
        some = f"{acknowledged:,} of {work.preload_rows:,} rows"
        raise LoadError(f"{some} were loaded before the reads: {troubles or 'no word'}")
    ask(reached, reached.session.settle, flush_s(work.preload_rows * row_logical_bytes(work)), order.disks)
    used = idle_cores(reached, stop) if reached.address.is_ours else None
    counted = ask(reached, reached.session.count, count_s(work.preload_rows))
    if counted is not None and counted.rows != work.preload_rows:
        raise LoadError(f"{work.preload_rows:,} rows were loaded before the reads, the server counts {counted.rows:,}")
    after = _sizes(reached, facts.log_folders)
    grown, log = (a - b if a is not None and b is not None else None for a, b in zip(after, before, strict=True))
    seconds = time.monotonic() - begun
    return Preloaded(rows=work.preload_rows, data_bytes=grown, seconds=seconds, idle_cores=used, log_bytes=log)


def _sizes(reached: Reached, log_folders: Sequence[str]) -> tuple[int | None, int | None]:
    """And of its log; None: not visible."""
    folders = folders_of(reached)
    logs = [str(path) for folder in folders for pattern in log_folders for path in Path(folder).glob(pattern)]
    return (
        answer_within(SIZE_S, lambda: bytes_at_rest(folders)),
        answer_within(SIZE_S, lambda: bytes_at_rest(logs)) if logs else None,
    )


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A complete data set."""

    folder: Path
    port: int  # port, secret: in the files
    secret: str
    bytes_total: int
    preloaded: Preloaded


def kept_before(order: TrialOrder, data: DataSet) -> Kept | None:
    """If this run has it, also before it was resumed: a record must say that this user's run made the directory."""
    folder, record = Path(order.data_dir, data.name), read_record(data.name)
    if record is None or directory_at(str(folder)) not in record.directories:
        return None
    try:
        stored = json.loads(read_own(folder / _COMPLETE))
        kept = Kept(**{**stored, "folder": folder, "preloaded": Preloaded(**stored["preloaded"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    save(record_of(folder.name, (str(folder),), kind="data"))
    return kept


def make(order: TrialOrder, data: DataSet, stop: Stop) -> Kept:
    """Raises ScaleError, Stopped."""
    order = replace(order, trial=data.maker, data=None)
    target, subject = load_target(data.maker.subject.target), data.maker.subject
    with undone() as cleanup:
        started = provision(order, target, load_runtime(subject.runtime), data.name, cleanup)
        reached = reached_by(target, order.trial, started)
        try:
            with closed_at_last(reached):
                wait_until_ready(reached, order.trial.placement, target.facts.ready_s, stop)
                wait_for_schema(reached, stop)
                there = preload(order, reached, target.facts, stop)
            end_cleanly(reached, there)
        except ScaleError as error:
            raise with_cause(error, started.server, order) from error
        return _keep(started, Path(order.data_dir, data.name), there)


def end_cleanly(reached: Reached, there: Preloaded) -> None:
    """So that another can start on its files. Raises ProvisionError where it had to be killed."""
    limit = flush_s(there.data_bytes or 0)
    if not reached.server.shut_down(limit):
        raise ProvisionError(
            f"{reached.who} did not end by itself within {limit:.0f} s after its rows were loaded, so no server can be "
            "started on its files",
            remedy="see the server's log; is its disk slow?",
        )


def forget_logs(order: ServerOrder) -> None:
    for path in (Path(order.site.data_dir) / CONSOLE, *map(Path, order.spec.log_paths)):
        path.unlink(missing_ok=True)


def copied(order: TrialOrder, kept: Kept, report: Callable[[Preloaded], None]) -> Files:
    """report: gets the copied rows."""

    def fill(site: Site) -> None:
        begun, target = time.monotonic(), Path(site.data_dir)
        _refuse_full(order, kept, target)
        way = copy_tree(kept.folder, target)
        (target / _COMPLETE).unlink()
        sync_disks(order.disks, flush_s(kept.bytes_total))  # nothing is written while the load runs
        if order.trial.resources.memory_bytes:
            drop_files([site.data_dir])  # it counts as the server's memory
        report(replace(kept.preloaded, copied=way, copied_s=time.monotonic() - begun))

    return Files(port=kept.port, secret=kept.secret, fill=fill)


def prove_rows(reached: Reached, rows: int) -> None:
    """Raises LoadError where the copy does not hold them."""
    counted = ask(reached, reached.session.count, count_s(rows))
    if counted is not None and (counted.rows != rows or counted.gaps):
        gaps = f" ({'; '.join(counted.gaps)})" if counted.gaps else ""
        raise LoadError(f"the copy of the data holds {counted.rows:,} rows, {rows:,} were loaded{gaps}")


def _keep(started: Provisioned, folder: Path, there: Preloaded) -> Kept:
    """By a rename: complete at once, or not there."""
    site = Path(started.order.site.data_dir)
    forget_logs(started.order)
    kept = Kept(
        folder=folder,
        port=started.address.port,
        secret=started.address.secret,
        bytes_total=bytes_at_rest((str(site),)) or 0,
        preloaded=there,
    )
    stored = {**asdict(kept), "folder": str(folder)}
    with deferred():
        try:
            write_own(site / _COMPLETE, json.dumps(stored))  # the secret is in it
            remove_recorded(folder.name)
            moved = directory_at(str(folder), now_at=str(site))
            save(replace(record_of(folder.name, (), kind="data"), directories=(moved,)))
            os.rename(site, folder)
        except OSError as error:
            raise ProvisionError(f"the data set {folder} cannot be kept: {error.strerror}") from None
    return kept


def _refuse_full(order: TrialOrder, kept: Kept, target: Path) -> None:
    space = os.statvfs(target)
    free, least = space.f_bavail * space.f_frsize, order.disk_free_min_bytes
    if free >= kept.bytes_total + least or can_reflink(target):
        return
    raise ProvisionError(
        f"{target.parent} has {format_bytes(free)} free; the copy of the data for a trial takes "
        f"{format_bytes(kept.bytes_total)}, and {format_bytes(least)} are to stay free",
        remedy="free some space, choose another disk with --data-dir, or lower --preload",
    )


def cooled(
    started: Provisioned, reached: Reached, there: Preloaded, runtime: Runtime, cleanup: ExitStack
) -> Provisioned:
    """Started again, on files that were not in memory. Raises ProvisionError, Stopped."""
    end_cleanly(reached, there)
    forget_logs(started.order)
    folders = folders_of(reached)
    drop_files(folders)
    left = resident_percent(folders)
    if left is None or left > COLD_PERCENT_MAX:
        share = "how much is not known" if left is None else f"{left:.0f} % of them"
        raise ProvisionError(
            f"the data are not cold: their files in {folders[0]} stay in memory ({share})",
            remedy="--data-dir DIR on a disk, or --cache as-is",
        )
    return started_again(started, runtime, cleanup)


def warmed(reached: Reached) -> str:
    """Reads the files once. A sentence if they do not all stay in memory."""
    count = read_files(folders_of(reached))
    percent = resident_percent(folders_of(reached))
    if percent is None or percent >= WARM_PERCENT_LEAST:
        return ""
    return f"only {percent:.0f} % of the {count / 1e9:.3g} GB of data stay in the page cache after they were read"


def folders_of(reached: Reached) -> list[str]:
    return [path for path in (reached.address.data_dir, *reached.address.disks) if path]
