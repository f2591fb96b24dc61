"""The first sweep that a newcomer sees: how noisy it is, and whether it says the same thing twice.

    python bench/first_sweep.py [--pairs 10] [--cores 1..2] [--flags "--data-dir ram"] [--both "--duration 10s"]

    python bench/first_sweep.py --runs 20 [--target postgres] [--neighbour 0.2] [--long 20M]

The second form repeats the default sweep (`--quick`) and prints the spread of its headline, the speedup at the last
level, beside the range of its pairs and that of another day, which each run claims. Runs before it in the folder of
results are repetitions. --long measures the ratio once more with this number of rows at every level and nine
replicates, and counts the ranges of another day that contain it. --neighbour takes a share of a CPU in bursts
beside each of the runs (bench/neighbour.py), not beside the long sweep.

A pair is the sweep of `make sweep` on PostgreSQL, then the same sweep on the target null, whose rate is that of the
load generator alone. It prints each sweep's spread between replicates (pooled over the levels, of all trials with a
rate, since the control's trials are GENERATOR_BOUND by their nature), its VALID trials and how long it took, then the
medians. It judges nothing: on a machine that does something else both are noisy, and their ratio is what to look at.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from neighbour import neighbour

LONG_REPLICATES = 9

RUNNER = str(Path(__file__).resolve().parents[1] / "runner")


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The speedup at the last level, with the range of its pairs (of the long sweep: the 95 % interval), and that of
    another day."""

    speedup: float
    low: float
    high: float
    day: tuple[float, float] | None = None

    @property
    def half_percent(self) -> float:
        """Half of the range's width, in percent of the speedup."""
        return 100 * (self.high - self.low) / 2 / self.speedup


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One sweep. floor_percent: None where no level has two trials with a rate."""

    target: str
    floor_percent: float | None
    valid: int
    trials: int
    took_s: float
    headline: Headline | None = None


def sweep(target: str, flags: list[str], results: str) -> Seen:
    """Runs one sweep; its trials' verdicts may be anything."""
    words = [
        sys.executable,
        "-P",
        "-c",
        "import sys; sys.argv[0] = 'scale'; from scale_sweep.cli import main; main()",
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
        words, stdout=subprocess.PIPE, text=True, timeout=1200, check=False, env={**os.environ, "PYTHONPATH": RUNNER}
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
        headline=headline(run["fit"]),
    )


def headline(fit: dict | None) -> Headline | None:
    """What the run says of its last level; None if the fit has no second level, or no range."""
    points = (fit or {}).get("points") or []
    last = points[-1] if len(points) > 1 else {}
    pairs, day = last.get("pairs") or [], (fit or {}).get("another_day")
    low, high = (pairs[0], pairs[-1]) if pairs else (last.get("speedup_low"), last.get("speedup_high"))
    if low is None or high is None:
        return None
    return Headline(speedup=last["speedup"], low=low, high=high, day=(day["low"], day["high"]) if day else None)


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
    return f"{seen.target:10} spread {floor:>7}  {seen.valid} of {seen.trials} VALID  {seen.took_s:.0f} s"


def repeated(asked: argparse.Namespace) -> None:
    """The default sweep again and again, each with what it claims; then the summary."""
    flags = ["--cores", asked.cores, "--quick", *shlex.split(asked.flags), *shlex.split(asked.both)]
    found = []
    for _ in range(asked.runs):
        with neighbour(asked.neighbour):
            found.append(sweep(asked.target, flags, asked.results))
        one = found[-1]
        print(f"{claim(one.headline)}  {one.valid} of {one.trials} VALID  {one.took_s:.0f} s", flush=True)
    truth = long_sweep(asked) if asked.long else None
    for text in summary(found, truth):
        print(text)


def long_sweep(asked: argparse.Namespace) -> Headline | None:
    """The ratio from long trials that write the same rows at every level."""
    work = ["--rows", asked.long, "--replicates", str(LONG_REPLICATES), "--drift-check", "off"]
    return sweep(asked.target, ["--cores", asked.cores, *work, *shlex.split(asked.flags)], asked.results).headline


def claim(one: Headline | None) -> str:
    """A headline with its ranges."""
    if one is None:
        return "no speedup"
    day = f", another day {one.day[0]:.2f} to {one.day[1]:.2f}" if one.day else ""
    return f"{one.speedup:.2f} ({one.low:.2f} to {one.high:.2f}){day}"


def summary(found: list[Seen], truth: Headline | None) -> list[str]:
    """The spread of the headlines beside what the runs claim, and how often the range of another day held the next
    run, and the ratio of the long sweep."""
    said = [s.headline for s in found if s.headline]
    lines = [
        f"{len(said)} of {len(found)} runs say a speedup; {statistics.median(s.took_s for s in found):.0f} s a run"
    ]
    if said:
        speedups = [h.speedup for h in said]
        lines.append(
            f"headline: median {statistics.median(speedups):.2f}, from {min(speedups):.2f} to {max(speedups):.2f}; "
            f"half of the range of the pairs: {statistics.median(h.half_percent for h in said):.1f} % (median)"
        )
    if len(said) > 1:
        spread = 100 * statistics.stdev(speedups) / statistics.mean(speedups)
        lines.append(f"standard deviation of the headlines {spread:.1f} %")
        held = sum(h.day is not None and h.day[0] <= after.speedup <= h.day[1] for h, after in pairwise(said))
        lines.append(f"another day held the next run in {held} of {len(said) - 1}")
    if truth:
        inside = sum(h.day is not None and h.day[0] <= truth.speedup <= h.day[1] for h in said)
        lines.append(f"long sweep: {claim(truth)}; another day held it in {inside} of {len(found)} runs")
    return lines


def pairs(asked: argparse.Namespace) -> None:
    """The sweep beside its control, pair by pair, then the medians."""
    both = ["--cores", asked.cores, *shlex.split(asked.both)]
    found: dict[str, list[Seen]] = {asked.target: [], "null": []}
    for _ in range(asked.pairs):
        for target, flags in ((asked.target, shlex.split(asked.flags)), ("null", [])):
            found[target].append(sweep(target, [*both, *flags], asked.results))
            print(line(found[target][-1]), flush=True)
    for target, seen in found.items():
        floors = [s.floor_percent for s in seen if s.floor_percent is not None]
        middle = f"{statistics.median(floors):.1f} %" if floors else "none"
        valid, trials = sum(s.valid for s in seen), sum(s.trials for s in seen)
        print(f"{target}: median spread {middle} of {len(floors)} sweeps, {valid} of {trials} trials VALID")


def main() -> None:
    """One of the two forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=0, help="repeat the default sweep, without the control")
    parser.add_argument("--target", default="postgres")
    parser.add_argument("--neighbour", type=float, default=0.0, help="with --runs: its share of a CPU")
    parser.add_argument("--long", default="", metavar="ROWS", help="with --runs: rows of each trial of the long sweep")
    parser.add_argument("--cores", default="1..2")
    parser.add_argument("--flags", default="--data-dir ram", help="of the sweeps with a database")
    parser.add_argument("--both", default="", help="more flags of the sweeps")
    parser.add_argument("--results", default="results")
    asked = parser.parse_args()
    if asked.runs:
        repeated(asked)
    else:
        pairs(asked)


if __name__ == "__main__":
    main()
