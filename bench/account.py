"""Provokes 20 losses on PostgreSQL and shows which part of the account got each, beside the part that was expected.

    python bench/account.py [--only PART] [--replicates 3] [--seconds 10] [--data-dir DIR on a real disk]

A case is a plain load and one with a loss, at the same cores; the account is that of the second against the first. Both
count here whatever their verdict is, since a neighbour or a quota rejects a trial. The goal: the right part has at
least 80 % of the loss in 19 of 20 cases. It needs root (a quota set from outside) and two quiet CPUs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from bench.provoke import PIPES, home_with
from scale_sweep.analysis.account.of_levels import account_of
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.account import LevelAccount
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.results.store.reader import read_run

ENOUGH = 0.8
LOST_MIN = 3.0  # percent; below that nothing was provoked on this machine, and the case is not right
SPIN = [sys.executable, "-P", "-c", "while True: pass"]
STREAM = [sys.executable, "-P", "-c", "import numpy as n; a = n.zeros(1 << 26); b = a.copy()\nwhile True: b[:] = a"]
ONE, TWO = ("--cores", "1"), ("--cores", "2", "--server-cpus", "0-1", "--generator-cpus", "0-1")
SMALL = ("--rows-per-request", "10")
FIXED = "--target postgres --runtime process --replicates 1 --window-max 0 --no-metrics --yes --json".split()
FIXED += "--connections-check off --drift-check off".split()
SYNC, ASYNC = ("--knob", "synchronous_commit=on"), ("--knob", "synchronous_commit=off")


@dataclass(frozen=True, kw_only=True)
class Case:
    """trigger: statements after each request. words: of both loads; more: of the second. hogs: commands and CPUs."""

    what: str
    part: str
    trigger: str = ""
    always: str = ""  # statements after each request of both loads
    words: tuple[str, ...] = ONE
    before: tuple[str, ...] = ()  # of the first load
    more: tuple[str, ...] = ()
    hogs: tuple[tuple[Sequence[str], int], ...] = ()
    quota: float = 0.0  # cores, set on the server's cgroup from outside


CASES = (
    Case(what="a loop in a trigger", part="user", trigger="FOR i IN 1..3000000 LOOP NULL; END LOOP;"),
    Case(
        what="hashes in a trigger",
        part="user",
        trigger="FOR i IN 1..100 LOOP PERFORM sha512(convert_to(repeat('x', 400000), 'UTF8')); END LOOP;",
    ),
    Case(
        what="a sort in a trigger",
        part="user",
        trigger="PERFORM count(*) FROM (SELECT g FROM generate_series(1, 60000) g ORDER BY md5(g::text)) sorted;",
    ),
    Case(
        what="a spin lock",
        part="user",
        words=(*ONE, *SMALL),
        trigger="LOOP EXIT WHEN pg_try_advisory_xact_lock(1); END LOOP; FOR i IN 1..20000 LOOP NULL; END LOOP;",
    ),
    Case(
        what="a neighbour that fills the memory bandwidth, beside a server that reads memory",
        part="user",
        always="PERFORM sum(length(x)) FROM (SELECT repeat(md5(g::text), 300000) x FROM generate_series(1, 4) g) wide;",
        hogs=((STREAM, 1),),
    ),
    Case(
        what="zeros read from the kernel",
        part="system",
        trigger="FOR i IN 1..4 LOOP PERFORM length(pg_read_binary_file('/dev/zero', 0, 64000000)); END LOOP;",
    ),
    Case(
        what="system calls: symbols of the kernel",
        part="system",
        trigger="FOR i IN 1..3 LOOP PERFORM length(pg_read_file('/proc/kallsyms', 0, 1000000)); END LOOP;",
    ),
    Case(
        what="system calls: maps of the process",
        part="system",
        trigger="FOR i IN 1..150 LOOP PERFORM length(pg_read_file('/proc/self/smaps')); END LOOP;",
    ),
    Case(what="sleep in a trigger", part="waiting", trigger="PERFORM pg_sleep(0.3);"),
    Case(
        what="a lock held while sleeping",
        part="waiting",
        trigger="PERFORM pg_advisory_xact_lock(1); PERFORM pg_sleep(0.2);",
    ),
    Case(
        what="a row that every request updates, with fsync",
        part="waiting",
        words=(*TWO, *SMALL, *SYNC),
        trigger="UPDATE hot SET n = n + 1; PERFORM pg_sleep(0.001);",
    ),
    Case(
        what="fsync of each request",
        part="waiting",
        words=(*ONE, "--rows-per-request", "1000", "--connections", "1"),
        before=ASYNC,
        more=SYNC,
    ),
    Case(
        what="delayed commits",
        part="waiting",
        more=("--knob", "commit_delay=100000", "--knob", "commit_siblings=0", *SYNC),
        before=ASYNC,
    ),
    Case(what="a quota of half a core", part="throttled", quota=0.5),
    Case(what="a quota of three quarters of a core", part="throttled", quota=0.75),
    Case(what="a busy loop on the server's CPU", part="others", hogs=((SPIN, 0),)),
    Case(what="two busy loops on the server's CPU", part="others", hogs=((SPIN, 0), (SPIN, 0))),
    Case(
        what="a load on the server's CPU",
        part="load",
        words=(*ONE, "--rows-per-request", "1", *ASYNC),
        more=("--server-cpus", "0", "--generator-cpus", "0"),
    ),
    Case(
        what="one connection for two cores",
        part="requests",
        words=TWO,
        before=("--connections", "8"),
        more=("--connections", "1"),
    ),
    Case(
        what="one connection for two cores, small requests",
        part="requests",
        words=(*TWO, "--rows-per-request", "1000"),
        before=("--connections", "8"),
        more=("--connections", "1"),
    ),
)


def home_of(case: Case, statements: str, folder: str) -> tuple[str, ...]:
    """The flag of a PostgreSQL whose loads run the statements in a trigger."""
    if not statements:
        return ()
    os.mkdir(folder, 0o755)
    body = f"DECLARE i int; BEGIN {statements} RETURN NULL; END"
    return ("--home", home_with(folder, case.what.replace(" ", "-").replace(":", "").replace(",", ""), body))


@contextlib.contextmanager
def neighbours(case: Case) -> Iterator[None]:
    started = []
    try:
        for command, cpu in case.hogs:
            started.append(subprocess.Popen(command))
            os.sched_setaffinity(started[-1].pid, {cpu})
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def limit(run: subprocess.Popen, cores: float) -> None:
    """The quota, on the cgroup of the first server process that has one, for as long as the run goes on."""
    period_us = 100_000
    while run.poll() is None:
        for process in psutil.Process(run.pid).children(recursive=True):
            with contextlib.suppress(OSError, psutil.Error):
                if not process.name().startswith("postgres"):
                    continue
                for line in Path(f"/proc/{process.pid}/cgroup").read_text().splitlines():
                    _, kinds, path = line.split(":", 2)
                    for folder in (
                        f"/sys/fs/cgroup/{kinds}{path}",
                        f"/sys/fs/cgroup/cpu{path}",
                        f"/sys/fs/cgroup{path}",
                    ):
                        if path != "/" and (old := Path(folder, "cpu.cfs_quota_us")).exists():
                            Path(folder, "cpu.cfs_period_us").write_text(str(period_us))
                            old.write_text(str(round(cores * period_us)))
                        elif path != "/" and (new := Path(folder, "cpu.max")).exists():
                            new.write_text(f"{round(cores * period_us)} {period_us}")
        time.sleep(0.2)


def measured(words: Sequence[str], folder: Path, while_it_runs: Callable[[subprocess.Popen], None]) -> StoredRun:
    """One trial."""
    scale = os.environ.get("SCALE_COMMAND", f"{sys.executable} -P -m scale_sweep").split()
    run = subprocess.Popen([*scale, "sweep", "cpu", *words, *FIXED, "--results", str(folder)], **PIPES)
    try:
        while_it_runs(run)
        _, errors = run.communicate(timeout=180)
    except BaseException:
        run.terminate()  # it ends its server
        run.communicate(timeout=60)
        raise
    if not any(folder.iterdir()):
        raise SystemExit(errors)
    return read_run(max(folder.iterdir()))


def as_point(run: StoredRun, level: float, replicate: int) -> TrialResult:
    """Its trial as one that counts, at a level of this case."""
    (result,) = run.on_curve
    name = f"{level:g}-r{replicate}"
    trial = replace(result.trial, trial_id=name, level=level, replicate=replicate, block=replicate)
    return replace(result, trial=trial, verdict=replace(result.verdict, kind=VerdictKind.VALID))


def account(case: Case, arguments: argparse.Namespace, folder: Path) -> LevelAccount | None:
    results, series = [], {}
    length = ("--duration", f"{arguments.seconds}s", "--warmup", "2s", "--data-dir", arguments.data_dir)
    both = enumerate((case.always, case.trigger or case.always))
    plain, lossy = (home_of(case, statements, f"{folder}/home-{at}") for at, statements in both)
    for replicate in range(1, arguments.replicates + 1):
        for level, words in ((1.0, (*case.before, *plain)), (2.0, (*case.more, *lossy))):
            has_loss = level > 1
            (place := folder / f"{level:g}-{replicate}").mkdir()
            place.chmod(0o755)
            loss = (lambda run: limit(run, case.quota)) if case.quota and has_loss else lambda run: None
            with neighbours(case) if has_loss else contextlib.nullcontext():
                run = measured((*case.words, *words, *length), place, loss)
            results.append(as_point(run, level, replicate))
            series[results[-1].trial.trial_id] = next(iter(run.timeseries.values()))
    found = account_of(results, load_axis("cores"), "rows_per_s", series)
    return found.levels[0] if found and found.levels else None


def share_of(part: str, one: LevelAccount) -> float:
    """Of what is missing, without what slower CPUs took: that was not provoked. 0 if nothing was lost."""
    percents = {p.names: p.percent for p in one.parts if p.of in ("not_used", "more_work")}
    provoked = one.missing.percent - percents.get(("speed",), 0.0)
    return percents.get((part,), 0.0) / provoked if provoked >= LOST_MIN else 0.0


def main() -> None:
    """Every case, a row each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the cases of this part, or whose words hold this")
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--data-dir", default="/var/tmp", help="on a real disk")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if arguments.only in ("", case.part) or arguments.only in case.what]
    print("| provoked | should be | its share | missing % | parts |\n|---|---|---:|---:|---|", flush=True)
    right = 0
    for case in chosen:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o755)  # the server does not run as root
            one = account(case, arguments, Path(folder))
        if one is None:
            print(f"| {case.what} | {case.part} | - | - | no rate |", flush=True)
            continue
        share = share_of(case.part, one)
        right += share >= ENOUGH
        inner = [p for p in one.parts if p.of in ("not_used", "more_work")]
        words = ", ".join(f"{'+'.join(p.names)} {p.percent:.1f}" for p in sorted(inner, key=lambda p: -abs(p.percent)))
        print(f"| {case.what} | {case.part} | {share:.2f} | {one.missing.percent:.1f} | {words} |", flush=True)
    print(f"\n{right} of {len(chosen)} have at least {100 * ENOUGH:.0f} % of the loss in the right part")


if __name__ == "__main__":
    main()
