"""The cost of hosts of their own: rate, client CPU, p99 and clock error of the same load made locally, by one load host
and by two; CPU and memory of controller and agents; how late lines arrive.

`python bench/hosts.py hosts.ini` (as root, after `scale hosts prepare`): an inventory with two load hosts. Hosts of
`tools/hosts` share the CPUs of one machine, so their rates compare only with one another. Refuses to judge.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from scale_sweep.hosts import setup
from scale_sweep.hosts.clocks import measure_clock
from scale_sweep.hosts.inventory import Inventory, read_inventory
from scale_sweep.hosts.link import AgentLink, run_line
from scale_sweep.hosts.load_hosts import LoadHost

SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--replicates", "1", "--no-metrics", "-y")
WATCH_S = 20.0
PERIOD_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One sweep of one trial. cores: CPU of the controller and its `ssh` processes while the trial ran; bytes: their
    memory."""

    name: str
    trial: dict[str, Any]
    manifest: dict[str, Any]
    lines: list[dict[str, Any]]
    cores: float
    bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", type=Path, help="an inventory with two load hosts")
    parser.add_argument("--seconds", type=int, default=15, help="of each window")
    given = parser.parse_args()
    inventory = read_inventory(given.hosts)
    with tempfile.TemporaryDirectory() as folder:
        one = _with_one_load_host(given.hosts, inventory, Path(folder))
        sweeps = {"local": (), "one load host": ("--hosts", one), "two": ("--hosts", given.hosts)}
        seen = [_swept(name, words, given.seconds, Path(folder) / name) for name, words in sweeps.items()]
    print("\n".join(table(seen)))
    print("\n".join(costs(seen, len(inventory.hosts))))
    print("\n".join(_watched(inventory)))


def _with_one_load_host(path: Path, inventory: Inventory, folder: Path) -> Path:
    last = inventory.load[-1].name
    made = folder / "one.ini"
    made.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(f"{last} ")) + "\n")
    return made


def _swept(name: str, words: Sequence[Any], seconds: int, results: Path) -> Seen:
    own = ("--duration", f"{seconds}s", "--warmup", "3s", "--connections", "8", "--results", results)
    argv = [sys.executable, "-m", "scale_sweep", *SWEEP, *map(str, (*words, *own))]
    process = psutil.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    used = _used_while_it_measures(process, results)
    errors = process.communicate()[1].decode()
    if process.returncode not in (0, 10):
        sys.exit(errors)
    (run,) = results.iterdir()
    (trial,) = run.glob("trials/*/trial.json")
    lines = (trial.parent / "loadgen.jsonl").read_text().splitlines()
    manifest = json.loads((run / "manifest.json").read_text())
    parsed = [json.loads(line) for line in lines]
    return Seen(name=name, trial=json.loads(trial.read_text()), manifest=manifest, lines=parsed, **used)


def _used_while_it_measures(process: psutil.Popen, results: Path) -> dict[str, Any]:
    """CPU and memory of a controller and its `ssh` processes between the begin of the window and its end."""
    first = last = None
    memory = 0
    while process.poll() is None:
        time.sleep(PERIOD_S)
        if not any('"measure"' in path.read_text() for path in results.glob("*/trials/*/journal.jsonl")):
            continue
        whole = [process, *(one for one in process.children() if one.name() == "ssh")]
        try:
            cpu_s = sum(sum(one.cpu_times()[:2]) for one in whole)
            memory = max(memory, sum(one.memory_info().rss for one in whole[1:]))
        except psutil.NoSuchProcess:
            break
        last = (time.monotonic(), cpu_s)
        first = first or last
        if any('"drain"' in path.read_text() for path in results.glob("*/trials/*/journal.jsonl")):
            break
    cores = (last[1] - first[1]) / (last[0] - first[0]) if first and last and last > first else 0.0
    return {"cores": cores, "bytes": memory}


def table(seen: Sequence[Seen]) -> list[str]:
    """A row of Markdown for each sweep."""
    rows = ["| load | rows/s | client CPU, cores | p99, ms | clock error, ms | verdict |", "|---|---|---|---|---|---|"]
    for one in seen:
        m = one.trial["measurement"]
        clocks = (one.manifest.get("hosts") or {}).get("clocks") or []
        error = max((clock[when]["error_ns"] for clock in clocks for when in ("before", "after")), default=0) / 1e6
        rows.append(
            f"| {one.name} | {m['rows_per_s'] / 1e3:,.0f} k | {m['generator_cpu_cores']:.3f} | "
            f"{m['response_ms_p99'] or 0:.1f} | {error:.2f} | {one.trial['verdict']['kind']} |"
        )
    return rows


def costs(seen: Sequence[Seen], hosts: int) -> list[str]:
    """What hosts cost beside a local trial."""
    local, *elsewhere = seen
    firsts = [line["monotonic_ns"] for line in seen[-1].lines if line["event"] == "phase" and line["phase"] == "warmup"]
    use = f"{100 * seen[-1].cores / hosts:.2f} % of a core, {seen[-1].bytes / hosts / 1e6:.1f} MB of ssh"
    return [
        "",
        *(f"a trial, {one.name}: {one.trial['wall_s'] - local.trial['wall_s']:+.1f} s" for one in elsewhere),
        f"controller, per host: {use} ({100 * local.cores:.2f} % locally)",
        f"first requests of two hosts: {(max(firsts) - min(firsts)) / 1e6:.2f} ms apart",
        f"rate of two load hosts / one: {_rate(seen[2]) / _rate(seen[1]):.3f}",
    ]


def _rate(one: Seen) -> float:
    return float(one.trial["measurement"]["rows_per_s"])


def _watched(inventory: Inventory) -> list[str]:
    """CPU and memory of an agent without a trial, and how long a line takes."""
    with setup.linked(inventory) as links:
        link = links[inventory.server.name]
        clock, late = measure_clock(link), []
        before = _of_agent(link)

        def arrived(sample: Mapping[str, Any]) -> None:
            late.append(time.monotonic_ns() - sample["monotonic_ns"])

        host = LoadHost(link=link, clock=clock)
        request = host.watch(inventory.server.address, 0, arrived, makes_load=False)
        time.sleep(WATCH_S)
        after = _of_agent(link)
        request.stop()
    percent = 100 * (after[0] - before[0]) / WATCH_S
    worst = statistics.quantiles(late, n=100)[-1] / 1e6
    return [
        f"an agent that only samples: {percent:.2f} % of a core, {after[1] / 1e6:.0f} MB",
        f"lines arrive after {statistics.median(late) / 1e6:.2f} ms, p99 {worst:.2f} ms ({len(late)} lines)",
    ]


def _of_agent(link: AgentLink) -> tuple[float, float]:
    """CPU seconds and bytes of memory of the agent."""
    ticks = "for p in $(pgrep -f scale_sweep.agent$); do cat /proc/$p/stat; done | grep python"
    fields = run_line(link.host, ticks).splitlines()[-1].rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100, int(fields[21]) * 4096.0


if __name__ == "__main__":
    main()
