"""How long does a row take from its writer to a subscriber? Delays of `scale load` beside a live writer of TDengine.

The load generator writes one row per request at a fixed rate. A row's timestamp is the time at which it is due, so a
late write counts as a delay. A consumer subscribes before the first row. The server is removed at the end.

    python bench/subscription_delay.py --loadgen PATH --home DIR
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram
from measure import ROOT, Programs, run_loadgen, say, table
from tdengine_server import HOW_TO_GET, TdengineServer, find_home

AHEAD_S = 1.0
READY_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Live:
    """Of one rate: the writer's summary, and the consumers' part of the document."""

    written: dict[str, Any]
    read: dict[str, Any]


def live(
    server: TdengineServer,
    with_: Programs,
    folder: Path,
    *,
    rate: int,
    seconds: int,
    consumers: int = 1,
    age_ms: int = 0,
) -> Live:
    """Writes `rate` rows/s for so long, into a database of its own, beside consumers that share the rows.

    age_ms: how much earlier a row's timestamp is than the time at which it is due.
    """
    database = f"live_{rate}_{consumers}_{age_ms}"
    spec = server.spec() | {"database": database, "tables": 1, "threads": 1, "rows_per_request": 1, "method": "sql"}
    server.shell(f"CREATE DATABASE {database} VGROUPS 1")
    server.shell(
        f"CREATE STABLE {database}.meters (ts TIMESTAMP, current FLOAT, voltage INT, phase FLOAT)"
        " TAGS (groupid INT, location BINARY(24))"
    )
    run_loadgen(with_, spec, "tables")
    path = folder / f"{database}.json"
    path.write_text(json.dumps(subscribe_file(server, database, consumers)))
    reader = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-c",
            "from scale_sweep.cli import main\nmain()",
            "load",
            "-f",
            path,
            "--row-times",
            "--json",
        ],
        cwd=folder,
        env=server.environment() | {"PYTHONPATH": str(ROOT / "runner"), "SCALE_LOADGEN": str(with_.loadgen)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_consumers(server, reader, database, consumers)
        written = write(with_, spec, rate, seconds, age_ms)
        said, troubles = reader.communicate(timeout=60)
        assert reader.returncode == 0, troubles
    finally:
        reader.kill()
        reader.wait(30)
    return Live(written=written, read=json.loads(said)["subscriptions"][0])


def subscribe_file(server: TdengineServer, database: str, consumers: int) -> dict[str, Any]:
    info = {"concurrent": consumers, "poll_delay": 3000, "group.id": database, "auto.offset.reset": "earliest"}
    info |= {"enable.auto.commit": "false", "expect_rows": 0}
    topic = {"name": f"topic_{database}", "sql": f"select * from {database}.meters"}
    reached = {"cfgdir": str(server.client_config), "host": "localhost", "port": server.port}
    return {"filetype": "subscribe", **reached, "tmq_info": info | {"topic_list": [topic]}}


def wait_for_consumers(server: TdengineServer, reader: subprocess.Popen[str], database: str, consumers: int) -> None:
    """Until the server knows them all, and a second for their first polls."""
    statement = f"SELECT status FROM performance_schema.perf_consumers WHERE consumer_group = '{database}'"
    deadline = time.monotonic() + READY_S
    while server.shell(statement).count("ready") < consumers:
        assert time.monotonic() < deadline and reader.poll() is None, "the consumers are not ready"
        time.sleep(0.2)


def write(with_: Programs, spec: dict[str, object], rate: int, seconds: int, age_ms: int) -> dict[str, Any]:
    """The summary of the writer. Its start is at a whole millisecond, which is the time of its first row."""
    wall_ns, monotonic_ns = time.time_ns(), time.monotonic_ns()
    start_ms = (wall_ns + round(AHEAD_S * 1e9)) // 1_000_000
    start_at_ns = monotonic_ns + start_ms * 1_000_000 - wall_ns
    paced = {"rate": rate, "step_ms": 1000 / rate, "start_ms": start_ms - age_ms, "start_at_ns": start_at_ns}
    return run_loadgen(with_, spec | paced | {"duration_s": seconds, "drain_s": 10})[1]


def line(rate: int, seen: Live) -> list[str]:
    delays = HdrHistogram.decode(seen.read["delay"]["hdr"])
    percentiles = [f"{delays.get_value_at_percentile(q) / 1e6:.1f}" for q in (50, 90, 99)]
    ends = [f"{seen.read['delay'][name]:.1f}" for name in ("min_ms", "max_ms")]
    return [
        f"{rate:,}",
        f"{seen.read['rows']:,}",
        f"{seen.read['messages']:,}",
        f"{seen.written['operations'][0]['response']['p50_us'] / 1e3:.1f}",
        ends[0],
        *percentiles,
        ends[1],
    ]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--loadgen", default=os.environ.get("SCALE_LOADGEN") or shutil.which("scale-loadgen"))
    p.add_argument("--home", default=None, help="TDengine's directory (SCALE_TDENGINE_HOME)")
    p.add_argument("--rates", default="10,100,1000", help="rows per second (default 10,100,1000)")
    p.add_argument("--seconds", type=int, default=20, help="of each rate (default 20)")
    a = p.parse_args()
    home = Path(a.home) if a.home else find_home()
    if home is None or not a.loadgen:
        sys.exit(f"name both: --loadgen PATH and --home DIR (or SCALE_LOADGEN, SCALE_TDENGINE_HOME); {HOW_TO_GET}")
    with_ = Programs(loadgen=Path(a.loadgen).resolve(), tsdbperf=Path())
    rates = [int(rate) for rate in a.rates.split(",")]
    with tempfile.TemporaryDirectory(prefix="scale-bench-", dir="/var/tmp") as folder:
        server = TdengineServer(Path(folder), home)
        try:
            server.start()
            seen = {rate: live(server, with_, Path(folder), rate=rate, seconds=a.seconds) for rate in rates}
        finally:
            server.stop()
    say(f"`{' '.join(sys.argv)}`: delays in ms; load average {Path('/proc/loadavg').read_text().split()[0]}\n")
    head = ["rows/s written", "rows read", "messages", "written after, median"]
    table([*head, "min", "median", "p90", "p99", "max"], [line(rate, one) for rate, one in seen.items()])


if __name__ == "__main__":
    main()
