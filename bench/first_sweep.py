"""The first sweep that a newcomer sees, beside a control that has no database: how noisy each is, interleaved.

    python bench/first_sweep.py [--pairs 10] [--cores 1..2] [--flags "--data-dir ram"] [--both "--duration 10s"]

A pair is the sweep of `make sweep` on PostgreSQL, then the same sweep on the target null, whose rate is that of the
load generator alone. It prints each sweep's spread between replicates (pooled over the levels, of all trials with a
rate, since the control's trials are GENERATOR_BOUND by their nature), its VALID trials and how long it took, then the
medians. It judges nothing: on a machine that does something else both are noisy, and their ratio is what to look at.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One sweep. floor_percent: None where no level has two trials with a rate."""

    target: str
    floor_percent: float | None
    valid: int
    trials: int
    took_s: float


def sweep(target: str, flags: list[str], results: str) -> Seen:
    """Runs one sweep; its trials' verdicts may be anything."""
    words = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'scale'; from runner.cli import main; main()",
        "sweep",
        "cpu",
        "--target",
        target,
        "--no-metrics",
        "-y",
        "--json",
        "--results",
        results,
        *flags,
    ]
    began = time.monotonic()
    done = subprocess.run(
        words, stdout=subprocess.PIPE, text=True, timeout=1200, check=False, cwd=Path(__file__).resolve().parents[1]
    )
    took_s = time.monotonic() - began
    run = json.loads(done.stdout)
    kinds = [trial["verdict"]["kind"] for trial in run["trials"]]
    return Seen(
        target=target,
        floor_percent=spread_percent(run["trials"]),
        valid=kinds.count("VALID"),
        trials=len(kinds),
        took_s=took_s,
    )


def spread_percent(trials: list[dict]) -> float | None:
    """Relative standard deviation of the replicates around the mean of their level, pooled."""
    levels: dict[float, list[float]] = {}
    for trial in trials:
        rate = trial["measurement"]["rows_per_s"]
        if rate and trial["trial"]["role"] == "point":
            levels.setdefault(trial["trial"]["level"], []).append(rate)
    means = {level: statistics.mean(rates) for level, rates in levels.items()}
    squares = [(rate / means[level] - 1) ** 2 for level, rates in levels.items() if len(rates) > 1 for rate in rates]
    freedom = sum(len(rates) - 1 for rates in levels.values())
    return 100 * (sum(squares) / freedom) ** 0.5 if freedom else None


def line(seen: Seen) -> str:
    floor = "none" if seen.floor_percent is None else f"{seen.floor_percent:.1f} %"
    return f"{seen.target:10} noise floor {floor:>7}  {seen.valid} of {seen.trials} VALID  {seen.took_s:.0f} s"


def main() -> None:
    """The pairs, then the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--cores", default="1..2")
    parser.add_argument("--flags", default="--data-dir ram", help="of the sweep with a database")
    parser.add_argument("--both", default="", help="flags of both sweeps")
    parser.add_argument("--results", default="results")
    asked = parser.parse_args()
    both = ["--cores", asked.cores, *shlex.split(asked.both)]
    found: dict[str, list[Seen]] = {"postgres": [], "null": []}
    for _ in range(asked.pairs):
        for target, flags in (("postgres", shlex.split(asked.flags)), ("null", [])):
            found[target].append(sweep(target, [*both, *flags], asked.results))
            print(line(found[target][-1]), flush=True)
    for target, seen in found.items():
        floors = [s.floor_percent for s in seen if s.floor_percent is not None]
        middle = f"{statistics.median(floors):.1f} %" if floors else "none"
        valid, trials = sum(s.valid for s in seen), sum(s.trials for s in seen)
        print(f"{target}: median noise floor {middle} of {len(floors)} sweeps, {valid} of {trials} trials VALID")


if __name__ == "__main__":
    main()
