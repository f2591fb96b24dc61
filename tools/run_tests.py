"""The project's tests: those for a person who changed something, or all of them as continuous integration runs them.

    python tools/run_tests.py          unit and load generator, in three processes
    python tools/run_tests.py --all    everything
    python tools/run_tests.py ...      pytest with these arguments

Without arguments, tests that measure (`alone`) and those that draw many samples (`monte_carlo`) are left out.

`--all` runs all tests: four processes claim one file after the other, and a part of the load generator's tests runs
under sanitizers beside them; then `alone`, with nothing beside it, because it measures. Each is a plain pytest: some
tests interrupt their own process, which ends the worker of a distributed run.

A test's name appears when it fails, and what a process wrote when all have ended. After an interrupt (SIGINT, SIGTERM,
SIGHUP) each process is interrupted once, so that its tests remove what they made, and the names appear again.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))
from tools import claimed_tests  # noqa: E402

# Python is started with -P, so the plugin of the tests comes from there.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

QUICK = ("tests/loadgen", "tests/unit")  # what a person runs
PROCESSES = 3  # a third of their time they wait, for deadlines and for servers
ALL_PROCESSES = 4  # servers and disks are waited for longer
ALONE = "mark.alone"  # stands in each file with such a test (tests/conftest.py): the others need not be collected
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
NOTING = ("-p", "tools.claimed_tests", "-p", "no:cacheprovider")
PYTEST = (sys.executable, "-P", "-m", "pytest", *NOTING)
ALL = (*PYTEST, "--durations=15", "--durations-min=5")
TESTS = "tests"  # the folder of notes of all processes that share the tests
INTERRUPTED = 130
CLEANING_S, LINE_S = 20.0, 60.0  # for an interrupted process to end; between lines of progress without a terminal
# By sanitizer: what covers the most in about 100 CPU-seconds, builds included. `make sanitize` runs all of them.
SANITIZED = {
    "address,undefined": (  # parsers of specs, arguments and answers; the drivers' error paths
        "test_loadgen_spec", "test_loadgen_files", "test_loadgen_histogram", "test_tdengine_faults",
        "test_driver_faults",
    ),
    "thread": ("test_loadgen_counts", "test_loadgen_simulated"),  # counters that threads share
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Run:
    """notes: a folder for each set of tests, in which its processes note what ended (tools/claimed_tests.py)."""

    notes: Path
    begun: float
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A command that runs beside others; its output waits in a file."""

    name: str
    process: subprocess.Popen[bytes]
    output: IO[str]


def main(arguments: list[str]) -> int:
    """The exit code: 0 when all passed."""
    if arguments not in ([], ["--all"]):
        return subprocess.call([sys.executable, "-P", "-m", "pytest", *arguments])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as notes:
        run = Run(notes=Path(notes), begun=time.monotonic())
        try:
            try:
                return all_tests(run) if arguments else quick_tests(run)
            finally:
                end(run.parts)
        except KeyboardInterrupt:
            names = progress(run.notes).failed
            show(run.parts if names else [])
            print(f"\n== interrupted; failed until then: {len(names)}", *names, sep="\n   ", flush=True)
            return INTERRUPTED


def quick_tests(run: Run) -> int:
    """Unit and load generator."""
    command = [*PYTEST, "-q", "--no-header", *QUICK, "-m", "not alone and not monte_carlo"]
    parts = [started(run, f"process {n + 1}", command, TESTS) for n in range(PROCESSES)]
    first = code(run, parts, only_failed=True)
    for reason, count in Counter(noted(run.notes, claimed_tests.SKIPPED)).most_common():
        print(f"skipped {count}: {reason}")
    return first


def all_tests(run: Run) -> int:
    """Everything."""
    command = [*ALL, "tests", "-m", "not alone"]
    parts = [started(run, f"process {n + 1}", command, TESTS) for n in range(ALL_PROCESSES)]
    parts += [started(run, "sanitizers", sanitized(run.notes), "sanitizers")] if has_cmake() else []
    first = code(run, parts)
    alone = [*ALL, *files_with_alone(), "-m", "alone"]
    return code(run, [started(run, "alone", alone, "alone")]) or first


def files_with_alone() -> list[str]:
    """The files of tests in which the mark stands."""
    found = sorted((ROOT / "tests").glob("*/test_*.py"))
    return [str(path.relative_to(ROOT)) for path in found if ALONE in path.read_text(encoding="utf-8")]


