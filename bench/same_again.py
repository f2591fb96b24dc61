"""A/A on this machine: the same sweep several times, every pair compared. How often is a difference called that is not
there?

The false alarm rate that `scale compare` prints is of the noise inside the runs; this one also has what changes between
sessions, which is why one run a side is not judged. Run it with the Python of the installation, on a machine that does
nothing else: `.venv/bin/python bench/same_again.py --runs 5 -- --target postgres --cores 1..2 --duration 10s`. With
`--results DIR` the runs are kept and those that are there already count too, so that it can be done in pieces
(`--runs 0` only compares).
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SCALE = Path(sys.executable).parent / "scale"


def scale(*words: str) -> subprocess.CompletedProcess[str]:
    """One call; its codes are read by the caller."""
    return subprocess.run([str(SCALE), *words], capture_output=True, text=True, check=False)


def main() -> None:
    """Sweeps, then a line for each pair, then the rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--results", default="")
    parser.add_argument("--allowed", default="5%")
    parser.add_argument("sweep", nargs="*", help="options of `scale sweep cpu`, after --")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="scale-bench-again-") as temporary:
        folder = given.results or temporary
        for _ in range(given.runs):
            done = scale("sweep", "cpu", *given.sweep, "--results", folder, "-y")
            print(done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr.strip(), flush=True)
        names = sorted(p.name for p in Path(folder).iterdir())
        called = failed = pairs = 0
        for a, b in itertools.combinations(names, 2):
            done = scale("compare", a, b, "--results", folder, "--json")
            if done.returncode:
                print(f"{a} {b}: {done.stderr.strip().splitlines()[0]}")
                continue
            found = json.loads(done.stdout)
            ratios = [p for p in (*found["points"], found["overall"]) if p and p["ratio"]]
            low = 1 - float(given.allowed.rstrip("%")) / 100
            pairs, failed = pairs + 1, failed + any(p["differs"] and p["ratio"] < low for p in ratios)
            called += any(p["differs"] for p in ratios)
            print(" ".join(f"{p['ratio']:.3f}{'*' if p['differs'] else ''}" for p in ratios), flush=True)
        print(f"{called} of {pairs} pairs called different; {failed} slower than allowed")


if __name__ == "__main__":
    main()
