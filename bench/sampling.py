"""What does one sample of a server with many threads cost? CPU time of this project's readers beside psutil's.

    python bench/sampling.py                64 processes, 2 minutes at most
    python bench/sampling.py --processes 500

The processes sleep. Both sides read the same of each: CPU time, name and context switches of every thread. They take
turns, and the table has medians. Refuses to say what a sample costs the server: the kernel locks a process while its
files are read.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import psutil
from measure import table

from scale_sweep.machine.sampling.processes import ProcessTree, ThreadReader

TURNS = 50
STARTS = """
import subprocess, sys, time
kept = [subprocess.Popen(["sleep", "120"]) for _ in range(int(sys.argv[1]))]
time.sleep(120)
"""


def by_psutil(pids: Sequence[int]) -> None:
    """The figures of every thread by psutil."""
    for pid in pids:
        for thread in psutil.Process(pid).threads():
            one = psutil.Process(thread.id)
            with one.oneshot():
                one.name(), one.cpu_times(), one.num_ctx_switches()


def tree_by_psutil(root: int) -> None:
    """CPU time and memory of a process and its descendants by psutil."""
    whole = psutil.Process(root)
    for one in (whole, *whole.children(recursive=True)):
        with one.oneshot():
            one.cpu_times(), one.memory_info()


def cpu_ms(read: Callable[[], object]) -> float:
    """The CPU time of one call, in ms."""
    began_s = time.process_time()
    read()
    return 1e3 * (time.process_time() - began_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=64)
    count = parser.parse_args().processes
    root = subprocess.Popen([sys.executable, "-P", "-c", STARTS, str(count)])
    try:
        children: list[psutil.Process] = []
        while len(children) < count:
            time.sleep(0.1)
            children = psutil.Process(root.pid).children()
        pids = [child.pid for child in children]
        threads, tree = ThreadReader(), ProcessTree((root.pid,))
        pairs = {
            f"{count} threads": (lambda: threads.read(pids), lambda: by_psutil(pids)),
            f"a tree of {count + 1} processes": (tree.read, lambda: tree_by_psutil(root.pid)),
        }
        rows = []
        for name, (ours, other) in pairs.items():
            taken = [(cpu_ms(ours), cpu_ms(other)) for _ in range(TURNS)]
            own, theirs = (statistics.median(side) for side in zip(*taken, strict=True))
            rows.append((name, f"{own:.2f}", f"{theirs:.2f}", f"{theirs / own:.1f}"))
        table(("one reading of", "scale, ms", "psutil, ms", "psutil / scale"), rows)
    finally:
        for child in psutil.Process(root.pid).children():
            child.kill()
        root.kill()
        root.wait()


if __name__ == "__main__":
    main()
