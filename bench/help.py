"""What the help of each command costs: CPU seconds of the process (user + system), several times. Goal: below 0.35 s.

Run it with the Python of the installation: `.venv/bin/python bench/help.py`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from scale_sweep.cli.commands import COMMANDS

SCALE = Path(sys.executable).parent / "scale"


def cpu_seconds(words: list[str]) -> float:
    """Of one call, children included."""
    before = os.times()
    subprocess.run([str(SCALE), *words], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Median (least..greatest) for several commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11)
    runs = parser.parse_args().runs
    for words in (["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)):
        cpu_seconds(words)  # the files are in the page cache from here on
        found = sorted(cpu_seconds(words) for _ in range(runs))
        print(f"scale {' '.join(words)}: {statistics.median(found):.3f} s of CPU ({found[0]:.3f}..{found[-1]:.3f})")


if __name__ == "__main__":
    main()
