"""What the exporter costs: CPU time of a process that serves a running sweep, read every second by another process.

    python bench/exporter.py --seconds 30 --runs 3

The process takes a sample and an interval every second, as a trial gives them, with 12 levels × 3 replicates done, two
disks and 24 thread pools. The same is done with nobody reading and without an exporter, alternating; the difference is
the cost.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.model.events import IntervalSeen, PhaseEntered, SampleTaken, TrialStarted
from scale_sweep.model.loads import Interval
from scale_sweep.model.samples import DiskSample, Sample, SubjectSample
from scale_sweep.watch.exporter.server import Exporter
from scale_sweep.watch.live.state import LiveState
from tests.unit.synthetic_run import synthetic_run

ALONE, UNREAD, READ = "no exporter", "exporter, nobody reads", "exporter, read every second"
READER = """
import http.client, sys, time
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
due = time.monotonic()
while True:
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
    size = len(connection.getresponse().read())
    due += 1
    time.sleep(max(0, due - time.monotonic()))
"""


def sample(second: int) -> Sample:
    side = SubjectSample(cpu_s_total=0.9 * second, throttled_s_total=0.0, memory_bytes=10**9 + second)
    disk = DiskSample(
        written_bytes_total=123456789 * second,
        read_bytes_total=4096 * second,
        writes_total=777 * second,
        busy_s_total=0.51 * second,
        queue_s_total=1.57 * second,
        free_bytes=10**11,
    )
    return Sample(
        monotonic_ns=time.monotonic_ns(),
        server=side,
        generator=side,
        memory_available_bytes=10**10,
        psi_some_s_total={"cpu": 0.1 * second, "io": 0.2 * second, "memory": 0.0},
        thread_cpu_s_total={f"pool{i}": 0.031 * i * second for i in range(24)},
        host_cpu_busy_s_total=1.9 * second,
        disks={"d1": disk, "d2": disk},
    )


def interval(second: int) -> Interval:
    return Interval(
        monotonic_ns=time.monotonic_ns(),
        t_s=float(second),
        phase="measure",
        rows=412345,
        rows_total=412345 * second,
        requests=412,
        errors=0,
        retries=0,
        response_us_p50=912.5,
        response_us_p99=4012.5,
        response_us_max=9123.5,
        backlog_rows=None,
        service_us_p50=912.5,
        service_us_p99=4012.5,
        service_us_max=9123.5,
    )


def cost(seconds: int, name: str) -> float:
    """CPU time of this process, in percent of one core."""
    run = synthetic_run(levels=range(1, 13))
    last = run.plan.trials[-1]
    state = LiveState(run="20260102T030405Z-bench", plan=run.plan, results=run.results[:-1])
    opened = None if name == ALONE else Exporter(state, 0)
    reader = (
        subprocess.Popen([sys.executable, "-P", "-c", READER, str(opened.port)]) if opened and name == READ else None
    )
    sink = opened or (lambda event: None)
    sink(TrialStarted(trial=last, position=36, total=36, unix_s=time.time(), monotonic_ns=time.monotonic_ns()))
    sink(PhaseEntered(trial_id=last.trial_id, phase="measure", monotonic_ns=time.monotonic_ns()))
    time.sleep(2.0)
    before, began = time.process_time(), time.monotonic()
    for second in range(1, seconds + 1):
        sink(SampleTaken(trial_id=last.trial_id, sample=sample(second)))
        sink(IntervalSeen(trial_id=last.trial_id, interval=interval(second)))
        time.sleep(max(0.0, began + second - time.monotonic()))
    used = (time.process_time() - before) / (time.monotonic() - began)
    if reader:
        reader.kill()
        reader.wait()
    if opened:
        opened.__exit__(ValueError)
    return 100 * used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    found: dict[str, list[float]] = {ALONE: [], UNREAD: [], READ: []}
    for _ in range(given.runs):
        for name, figures in found.items():
            figures.append(cost(given.seconds, name))
    base = statistics.median(found[ALONE])
    for name, figures in found.items():
        spread = f"({min(figures):.3f}..{max(figures):.3f})"
        median = statistics.median(figures)
        sys.stdout.write(f"{name:<28} {median:.3f} % of a core {spread}, cost {median - base:.3f} %\n")


if __name__ == "__main__":
    main()
