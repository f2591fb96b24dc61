"""Does `--prove` name the limit of a real PostgreSQL? Five limits, made on purpose, each some times.

    python bench/prove.py [--times 4] [--only CAUSE] [--next]

The first CPU is the server's, the last one the load's. Each row was written before the first run: one core full; WAL
fsync on a disk that is capped at 400 writes/s; one row that every request updates and holds for a while (none of the
disturbed resources); a load that computes longer than the server, by `scale judge`; two connections for an idle server.
--next: sweeps of one and two cores, for the rate at two as it was predicted at one. Needs root, control groups of
version 1, pgbench and two CPUs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from bench import judged_servers
from bench.judge import FILES
from bench.judged_servers import CAPS, LOAD_CPU
from bench.provoke import home_with
from scale_sweep.model.proof import LevelProof
from scale_sweep.results.store.reader import read_run

SCALE = os.environ.get("SCALE_COMMAND", f"{sys.executable} -P -m scale_sweep").split()
CAPPED = CAPS.with_name("blkio.throttle.write_iops_device")
DISK_WRITES = 400  # each second: a cap in bytes would be that of the pages that the kernel writes back
SWEEP = (
    "sweep cpu --target postgres --runtime process --quick --replicates 1 --connections-check off --no-metrics --yes"
)
HELD = "BEGIN UPDATE hot SET n = n + 1; PERFORM pg_sleep(0.02); RETURN NULL; END"
Words = Sequence[str]


@contextmanager
def on_memory(folder: Path) -> Iterator[Words]:
    yield ("--cores", "1", "--data-dir", "auto")


@contextmanager
def on_capped_disk(folder: Path) -> Iterator[Words]:
    (place := folder / "disk").mkdir()
    with judged_servers.mounted(place, folder, 4 * 2**30) as device:
        place.chmod(0o755)
        CAPPED.write_text(f"{device} {DISK_WRITES}")
        try:
            yield (
                "--cores",
                "1",
                "--data-dir",
                str(place),
                "--knob",
                "synchronous_commit=on",
                "--rows-per-request",
                "10",
            )
        finally:
            CAPPED.write_text(f"{device} 0")


@contextmanager
def with_hot_row(folder: Path) -> Iterator[Words]:
    with on_memory(folder) as words:
        yield (*words, "--home", home_with(str(folder), "hot-row", HELD), "--rows-per-request", "10")


@contextmanager
def with_two_clients(folder: Path) -> Iterator[Words]:
    """Each waits in the server most of the time."""
    home = home_with(str(folder), "sleeps", "BEGIN PERFORM pg_sleep(0.005); RETURN NULL; END")
    with on_memory(folder) as words:
        yield (*words, "--home", home, "--connections", "2", "--rows-per-request", "10")


def swept(resources: str, around: Callable[[Path], object]) -> Callable[[Path], LevelProof]:
    def proof(folder: Path) -> LevelProof:
        with around(folder) as words:  # type: ignore[attr-defined]
            return proofs_after([*SWEEP.split(), *words, f"--prove={resources}"], folder)[0]

    return proof


def judged(folder: Path) -> LevelProof:
    (script := folder / "set.sql").write_text(FILES["set.sql"])
    with ExitStack() as cleanup:
        (place := folder / "server").mkdir()
        server = cleanup.enter_context(judged_servers.postgres(place))
        load = f"pgbench -h 127.0.0.1 -p {server.port} -U postgres -n -T 66 -c 8 -f {script} postgres"
        words = ["judge", "--port", str(server.port), "--prove", "--", "taskset", "-c", LOAD_CPU, *load.split()]
        return proofs_after(words, folder)[0]


def proofs_after(words: Words, folder: Path) -> tuple[LevelProof, ...]:
    """Of the run that the command stores."""
    results = folder / "results"
    command, *rest = words
    done = subprocess.run(
        [
            *SCALE,
            command,
            *(rest[:1] if command == "sweep" else ()),
            "--results",
            str(results),
            *rest[command == "sweep" :],
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    if not results.exists() or not (run := next(results.iterdir(), None)):
        raise SystemExit(done.stderr)
    fit = read_run(run).fit
    if fit is None or not fit.proofs:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    return fit.proofs


@dataclass(frozen=True, kw_only=True)
class Case:
    what: str
    causes: tuple[str, ...]
    proof: Callable[[Path], LevelProof]


CASES = (
    Case(what="one core is full", causes=("cpu",), proof=swept("cpu,load", on_memory)),
    Case(what="WAL fsync on a capped disk", causes=("disk",), proof=swept("cpu,disk", on_capped_disk)),
    Case(what="one hot row", causes=(), proof=swept("cpu,load", with_hot_row)),
    Case(what="a load that computes", causes=("load",), proof=judged),
    Case(what="two connections", causes=("clients",), proof=swept("cpu,clients", with_two_clients)),
)


def main() -> None:
    """Every case, a row each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--only", default="", help="the cases whose words contain this")
    parser.add_argument(
        "--next", action="store_true", help="one and two cores: the rate at two, predicted and measured"
    )
    arguments = parser.parse_args()
    if arguments.next:
        predicted(arguments.times)
        return
    right = count = 0
    print("| limited by | should be | named | right | sentence | e |\n|---|---|---|---|---|---|", flush=True)
    for case in [case for case in CASES if arguments.only in case.what] * arguments.times:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o755)  # the server does not run as root
            one = case.proof(Path(folder))
        is_right = one.proof.causes == case.causes and not one.proof.reason
        right, count = right + is_right, count + 1
        values = ", ".join(f"{e.resource} {e.value:.2f} ({e.low:.2f} to {e.high:.2f})" for e in one.proof.elasticities)
        causes = [" and ".join(causes) or "none" for causes in (case.causes, one.proof.causes)]
        print(f"| {case.what} | {' | '.join(causes)} | {is_right} | {one.sentence} | {values} |", flush=True)
    print(f"\n{right} of {count} are right")


def predicted(times: int) -> None:
    """A row for each sweep."""
    print("| predicted | measured | ratio |\n|---:|---:|---:|", flush=True)
    for _ in range(times):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chmod(folder, 0o755)
            words = [*SWEEP.split(), "--replicates", "3", "--cores", "1..2", "--data-dir", "auto", "--prove=cpu,load"]
            found = next((one.next_level for one in proofs_after(words, Path(folder)) if one.next_level), None)
        if found is None:
            print("| - | - | - |", flush=True)
            continue
        print(f"| {found.predicted:.2f} | {found.measured:.2f} | {found.predicted / found.measured:.2f} |", flush=True)


if __name__ == "__main__":
    main()
