"""Whole sweeps of 1 to 64 cores of a machine that is not here, on simulated servers whose law is known.

    python bench/wide.py laws [--seeds 20] [--laws usl,smt] [--beside 3]    parameters, shapes and verdicts
    python bench/wide.py controller [--seconds 3] [--results DIR]           memory, CPU and report of 64 levels x 3
    python bench/wide.py plan                                               the time of a plan of 1..192

Goals: parameters within 10 % in 95 % of the seeds, the right verdicts and shape in 95 %; at most 300 MB and 5 % of a
CPU for the controller, a report of at most 2 MB; a plan in 2 s. Prints what it saw; it is no test.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
MACHINE = ROOT / "sweeps/machines/two-sockets.toml"
TO_64 = "1,2,4,8,12,16,20,24,32,40,48,64"
TO_128 = "1,8,16,32,48,64,80,96,112,128"
NEAR = 0.1
SPOILED = {"OTHER_PROCESSES", "HYPERVISOR", "GENERATOR_CPU", "GENERATOR_LATE"}
Kinds = Callable[[float], set[str]]  # the right verdicts of a level


def valid(level: float) -> set[str]:
    return {"VALID"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A law, and what a sweep must find of it."""

    knobs: Mapping[str, float] = field(default_factory=dict)
    law: str = ""  # "": the name of the case
    levels: str = TO_64
    window_s: float = 2
    shapes: frozenset[str]
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the chosen model
    figures: Mapping[str, float] = field(default_factory=dict)  # peak, maximum
    kinds: Kinds = valid
    cautioned: str = ""  # a word of some caution


def _after(most: float, kind: str, unsure: float = 1.5) -> Kinds:
    """Up to `most` the first is right, from `unsure` times that on the other; in between both."""
    between = {"VALID", kind, "RESOURCE_NOT_SATURATED"}
    return lambda n: {"VALID"} if n <= most else {kind} if n >= unsure * most else between


ANY = frozenset("linear contended retrograde falls knee break superlinear undecided".split())
CASES: Mapping[str, Case] = {
    "linear": Case(shapes=frozenset({"linear"}), parameters={"gamma": 20_000}),
    "usl": Case(
        knobs={"alpha": 0.02, "beta": 0.0004},
        shapes=frozenset({"retrograde", "contended"}),
        parameters={"gamma": 20_000, "alpha": 0.02, "beta": 0.0004},
    ),
    "amdahl": Case(
        law="usl",
        knobs={"alpha": 0.05, "beta": 0},
        shapes=frozenset({"contended"}),
        parameters={"gamma": 20_000, "alpha": 0.05},
    ),
    "smt": Case(levels=TO_128, shapes=ANY, parameters={"gamma": 20_000, "share": 0.25}, cautioned="SMT"),
    "numa": Case(shapes=ANY, cautioned="NUMA"),
    "lock": Case(knobs={"lock": 0.05}, shapes=ANY, kinds=_after(20, "SOFTWARE_BOTTLENECK", 2.2)),
    "bandwidth": Case(knobs={"most": 16}, shapes=ANY, figures={"maximum": 320_000}),
    "plateau": Case(knobs={"most": 16, "fall": 0.01}, shapes=ANY),
    "quota": Case(knobs={"most": 16}, shapes=ANY, kinds=_after(16, "THROTTLED", 1.1)),
    "warmup": Case(shapes=frozenset({"linear"}), parameters={"gamma": 20_000}),
    "drift": Case(knobs={"drift": 0.1, "drift_s": 60}, shapes=ANY, kinds=lambda n: {"VALID", "UNSTEADY"}),
    "pause": Case(levels="1,8,32", window_s=22, shapes=ANY, kinds=lambda n: {"VALID", "UNSTEADY"}),
    "states": Case(levels="1,8,32", window_s=22, knobs={"state_s": 5}, shapes=ANY, kinds=lambda n: {"UNSTEADY"}),
}


def words_of(case: Case, law: str, seed: int, results: Path, replicates: int) -> list[str]:
    knobs = [word for name, value in case.knobs.items() for word in ("--knob", f"{name}={value}")]
    fixed = "--target simulated --connections-check off --no-metrics -y".split()
    fixed += [] if law == "warmup" else ["--warmup", "1s"]
    window = f"{case.window_s:g}s"
    return [
        *(sys.executable, "-P", "-m", "scale_sweep", "sweep", "cpu", "--cores", case.levels, *fixed, "--duration"),
        *(window, "--window-max", window, "--machine", str(MACHINE), "--results", str(results)),
        *("--seed", str(seed), "--replicates", str(replicates), "--knob", f"law={case.law or law}", *knobs),
    ]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "runner")}


def swept(name: str, seed: int, replicates: int) -> list[str]:
    """What is wrong with the run of a seed."""
    case = CASES[name]
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="scale-bench-wide-") as folder:
        command = words_of(case, name, seed, Path(folder), replicates)
        done = subprocess.run(command, env=environment(), capture_output=True, text=True)
        runs = list(Path(folder).glob("*/fit.json"))
        if not runs:
            return [f"no fit: {done.stderr.strip()[-300:]}"]
        fit = json.loads(runs[0].read_text(encoding="utf-8"))
        with open(runs[0].with_name("points.csv"), encoding="utf-8") as file:
            return [*_of_fit(case, fit), *_of_trials(case, list(csv.DictReader(file)))]


