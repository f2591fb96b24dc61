"""A report of a run with many trials: time, memory and size, for `scale report` in a process of its own.

The run is made up (tests/unit/raw_run.py): 100 levels, replicates to reach --trials, a second's rate and a sample for
each second of its window, raw files included. Goal: 1,000 trials in under 10 s and 1 GiB.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))


def measured(words: list[str]) -> tuple[float, float, float]:
    """Wall and CPU seconds, and the most memory in MiB, of one call of the command."""
    code = "import sys; sys.argv[0] = 'scale'; from scale_sweep.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runner")}
    began, before = time.monotonic(), os.times()
    subprocess.run([sys.executable, "-P", "-c", code, *words], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, cpu, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Makes the run once, then calls the command several times."""
    from tests.unit.raw_run import Shape, raw_run

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60, help="of each trial, warm-up included")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="scale-bench-report-") as folder:
        levels = min(100, given.trials)
        path = Path(
            raw_run(
                Path(folder),
                shape=Shape(levels=levels, replicates=given.trials // levels, seconds=given.seconds),
                report=False,
            ).path
        )
        for command in ("report", "verify"):
            for _ in range(given.runs):
                wall, cpu, memory = measured([command, str(path)])
                size = (path / "report.html").stat().st_size / 1e6
                print(
                    f"scale {command}: {given.trials} trials of {given.seconds} s: {wall:.1f} s "
                    f"({cpu:.1f} s of CPU), {memory:.0f} MiB so far, "
                    f"report.html {size:.1f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
