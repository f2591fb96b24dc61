"""Fuzzes what the load generator reads: `make fuzz ARGS="DRIVER SECONDS"`, by libFuzzer under ASan and UBSan.

DRIVER is a harness of tests/loadgen/fuzz, or the beginning of the names of several; without it all run, and without
SECONDS each runs for 60. The stored corpus is where each begins. What a run finds is a file in build/fuzz/found: mend
the cause, and add the file to the corpus. `--replay` runs the stored corpus alone and needs no clang, only `cc`: that
is what CI does. Refuses to write to the corpus.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOADGEN = ROOT / "loadgen"
FUZZ = ROOT / "tests" / "loadgen" / "fuzz"
CORPUS = FUZZ / "corpus"
BUILD = ROOT / "build" / "fuzz"
ELSEWHERE = ("main.c", "spec_text.c", "loopback.c", "kernels.c", "drivers/stream.c")  # what the harnesses replace
CLANGS = ("clang", *(f"clang-{version}" for version in range(21, 11, -1)))
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
QUICKLY_BUILT = ("-O0",)  # after FLAGS: half the CPU time, and the corpus is small
FLAGS = ("-std=gnu11", "-O1", "-g1", "-w", "-D_GNU_SOURCE", '-DSCALE_VERSION="0"', "-I", str(LOADGEN), "-I", str(FUZZ))
PLAIN = ("-DKERNEL_SET=kernels_plain", '-DKERNEL_SET_NAME="plain"')
INPUT_BYTES_MAX = 4096
SECONDS = 60
ENDED_BAD = 1
LACKING = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], usage="tools/fuzz.py [DRIVER] [SECONDS]")
    parser.add_argument("driver", nargs="?", default="")
    parser.add_argument("seconds", nargs="?", type=int, default=SECONDS)
    parser.add_argument("--replay", action="store_true", help="run the stored corpus alone")
    parser.add_argument("--build", type=Path, default=BUILD, help="where to build")
    asked = parser.parse_args()
    names = [name for name in harnesses() if name.startswith(asked.driver)]
    if not names:
        print(f"fuzz: no harness {asked.driver}; there are {', '.join(harnesses())}", file=sys.stderr)
        return 2
    if asked.replay:
        return replay(build(asked.build / "replay", "cc", "replay.c", (*CHECKS, *QUICKLY_BUILT)), names)
    clang = next((found for found in map(shutil.which, CLANGS) if found and has_libfuzzer(found)), None)
    if clang is None:
        print("fuzz: no clang with libFuzzer", file=sys.stderr)
        print("  → apt-get install clang-14 libclang-rt-14-dev, or another version of both", file=sys.stderr)
        return LACKING
    checks = ("-fsanitize=fuzzer,address,undefined", *CHECKS[1:])
    program = build(asked.build / "libfuzzer", clang, "libfuzzer.c", checks)
    return fuzz(program, names, asked.seconds, asked.build / "found")


def harnesses() -> list[str]:
    """Their names: each has a folder of the corpus."""
    return sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())


def has_libfuzzer(clang: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "empty.c")
        source.write_text("int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b == 0 && n; }\n")
        command = [clang, "-fsanitize=fuzzer,address,undefined", str(source), "-o", str(Path(folder, "empty"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def build(folder: Path, compiler: str, entry: str, checks: Sequence[str]) -> Path:
    """The harnesses with one entry, compiled on all CPUs. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    own = [
        FUZZ / name
        for name in ("fuzz.c", "drivers.c", "parsers.c", "remote_write.c", "tape_libpq.c", "tape_stream.c", entry)
    ]
    theirs = [path for path in sorted(LOADGEN.rglob("*.c")) if str(path.relative_to(LOADGEN)) not in ELSEWHERE]
    jobs = [(path, ()) for path in (*own, *theirs)] + [(LOADGEN / "kernels.c", PLAIN)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda job: compiled(folder, compiler, job[0], (*checks, *job[1])), jobs))
    program = folder / "harnesses"
    subprocess.run([compiler, *checks, *map(str, objects), "-o", str(program), "-lm", "-lpthread", "-ldl"], check=True)
    return program


def compiled(folder: Path, compiler: str, source: Path, flags: Iterable[str]) -> Path:
    target = folder / f"{source.parent.name}-{source.stem}.o"
    subprocess.run([compiler, *FLAGS, *flags, "-c", str(source), "-o", str(target)], check=True)
    return target


def replay(program: Path, names: Sequence[str]) -> int:
    """Runs the stored corpus; prints how many files of each harness ran."""
    bad = 0
    for name in names:
        files = sorted(map(str, (CORPUS / name).iterdir()))
        done = subprocess.run([str(program), name, *files], capture_output=True, text=True, timeout=120, check=False)
        print(f"{name}: {done.stdout.strip() if done.returncode == 0 else done.stderr[-4000:]}")
        bad |= done.returncode != 0
    return ENDED_BAD if bad else 0


def fuzz(program: Path, names: Sequence[str], seconds: int, found: Path) -> int:
    """Runs each harness for so many seconds, with a corpus of its own that begins as the stored one."""
    found.mkdir(parents=True, exist_ok=True)
    bad = False
    for name in names:
        with tempfile.TemporaryDirectory(prefix="scale-fuzz-") as grown:
            begun = time.monotonic()
            done = subprocess.run(
                [
                    str(program),
                    grown,
                    str(CORPUS / name),
                    f"-max_total_time={seconds}",
                    f"-max_len={INPUT_BYTES_MAX}",
                    f"-artifact_prefix={found}/{name}-",
                    "-timeout=10",
                    "-rss_limit_mb=2048",
                    "-close_fd_mask=2",  # the harnesses' own messages
                ],
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "SCALE_FUZZ": name},
                check=False,
            )
            runs = next((line for line in reversed(done.stderr.splitlines()) if "DONE" in line), "").split("\t")[0]
            print(f"{name}: {runs.removeprefix('#')} runs in {time.monotonic() - begun:.0f} s", flush=True)
            if done.returncode != 0:
                bad = True
                print(done.stderr[-6000:], file=sys.stderr)
    return ENDED_BAD if bad else 0


if __name__ == "__main__":
    sys.exit(main())
