"""Is a comparison less noisy if A and B run at the same moment? Two equal PostgreSQL servers, so the truth is 1.

    python bench/duet.py [--blocks 16] [--window 4] [--neighbour 0.3]

Each block takes the same time in both orders. ABBA: one server at a time on CPU 0, its pgbench on CPU 1, in the order
A B B A. Duet: both at once, each with its pgbench on a CPU of its own, in two rounds with sides exchanged and windows
twice as long. Prints the standard deviation of ln(A/B) over the blocks, and the ratio of the variances. Needs Debian's
postgresql and root, and runs the servers as another user. Beside a neighbour (bench/neighbour.py) of this share.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from neighbour import neighbour

BIN = Path("/usr/lib/postgresql/15/bin")
USER = "nobody"
PORTS = {"A": 56431, "B": 56432}


def as_user(*words: str, cpu: int | None = None) -> list[str]:
    """The command as another user, on one CPU."""
    on = ["taskset", "-c", str(cpu)] if cpu is not None else []
    return ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups", *on, *words]


def started(folder: Path, name: str) -> None:
    """A server with the vendor's settings and pgbench's tables."""
    place = folder / name
    connect = ["-h", "127.0.0.1", "-p", str(PORTS[name]), "-U", USER]
    run(as_user(str(BIN / "initdb"), "-D", str(place), "-A", "trust", "-U", USER))
    options = f"-p {PORTS[name]} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
    run(as_user(str(BIN / "pg_ctl"), "-D", str(place), "-w", "-l", str(place / "log"), "-o", options, "start"))
    run(as_user("createdb", *connect, "bench"))
    run(as_user("pgbench", *connect, "-q", "-i", "-s", "10", "bench"))


def run(words: list[str]) -> str:
    """Its output. Raises CalledProcessError."""
    return subprocess.run(words, check=True, text=True, capture_output=True, timeout=120).stdout


def pinned(folder: Path, name: str, cpu: int) -> None:
    """All processes of a server on one CPU; those of later connections inherit it."""
    postmaster = int((folder / name / "postmaster.pid").read_text().split()[0])
    children = run(["pgrep", "-P", str(postmaster)]).split()
    for pid in (str(postmaster), *children):
        subprocess.run(["taskset", "-cp", str(cpu), pid], check=False, capture_output=True)


def rate(folder: Path, name: str, server_cpu: int, client_cpu: int, seconds: float) -> float:
    """Transactions per second."""
    pinned(folder, name, server_cpu)
    words = ["pgbench", "-h", "127.0.0.1", "-p", str(PORTS[name]), "-U", USER, "-S", "-c", "2", "-T", f"{seconds:g}"]
    out = run(as_user(*words, "bench", cpu=client_cpu))
    found = re.search(r"tps = ([0-9.]+)", out)
    assert found, out
    return float(found.group(1))


def abba(folder: Path, seconds: float) -> float:
    """ln(A/B) of a block, one after the other."""
    logs: dict[str, list[float]] = {"A": [], "B": []}
    for name in "ABBA":
        logs[name].append(math.log(rate(folder, name, 0, 1, seconds)))
    return statistics.mean(logs["A"]) - statistics.mean(logs["B"])


def duet(folder: Path, seconds: float) -> float:
    """ln(A/B) of a block, both at once, with sides exchanged."""
    logs: dict[str, list[float]] = {"A": [], "B": []}
    for sides in ({"A": 0, "B": 1}, {"A": 1, "B": 0}):
        with ThreadPoolExecutor(2) as both:
            futures = {n: both.submit(rate, folder, n, cpu, cpu, 2 * seconds) for n, cpu in sides.items()}
            for name, future in futures.items():
                logs[name].append(math.log(future.result()))
    return statistics.mean(logs["A"]) - statistics.mean(logs["B"])


def main() -> None:
    """Both orders in turn, then their spread."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--window", type=float, default=4.0)
    parser.add_argument("--neighbour", type=float, default=0.3)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="duet-", dir="/dev/shm"))
    shutil.chown(folder, USER)
    found: dict[str, list[float]] = {"ABBA": [], "duet": []}
    try:
        for name in PORTS:
            started(folder, name)
        with neighbour(asked.neighbour):
            for _ in range(asked.blocks):
                found["ABBA"].append(abba(folder, asked.window))
                found["duet"].append(duet(folder, asked.window))
                print(f"{found['ABBA'][-1]:+.4f} {found['duet'][-1]:+.4f}", flush=True)
                time.sleep(0.5)
    finally:
        for name in PORTS:
            subprocess.run(
                as_user(str(BIN / "pg_ctl"), "-D", str(folder / name), "-m", "immediate", "stop"), check=False
            )
        shutil.rmtree(folder, ignore_errors=True)
    spread = {order: statistics.stdev(ratios) for order, ratios in found.items()}
    for order, ratios in found.items():
        print(f"{order}: mean {100 * statistics.mean(ratios):+.2f} %, standard deviation {100 * spread[order]:.2f} %")
    print(f"variance of the duet over that of ABBA: {(spread['duet'] / spread['ABBA']) ** 2:.2f}")


if __name__ == "__main__":
    main()
