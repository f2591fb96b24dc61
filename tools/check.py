"""All gates besides the tests: style, format, types, C with warnings as errors, clang-tidy, structure, documents.

Every check runs, also after one that failed; two at a time. A failed check is shown whole, with the command to run it
by itself. Needs the extra `check` (`make check` installs it). Refuses to change a file: `--fix` is the only exception.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
BUILD = "build/check"
# The analyser looks into each function by itself: 1.4 s for a file that takes 18 s with all that it calls. Promises
# between functions are for the sanitizers.
SHALLOW = tuple(f"-extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow"))
STRUCTURE = (
    "tests/unit/test_structure.py",
    "tests/loadgen/test_loadgen_structure.py",
    "tests/unit/test_docs.py",
    "tests/unit/test_words.py",
)


@dataclass(frozen=True, kw_only=True)
class Check:
    """commands: one after the other until one fails."""

    name: str
    commands: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one check said. failed: the command that did, "" for none."""

    check: Check
    failed: str
    output: str
    seconds: float


def checks() -> tuple[Check, ...]:
    """The slowest first."""
    configure = ("cmake", "-S", "loadgen", "-B", BUILD, "-DSCALE_WERROR=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    return (
        Check(
            name="C: warnings are errors, clang-tidy",
            commands=(
                configure,
                ("cmake", "--build", BUILD, "--parallel", "2"),
                ("run-clang-tidy.py", "-quiet", "-j", "2", "-p", BUILD, *SHALLOW, *files("loadgen", ".c")),
            ),
        ),
        Check(name="types", commands=((sys.executable, "-P", "-m", "mypy"),)),
        Check(
            name="structure and documents",
            commands=(("lint-imports", "--no-cache"), (sys.executable, "-P", "-m", "pytest", "-q", *STRUCTURE)),
        ),
        Check(
            name="style",
            commands=(
                ("ruff", "check", "."),
                ("ruff", "format", "--check", "."),
                ("clang-format", "--dry-run", "--Werror", *c_files()),
            ),
        ),
    )


def files(folder: str, *endings: str) -> list[str]:
    """Files of a folder, by how their names end."""
    return [str(p.relative_to(ROOT)) for p in sorted((ROOT / folder).rglob("*")) if p.name.endswith(endings)]


def c_files() -> list[str]:
    """All that is written in C: the load generator, probes of its tests, benchmarks."""
    return [name for folder in ("loadgen", "tests", "bench") for name in files(folder, ".c", ".h")]


def outcome(check: Check) -> Outcome:
    """Runs a check."""
    begun, output = time.monotonic(), ""
    for command in check.commands:
        done = subprocess.run(command, cwd=ROOT, env=_environment(), text=True, capture_output=True, check=False)
        output += done.stdout + done.stderr
        if done.returncode:
            return Outcome(check=check, failed=shlex.join(command), output=output, seconds=time.monotonic() - begun)
    return Outcome(check=check, failed="", output=output, seconds=time.monotonic() - begun)


def fix() -> int:
    """What can be mended without a thought: the order of imports, unused ones, the format."""
    commands = (("ruff", "check", "--fix", "."), ("ruff", "format", "."), ("clang-format", "-i", *c_files()))
    return max(subprocess.run(one, cwd=ROOT, env=_environment(), check=False).returncode for one in commands)


def main() -> int:
    """1 when a check failed."""
    parser = argparse.ArgumentParser(description="Run all checks besides the tests.", allow_abbrev=False)
    parser.add_argument("--fix", action="store_true", help="run no check: sort imports, and format the files")
    if parser.parse_args().fix:
        return fix()
    with ThreadPoolExecutor(2) as pool:
        outcomes = []
        for found in pool.map(outcome, checks()):
            outcomes.append(found)
            print(f"{'FAILED' if found.failed else 'ok':8}{found.check.name} ({found.seconds:.0f} s)", flush=True)
            if found.failed:
                print(found.output, f"\n  by itself: {found.failed}\n", flush=True)
    return int(any(found.failed for found in outcomes))


def _environment() -> dict[str, str]:
    """Programs of this Python's environment come first, and the package is that of the checkout."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "runner"),
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
    }


if __name__ == "__main__":
    sys.exit(main())