def has_cmake() -> bool:
    """Says so if it is missing: `make check` installs it, and continuous integration runs that first."""
    if shutil.which("cmake", path=PATH):
        return True
    print("== sanitizers: not run, because cmake is missing; `make check` installs it", flush=True)
    return False


def sanitized(notes: Path) -> list[str]:
    """Builds the load generator under each group of sanitizers, and runs that group's files, behind all other tests.
    All groups run, also after one that failed; the exit code is the sum of theirs."""
    runs = []
    for sanitizers, names in SANITIZED.items():
        (notes / sanitizers).mkdir()
        given = (
            f"{claimed_tests.CLAIMS}={notes / sanitizers}",
            f"{claimed_tests.PASSED_BEFORE}=",  # not under sanitizers
            f"SANITIZERS={sanitizers}",
            f"TESTS={' '.join(f'tests/loadgen/{name}.py' for name in names)}",
            "JOBS=1",
            f"PATH={PATH}",
        )
        words = ("env", *given, "nice", "-n", "5", "loadgen/sanitize.sh", sys.executable, "-m", "not alone", *NOTING)
        runs.append(f"{shlex.join(words)} || code=$((code + $?))")
    return ["sh", "-c", "; ".join(("code=0", *runs, "exit $code"))]


def started(run: Run, name: str, command: Sequence[str], folder: str) -> Part:
    """It runs until it ends or this program does. Its process group is its own: an interrupt reaches it once."""
    (run.notes / folder).mkdir(exist_ok=True)
    environment = {**os.environ, claimed_tests.CLAIMS: str(run.notes / folder)}
    output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, process_group=0
    )
    run.parts.append(Part(name=name, process=process, output=output))
    return run.parts[-1]


def end(parts: Sequence[Part]) -> None:
    """Interrupts what still runs, and kills what does not end in time or before another interrupt."""
    running = [part.process for part in parts if part.process.poll() is None]
    for process in running:
        os.killpg(process.pid, signal.SIGINT)
    deadline = time.monotonic() + CLEANING_S
    for process in running:
        try:
            process.wait(max(0, deadline - time.monotonic()))
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def code(run: Run, parts: Sequence[Part], *, only_failed: bool = False) -> int:
    """Waits for the parts and shows what they wrote; the first exit code that is not 0, or 0."""
    named: set[str] = set()
    next_line = run.begun
    is_running = True
    while is_running:
        is_running = any(part.process.poll() is None for part in parts)
        now = progress(run.notes)
        for name in (name for name in now.failed if name not in named):
            print(f"\rFAILED {name:<70}" if sys.stdout.isatty() else f"FAILED {name}", flush=True)
            named.add(name)
        if sys.stdout.isatty() or not is_running or time.monotonic() > next_line:
            next_line = time.monotonic() + LINE_S
            show_progress(now, run.begun, is_last=not is_running)
        time.sleep(0.5 if is_running else 0)
    show([part for part in parts if part.process.returncode or not only_failed])
    return next((part.process.returncode for part in parts if part.process.returncode), 0)


def show(parts: Sequence[Part]) -> None:
    """What each wrote."""
    for part in parts:
        part.output.seek(0)
        sys.stdout.write(part.output.read())
        print(f"== {part.name}: exit code {part.process.returncode}", flush=True)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How many tests ended, of how many (0 while they are collected), and which failed."""

    ended: int
    failed: tuple[str, ...]
    total: int


def progress(notes: Path) -> Progress:
    """What the processes have noted so far."""
    return Progress(
        ended=len(noted(notes, claimed_tests.ENDED)),
        failed=tuple(dict.fromkeys(noted(notes, claimed_tests.FAILED))),
        total=sum(int(line.split()[0]) for line in noted(notes, claimed_tests.TOTAL)),
    )


def noted(notes: Path, name: str) -> list[str]:
    """The lines of files with this end of their names, and the set of tests if it is not the first."""
    return [
        line if path.parent.name == TESTS else f"{line} ({path.parent.name})"
        for path in sorted(notes.glob(f"*/*{name}"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def show_progress(now: Progress, begun: float, *, is_last: bool) -> None:
    """One line that is written over where output is a terminal."""
    minutes, seconds = divmod(int(time.monotonic() - begun), 60)
    counted = f"{now.ended} of {now.total} tests, {len(now.failed)} failed" if now.total else "collecting the tests"
    start, stop = ("\r", "\n" if is_last else "") if sys.stdout.isatty() else ("", "\n")
    print(f"{start}{counted}, {minutes} min {seconds:02} s", end=stop, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
