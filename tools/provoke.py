"""Provokes `scale` with odd input, and judges how it ends: no traceback, in time, with a documented exit code and one
message with a remedy, and nothing left behind.

    python tools/provoke.py                        the stored corpus and 300 random cases
    python tools/provoke.py --count 1000 --seed 7  as many as you like; the seed decides them
    python tools/provoke.py --case 7:123           one case again; or its name in the corpus
    python tools/provoke.py kills --help           `kill -9` at random moments of sweeps

Cases run the command's real `main` in sandboxes (tools/provoking/sandbox.py), which needs root. Nothing of this is in
the wheel. A failing case prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))

from tools.provoking import command_lines, documents, kills, stored  # noqa: E402
from tools.provoking.case import Case, Outcome, outcome_of, to_line  # noqa: E402
from tools.provoking.corpus import corpus  # noqa: E402
from tools.provoking.oracle import judge  # noqa: E402

GENERATORS: tuple[tuple[Callable[[random.Random, str], Case], int], ...] = (
    (command_lines.command_line, 30),
    (documents.sweep_file, 15),
    (documents.taos_json, 10),
    (documents.iot_properties, 10),
    (documents.table, 5),
    (stored.results, 30),
    (stored.resumed, 10),
)


def case_of(seed: int, number: int) -> Case:
    """The random case of that number, the same whenever it is asked for."""
    name = f"{seed}:{number}"
    chance = random.Random(name)
    (generate,) = chance.choices([g for g, _ in GENERATORS], weights=[w for _, w in GENERATORS])
    return generate(chance, name)


def named(name: str) -> Case:
    """The case of a name. Raises SystemExit for an unknown one."""
    seed, colon, number = name.partition(":")
    if colon and seed.isdecimal() and number.isdecimal():
        return case_of(int(seed), int(number))
    for case in corpus():
        if case.name == name:
            return case
    raise SystemExit(f"no case {name!r} in the corpus")


class Worker:
    """A process that runs cases one after the other (tools/provoking/worker.py)."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tools.provoking.worker"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'runner'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, case: Case) -> Outcome:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(to_line(case))
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return outcome_of(line) if line else Outcome(broken="the worker ended")

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)


def outcomes(cases: Iterable[Case], jobs: int) -> Iterator[tuple[Case, Outcome]]:
    """Runs the cases with so many workers beside each other; in the order of the cases."""
    workers = [Worker() for _ in range(jobs)]
    free = list(workers)

    def run(case: Case) -> tuple[Case, Outcome]:
        worker = free.pop()
        try:
            return case, worker.run(case)
        finally:
            free.append(worker)

    try:
        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(run, cases)
    finally:
        for worker in workers:
            worker.close()


def shown(case: Case, outcome: Outcome, faults: Sequence[str]) -> str:
    """A failing case in words, with the command that repeats it."""
    lines = [f"FAILED {case.name}: scale {' '.join(ascii(word)[:200] for word in case.words)}"]
    lines += [f"  {fault}" for fault in faults]
    lines += [
        f"  {recipe}"[:300] for recipe in case.files if set(recipe) & {"set", "drop", "cut", "flip", "fifo", "link"}
    ]
    lines += [f"  | {line}" for line in (outcome.err or outcome.out).splitlines()[-6:]]
    return "\n".join((*lines, f"  again: python tools/provoke.py --case '{case.name}'"))


def provoke(cases: Sequence[Case], jobs: int, *, verbose: bool) -> int:
    """Runs and judges all cases. Returns how many failed."""
    begun, failed, done = time.monotonic(), 0, 0
    for case, outcome in outcomes(cases, jobs):
        done += 1
        faults = judge(case, outcome)
        if faults:
            failed += 1
            print(shown(case, outcome, faults), flush=True)
        if verbose:
            print(f"exit code {outcome.code}, {outcome.cpu_s:.2f} s of CPU\n{outcome.out}{outcome.err}", flush=True)
    seconds = time.monotonic() - begun
    print(f"{done} cases, {failed} failed, {seconds:.0f} s", flush=True)
    return failed


def main() -> int:
    """The exit code: 0, or 1 if a case failed."""
    if sys.argv[1:2] == ["kills"]:
        return kills.main(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="random cases, besides the corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", help="this case alone, and all that it prints")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases beside each other")
    parser.add_argument("--no-corpus", action="store_true", help="random cases alone")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root, for its sandboxes")
    if asked.case:
        return min(provoke([named(asked.case)], 1, verbose=True), 1)
    cases = [] if asked.no_corpus else list(corpus())
    cases += [case_of(asked.seed, number) for number in range(asked.count)]
    return min(provoke(cases, asked.jobs, verbose=False), 1)


if __name__ == "__main__":
    sys.exit(main())
