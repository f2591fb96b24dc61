"""What the measurements of the load generator share: programs, CPU seconds of a child, medians, tables.

Measurements print what they ran and what they saw; they judge nothing and are no tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "loadgen"))


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A child that has ended: its output and its CPU seconds."""

    output: str
    cpu_user_s: float
    cpu_system_s: float

    @property
    def cpu_s(self) -> float:
        return self.cpu_user_s + self.cpu_system_s


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The two load generators."""

    loadgen: Path
    tsdbperf: Path


def parser(description: str | None) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN"), help="scale-loadgen")
    p.add_argument("--tsdbperf", default=os.environ.get("TSDBPERF"), help="tsdbperf")
    p.add_argument("--runs", type=int, default=7, help="alternating runs (default 7)")
    return p


def programs(arguments: argparse.Namespace) -> Programs:
    beside = Path(sys.executable).parent / "scale-loadgen"
    loadgen = arguments.loadgen or (beside if beside.exists() else shutil.which("scale-loadgen"))
    tsdbperf = arguments.tsdbperf or shutil.which("tsdbperf")
    if not loadgen or not tsdbperf:
        sys.exit("name both programs: --loadgen PATH --tsdbperf PATH (or SCALE_LOADGEN, TSDBPERF)")
    return Programs(loadgen=Path(loadgen), tsdbperf=Path(tsdbperf))


def run(command: Sequence[str | Path], text: str = "") -> Finished:
    """Runs a child alone, so that the CPU seconds between are its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return Finished(
        output=done.stdout,
        cpu_user_s=after.ru_utime - before.ru_utime,
        cpu_system_s=after.ru_stime - before.ru_stime,
    )


def run_loadgen(programs: Programs, spec: dict[str, object], verb: str = "load") -> tuple[Finished, dict]:
    text = "".join(f"{key}={value}\n" for key, value in spec.items())
    done = run([programs.loadgen, verb, "-"], text)
    events = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
    return done, events[-1]


def rows_and_seconds(tsdbperf_output: str) -> tuple[int, float]:
    """From its line "Wrote N measurements in S seconds"."""
    found = re.search(r"Wrote +(\d+) measurements in ([\d.]+) seconds", tsdbperf_output)
    assert found, tsdbperf_output
    return int(found[1]), float(found[2])


def doubles(count: int) -> str:
    return ",".join(f"m{i + 1}:double" for i in range(count))


def spread(values: Sequence[float], form: str) -> str:
    """The median with the least and the greatest."""
    low, mid, high = min(values), statistics.median(values), max(values)
    return f"{mid:{form}} ({low:{form}}..{high:{form}})"


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    say("| " + " | ".join(head) + " |")
    say("|" + "---|" * len(head))
    for row in rows:
        say("| " + " | ".join(row) + " |")
