"""Hardware counters of one CPU under programs whose need of memory is known: which MEMORY_BANDWIDTH rests on.

    python bench/counters.py [--cpu N] [--seconds 5] [--record FILE]

Needs cc, and a kernel that gives the counters (as root, or with perf_event_paranoid at most 0). It judges nothing: look
at the table. --record keeps the counters, second by second: tests/unit/recorded/counters.json is such a file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import subprocess
import tempfile
import time
from pathlib import Path

from scale_sweep.machine.sampling.counters import CpuCounters

PROGRAM = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N = 1 << 25 };                     /* 256 MiB of 8 bytes each: more than any last-level cache here */
static uint64_t mix(uint64_t x) { x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 33; return x; }
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    uint64_t *a = malloc(8ULL * N), *b = malloc(8ULL * N);
    for (uint64_t i = 0; i < N; i++) a[i] = b[i] = i;
    for (uint64_t i = N - 1; i > 0; i--) {  /* Sattolo: one cycle through all of a */
        uint64_t j = mix(i) % i, t = a[i]; a[i] = a[j]; a[j] = t;
    }
    volatile uint64_t sink = 0;
    if (write(1, "\n", 1) != 1) return 1;   /* ready */
    for (uint64_t at = 0, sum = 0;;) {
        if (!strcmp(what, "stream"))      for (uint64_t i = 0; i < N; i++) b[i] = a[i] + 3;
        else if (!strcmp(what, "gather")) for (uint64_t i = 0; i < N; i++) sum += b[mix(i + at) % N];
        else if (!strcmp(what, "chase"))  for (uint64_t i = 0; i < N; i++) at = a[at];
        else if (!strcmp(what, "cache"))  for (uint64_t i = 0; i < N; i++) sum += b[mix(i) % 2048];
        else                              for (uint64_t i = 0; i < N; i++) sum += mix(sum + i);
        sink += sum + at + b[N / 2]; at++; at %= N;
    }
}
"""
READY_S = 60.0
WHAT = {
    "compute": "arithmetic in registers",
    "cache": "random reads of 16 KiB",
    "chase": "a chain of pointers through 256 MiB, one miss at a time",
    "stream": "256 MiB read, 256 MiB written, in order",
    "gather": "independent random reads of 256 MiB",
}


def recorded(program: Path, what: str, cpu: int, seconds: float) -> list[dict[str, float]]:
    """A reading a second, with its time, from when the program has filled its memory."""
    words = ["taskset", "-c", str(cpu), str(program), what]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as running, CpuCounters((cpu,)) as counters:
        try:
            if not select.select([running.stdout], [], [], READY_S)[0]:
                raise SystemExit(f"{what} was not ready within {READY_S:g} s")
            found = []
            for _ in range(round(seconds) + 1):
                found.append({"t_s": time.monotonic(), **counters.read()})
                time.sleep(1.0)
        finally:
            running.kill()
    start = found[0]
    return [{name: round(value - start[name], 3) for name, value in one.items()} for one in found]


def processor() -> str:
    """As /proc/cpuinfo names it."""
    match = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match.group(1) if match else os.uname().machine


def main() -> None:
    """Every program, a row each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    print("| program | instructions a cycle | cycles a miss | misses × 64 B |\n|---|---|---|---|")
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program")
        compile_it = ["cc", "-O2", "-x", "c", "-", "-o", str(program)]
        subprocess.run(compile_it, input=PROGRAM, text=True, check=True)
        for what, words in WHAT.items():
            told[what] = recorded(program, what, arguments.cpu, arguments.seconds)
            last = told[what][-1]
            if "llc_misses" not in last:
                raise SystemExit("the kernel gives no hardware counters here")
            each = last["instructions"] / last["cycles"]
            print(
                f"| {words} | {each:.2f} | {last['cycles'] / last['llc_misses']:,.0f} | "
                f"{64e-9 * last['llc_misses'] / last['t_s']:.2f} GB/s |",
                flush=True,
            )
    if arguments.record:
        lines = ",\n".join(f"{json.dumps(what)}: {json.dumps(series)}" for what, series in told.items())
        arguments.record.write_text(f'{{"processor": {json.dumps(processor())},\n"series": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
