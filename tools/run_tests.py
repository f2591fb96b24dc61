"""The project's tests: those for a person who changed something, or all of them as continuous integration runs them.

    python tools/run_tests.py          unit and load generator, in three processes: a line of progress, then failures
    python tools/run_tests.py --all    everything
    python tools/run_tests.py ...      pytest with these arguments

Without arguments, tests that measure (`alone`) and those that draw many samples (`monte_carlo`) are left out.

`--all` runs all tests, as fast as two cores allow: four processes claim one file after the other, and a part of the
load generator's tests runs under sanitizers beside them; then `alone`. Most tests wait for servers and disks, so more
processes than cores run beside each other. Each is a plain pytest: some tests interrupt their own process, which ends
the worker of a distributed run. Tests marked `alone` measure: they run last, and nothing beside them. A few tests that
failed run once more after all others, and what they say there counts. Refuses to hide a process: each one's output is
shown whole, and so are the names of the tests that ran again.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))
from tools import claimed_tests  # noqa: E402

QUICK = ("tests/loadgen", "tests/unit")  # what a person runs
PROCESSES = 3  # a third of their time they wait, for deadlines and for servers
ALL_PROCESSES = 4  # servers and disks are waited for longer
ALONE = "mark.alone"  # stands in each file with such a test (tests/conftest.py): the others need not be collected
BIN = Path(sys.executable).parent
PYTEST = (sys.executable, "-m", "pytest", "--durations=15", "--durations-min=5")
AGAIN_AT_MOST = 6  # more failures than these are not a busy machine's: the suite fails at once
FAILED = 1  # pytest's exit code for failed tests; all others mean that it could not run them
# By sanitizer: what covers the most in about 100 CPU-seconds, builds included. `make sanitize` runs all of them.
SANITIZED = {
    "address,undefined": (  # parsers of specs, arguments and answers; the drivers' error paths
        "test_loadgen_spec",
        "test_loadgen_files",
        "test_loadgen_histogram",
        "test_tdengine_faults",
        "test_lines_driver",
        "test_cassandra_driver",
    ),
    "thread": (  # counters that threads share, several processes, requests that fail
        "test_loadgen_counts",
        "test_load_processes",
        "test_loadgen_simulated",
        "test_tdengine_faults",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs beside the tests; its output waits in a file."""

    name: str
    process: subprocess.Popen[str]
    output: IO[str]


def main(arguments: list[str]) -> int:
    """The exit code: 0 when all passed."""
    if arguments == ["--all"]:
        return all_tests()
    return subprocess.call([sys.executable, "-m", "pytest", *arguments]) if arguments else quick_tests()


