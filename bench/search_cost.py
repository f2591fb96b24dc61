"""What does a search for capacity cost besides its loads? The time between its steps, and memory beside a single load.

    python bench/search_cost.py            about 4 minutes
    python bench/search_cost.py --seconds 2
    python bench/search_cost.py --busy     on a busy machine: all 20 steps, although others disturb them

The target is the simulated server of the null driver, so no database needs the CPUs. The time of a step is that from
the end of the last window to the end of its own, less its warm-up and its window. Memory is the greatest resident set
of the process `scale` from the begin of its only trial on; before, it measures the cost of memory pages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from measure import table

SERVER = ("--knob", "null_servers=4", "--knob", "null_service_us=2000")
LOAD = ("--connections", "64", "--rows-per-request", "1", "--arrival", "poisson", "--replicates", "1")
OFFERED = ("--rate", "1500", "--warmup", "1s", "--window-max", "0")
SEARCH = ("--slo", "p99 < 10ms", "--confirm", "off")
OK, NO_RESULT = 0, 10  # exit codes of a sweep: with and without a valid trial


@dataclass(frozen=True, kw_only=True)
class Swept:
    """A sweep that has ended. memory_mb: the greatest resident set of its command. gaps_s: see the file's first
    lines; empty for a single load."""

    memory_mb: float
    steps: int
    gaps_s: tuple[float, ...]


# The command, whose search never ends early because of steps that were left out.
TO_THE_END = (
    "from scale_sweep.capacity import search; search._is_hopeless = lambda probes: False; "
    "from scale_sweep.cli import main; main()"
)


def swept(seconds: float, load: tuple[str, ...], *, to_the_end: bool = False) -> Swept:
    """One sweep with one trial."""
    scale = Path(sys.executable).with_name("scale")
    command = [str(scale)] if scale.exists() else [sys.executable, "-P", "-m", "scale_sweep"]
    command = [sys.executable, "-P", "-c", TO_THE_END] if to_the_end else command
    words = ("sweep", "cpu", "--cores", "1", "--target", "null", *SERVER, *LOAD, "--duration", f"{seconds:g}s", *load)
    with tempfile.TemporaryDirectory(prefix="scale-bench-") as folder:
        process = subprocess.Popen(
            [*command, *words, "--no-metrics", "--json"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        while b"Results in" not in (line := process.stderr.readline()) and line:
            pass
        with ThreadPoolExecutor() as reading:
            reading.submit(process.stderr.read)
            pages = [resident_mb(process.pid)]
            while process.poll() is None:
                pages.append(resident_mb(process.pid))
                time.sleep(EVERY_S)
        if process.returncode not in (OK, NO_RESULT):
            sys.exit(f"the sweep ended with {process.returncode}")
        (trial,) = Path(folder).glob("results/*/trials/*")
        summaries = [summary_of(trial / "loadgen.jsonl"), *map(summary_of, sorted(trial.glob("step-*.jsonl")))]
    ends = [one["window_end_ns"] / 1e9 for one in summaries]
    lengths = [one["window_s"] + WARMUP_S for one in summaries[1:]]
    gaps = tuple(end - begin - length for (begin, end), length in zip(pairwise(ends), lengths, strict=True))
    return Swept(memory_mb=max(pages), steps=len(gaps), gaps_s=gaps)


WARMUP_S = 1.0  # of a step
EVERY_S = 0.2  # between two readings of the memory


def resident_mb(pid: int) -> float:
    """The resident set of a process; 0 of one that has ended."""
    words = Path(f"/proc/{pid}/statm").read_text().split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def summary_of(path: Path) -> dict[str, float]:
    """The summary in the lines of a load."""
    return next(lines_of(path))


def lines_of(path: Path) -> Iterator[dict[str, float]]:
    """The summaries of a file, the last one first."""
    for line in reversed(path.read_text().splitlines()):
        if '"event":"summary"' in line:
            yield json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="of a step, and of the single load (default 10)")
    parser.add_argument("--busy", action="store_true", help="all steps, although others disturb them")
    asked = parser.parse_args()
    seconds = asked.seconds
    single, search = swept(seconds, OFFERED), swept(seconds, SEARCH, to_the_end=asked.busy)
    rows = [
        ["a single load", "-", "-", "-", f"{single.memory_mb:.1f}", "-"],
        [
            "a search",
            str(search.steps),
            f"{statistics.median(search.gaps_s):.2f}",
            f"{max(search.gaps_s):.2f}",
            f"{search.memory_mb:.1f}",
            f"{search.memory_mb - single.memory_mb:+.1f}",
        ],
    ]
    table(("trial", "steps", "a step costs, s", "the longest, s", "memory, MB", "more than the single load, MB"), rows)


if __name__ == "__main__":
    main()
