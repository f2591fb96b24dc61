"""A rate that settles late, on a real server: a busy loop shares its core for some seconds of the measuring, then ends.

    python bench/settling.py [--seconds 4] [--duration 8s]

Shows each second's rate, and which of them the trial's window was. It judges nothing: look at the table.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def measuring_began(folder: Path) -> bool:
    """Whether the running trial's journal says so."""
    return any('"phase": "measure"' in p.read_text(encoding="utf-8") for p in folder.rglob("journal.jsonl"))


def hogged_sweep(folder: Path, seconds: float, duration: str) -> Path:
    """One trial of PostgreSQL on CPU 0 beside a busy loop that ends so many seconds into the measuring; its run."""
    words = (
        "sweep",
        "cpu",
        "--target",
        "postgres",
        "--runtime",
        "process",
        "--cores",
        "1",
        "--server-cpus",
        "0",
        "--replicates",
        "1",
        "--warmup",
        "2s",
        "--duration",
        duration,
        "-y",
        "--json",
    )
    hog = subprocess.Popen([sys.executable, "-P", "-c", "while True: pass"])
    os.sched_setaffinity(hog.pid, {0})
    scale = subprocess.Popen(
        [str(Path(sys.executable).parent / "scale"), *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    try:
        while scale.poll() is None and not measuring_began(folder):
            time.sleep(0.1)
        time.sleep(seconds)
    finally:
        hog.kill()
        hog.wait()
    scale.wait(timeout=180)
    return next((folder / "results").iterdir())


def main() -> None:
    """The series, then the trial's record of its window."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of the measuring that the busy loop takes part in")
    parser.add_argument("--duration", default="8s")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = hogged_sweep(Path(folder), asked.seconds, asked.duration)
        trial = json.loads(next(run.glob("trials/*/trial.json")).read_text(encoding="utf-8"))
        m, verdict = trial["measurement"], trial["verdict"]
        start, end = m["transient_s"], m["transient_s"] + m["window_s"]
        for row in csv.DictReader(next(run.glob("trials/*/series.csv")).open(encoding="utf-8")):
            if row["rows_per_s"]:
                t_s = float(row["t_s"])
                where = "window" if start < t_s - 0.5 < end else "warm-up" if t_s < 0.5 else ""
                print(f"{t_s:7.1f} s {float(row['rows_per_s']):12,.0f} rows/s  {where}")
        print(
            f"window: {start:.2f} s .. {end:.2f} s, {m['rows_per_s']:,.0f} rows/s; before it "
            f"{m['transient_rate'] or 0:,.0f} rows/s; {verdict['kind']}"
        )
        print(*verdict["reasons"], sep="\n")
        checked = subprocess.run([str(Path(sys.executable).parent / "scale"), "verify", str(run)], check=False)
        raise SystemExit(checked.returncode)


if __name__ == "__main__":
    main()