def _of_fit(case: Case, fit: Mapping[str, Any]) -> list[str]:
    wrong = [] if fit["verdict"] in case.shapes else [f"shape {fit['verdict']} ({fit['chosen']})"]
    chosen = next((one for one in fit["models"] if one["model"] == fit["chosen"]), None)
    if not case.figures and not case.parameters and chosen is None and fit["verdict"] not in case.shapes:
        wrong.append("no model is chosen")
    found = {name: one["value"] for name, one in chosen["parameters"].items()} if chosen and case.parameters else {}
    pairs = [(name, found.get(name), truth) for name, truth in case.parameters.items()]
    pairs += [(name, (fit.get(name) or {}).get("value"), truth) for name, truth in case.figures.items()]
    wrong += [
        f"{name} {value} for {truth} ({fit['chosen']})"
        for name, value, truth in pairs
        if value is None or abs(value - truth) > NEAR * truth
    ]
    cautions = [*fit["cautions"], fit["sentence"]]
    return wrong if any(case.cautioned in one for one in cautions) else [*wrong, f"no caution of {case.cautioned}"]


def _of_trials(case: Case, rows: list[dict[str, str]]) -> list[str]:
    """Trials that this machine spoiled are not the law's."""
    kept = [row for row in rows if row["bottleneck"] not in SPOILED]
    print(f"  {len(rows) - len(kept)} of {len(rows)} trials spoiled by this machine", file=sys.stderr, flush=True)
    seen = {(float(row["cores"]), row["verdict"], row["bottleneck"]) for row in kept}
    return [f"{kind} ({cause}) at {level:g}" for level, kind, cause in sorted(seen) if kind not in case.kinds(level)]


def laws(given: argparse.Namespace) -> None:
    names = given.laws.split(",") if given.laws else list(CASES)
    with concurrent.futures.ThreadPoolExecutor(given.beside) as pool:
        asked = {
            pool.submit(swept, name, seed, given.replicates): (name, seed)
            for name in names
            for seed in range(1, given.seeds + 1)
        }
        right = dict.fromkeys(names, 0)
        for done in concurrent.futures.as_completed(asked):
            name, seed = asked[done]
            wrong = done.result()
            right[name] += not wrong
            if wrong:
                print(f"{name}, seed {seed}: {'; '.join(wrong)}", flush=True)
    print("| law | seeds | right in all |\n|---|---|---|")
    for name, count in right.items():
        print(f"| {name} | {given.seeds} | {count} |")


def controller(given: argparse.Namespace) -> None:
    case = Case(law="usl+numa", levels="1..64", window_s=given.seconds, shapes=ANY)
    words = words_of(case, "", 1, given.results, 3)
    process = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL)
    seen, began, most, cpu_s = psutil.Process(process.pid), time.monotonic(), 0, 0.0
    while process.poll() is None:
        try:
            with seen.oneshot():
                most, times = max(most, seen.memory_info().rss), seen.cpu_times()
            cpu_s = max(cpu_s, times.user + times.system)
        except psutil.Error:
            break
        time.sleep(0.2)
    wall_s = time.monotonic() - began
    run = max(given.results.iterdir(), key=lambda path: path.name)
    print(
        f"{run}: code {process.wait()}, {wall_s:.0f} s, controller {most / 1e6:.0f} MB and {cpu_s:.1f} s of CPU "
        f"({100 * cpu_s / wall_s:.1f} % of one), report.html {(run / 'report.html').stat().st_size / 1e6:.2f} MB"
    )


def plan(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder, "large.toml")
        machine.write_text("cores = 96\nthreads = 2\nnodes = 2\n", encoding="utf-8")
        words = ["plan", "cpu", "--cores", "1..192", "--target", "simulated", "--machine", str(machine)]
        for _ in range(3):
            began, before = time.monotonic(), os.times()
            subprocess.run([sys.executable, "-P", "-m", "scale_sweep", *words], env=environment(), check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            wall_s, after = time.monotonic() - began, os.times()
            cpu_s = sum(after[2:4]) - sum(before[2:4])  # of the child
            print(f"scale {' '.join(words[:-2])}: {wall_s:.2f} s, {cpu_s:.2f} s of CPU", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("laws")
    one.add_argument("--seeds", type=int, default=20)
    one.add_argument("--laws", default="")
    one.add_argument("--beside", type=int, default=3, help="sweeps at the same time")
    one.add_argument("--replicates", type=int, default=2)
    one.set_defaults(run=laws)
    one = commands.add_parser("controller")
    one.add_argument("--seconds", type=float, default=3)
    one.add_argument("--results", type=Path, default=Path("results"))
    one.set_defaults(run=controller)
    commands.add_parser("plan").set_defaults(run=plan)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