def quick_tests() -> int:
    """Unit and load generator: the greatest exit code of the processes."""
    begun = time.monotonic()
    with ExitStack() as opened:
        claims = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.claimed_tests", "-p", "no:cacheprovider"]
        command += ["--no-header", *QUICK, "-m", "not alone and not monte_carlo"]
        environment = {**os.environ, claimed_tests.CLAIMS: str(claims)}
        parts = [started(f"process {n + 1}", command, opened, environment) for n in range(PROCESSES)]
        while any(part.process.poll() is None for part in parts):
            show_progress(progress(claims), begun)
            time.sleep(0.5)
        show_progress(progress(claims), begun, is_last=True)
        for part in parts:
            if part.process.returncode:
                part.output.seek(0)
                sys.stdout.write(part.output.read())
        return max(part.process.returncode for part in parts)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Numbers of tests. total: 0 while they are collected."""

    ended: int
    failed: int
    total: int


def progress(claims: Path) -> Progress:
    """What the processes have noted so far (tools/claimed_tests.py)."""
    marks = "".join(path.read_text(encoding="utf-8") for path in claims.glob(f"*{claimed_tests.ENDED}"))
    total = claims / claimed_tests.TOTAL
    known = total.read_text(encoding="utf-8") if total.exists() else ""
    return Progress(ended=marks.count("."), failed=marks.count("F"), total=int(known or 0))


def show_progress(now: Progress, begun: float, *, is_last: bool = False) -> None:
    """One line that is written over; where output is no terminal, only the last state."""
    minutes, seconds = divmod(int(time.monotonic() - begun), 60)
    counted = f"{now.ended} of {now.total} tests, {now.failed} failed" if now.total else "collecting the tests"
    if sys.stdout.isatty() or is_last:
        start = "\r" if sys.stdout.isatty() else ""
        print(f"{start}{counted}, {minutes} min {seconds:02} s", end="\n" if is_last else "", flush=True)


def all_tests() -> int:
    """The exit code of the first part that failed, 0 when all passed."""
    begun = time.monotonic()
    with ExitStack() as opened:
        notes = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        (notes / "claims").mkdir()
        environment = {**os.environ, claimed_tests.CLAIMS: str(notes / "claims")}
        first, *others = (f"process {n + 1}" for n in range(ALL_PROCESSES))
        parts = [started(name, tests(notes, name), opened, environment) for name in others]
        sanitizers = [started("sanitizers", sanitized(notes), opened)] if has_cmake() else []
        codes = {first: shown(first, subprocess.call(tests(notes, first), env=environment), begun)}
        codes |= {part.name: finished(part, begun) for part in (*parts, *sanitizers)}
        alone = [*PYTEST, "-o", f"cache_dir={notes / 'alone'}", *files_with_alone(), "-m", "alone"]
        codes["alone"] = shown("alone", subprocess.call(alone), begun)
        failed = {name: failures(notes / name) for name in (*codes, *SANITIZED)}
        return broken(codes, failed) or failed_again(notes, failed, begun)


def tests(notes: Path, name: str) -> list[str]:
    """The command of a process, which notes under its name which tests failed."""
    return [*PYTEST, "-p", "tools.claimed_tests", "-o", f"cache_dir={notes / name}", "tests", "-m", "not alone"]


def files_with_alone() -> list[str]:
    """The files of tests in which the mark stands."""
    found = sorted((ROOT / "tests").glob("*/test_*.py"))
    return [str(path.relative_to(ROOT)) for path in found if ALONE in path.read_text(encoding="utf-8")]


def failures(noted: Path) -> tuple[str, ...]:
    """The tests that failed in a part, as pytest names them."""
    path = noted / "v/cache/lastfailed"
    return tuple(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else ()


def broken(codes: dict[str, int], failed: dict[str, tuple[str, ...]]) -> int:
    """The first exit code that a few failed tests do not explain; 0 for none."""
    if sum(map(len, failed.values())) > AGAIN_AT_MOST:
        print("== too many tests failed to blame the others that ran beside them", flush=True)
        return FAILED
    noted = failed | {"sanitizers": tuple(test for name in SANITIZED for test in failed[name])}
    return next((code for name, code in codes.items() if code and not (code == FAILED and noted[name])), 0)


def failed_again(notes: Path, failed: dict[str, tuple[str, ...]], begun: float) -> int:
    """Runs the tests that failed once more, now with nothing beside them: 0 if they all pass."""
    plain = [test for name, names in failed.items() if name not in SANITIZED for test in names]
    groups = [name for name in SANITIZED if failed[name]]
    code = 0
    if plain:
        print("== again, with nothing beside them:", *plain, sep="\n   ", flush=True)
        code = shown("again", subprocess.call([*PYTEST, "-p", "no:cacheprovider", *plain]), begun)
    if groups:
        again = subprocess.call(sanitized(notes, groups, "--last-failed"))
        code = shown("again under sanitizers", again, begun) or code
    return code


def has_cmake() -> bool:
    """Says so if it is missing: `make check` installs it, and continuous integration runs that first."""
    found = shutil.which("cmake", path=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}") is not None
    if not found:
        print("== sanitizers: not run, because cmake is missing; `make check` installs it", flush=True)
    return found


def sanitized(notes: Path, groups: Iterable[str] = SANITIZED, *more: str) -> list[str]:
    """Builds the load generator under each group of sanitizers, and runs that group's files, behind all other tests.
    All groups run, also after one that failed; the exit code is the sum of theirs."""
    runs = []
    for sanitizers in groups:
        given = (
            f"SANITIZERS={sanitizers}",
            f"TESTS={' '.join(f'tests/loadgen/{name}.py' for name in SANITIZED[sanitizers])}",
            "JOBS=1",
            f"PATH={BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        )
        noted = ("-o", f"cache_dir={notes / sanitizers}", *more)
        words = ("env", *given, "nice", "-n", "5", "loadgen/sanitize.sh", sys.executable, "-m", "not alone", *noted)
        runs.append(f"{shlex.join(words)} || code=$((code + $?))")
    return ["sh", "-c", "; ".join(("code=0", *runs, "exit $code"))]


def started(name: str, command: list[str], opened: ExitStack, environment: Mapping[str, str] = os.environ) -> Part:
    """It runs until it ends or this program does."""
    output = opened.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True, env=environment)
    opened.callback(ended, process)
    return Part(name=name, process=process, output=output)


def ended(process: subprocess.Popen[str]) -> None:
    """Nothing runs on after an interrupt."""
    if process.poll() is None:
        process.terminate()
        process.wait()


def finished(part: Part, begun: float) -> int:
    """Waits for a part and shows what it wrote; its exit code."""
    code = part.process.wait()
    part.output.seek(0)
    sys.stdout.write(part.output.read())
    return shown(part.name, code, begun)


def shown(name: str, code: int, begun: float) -> int:
    """Says when a part ended; its exit code."""
    print(f"== {name}: exit code {code}, {time.monotonic() - begun:.0f} s after the start", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
