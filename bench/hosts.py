"""The cost of hosts of their own: rate, client CPU, p99 and clock error of the same load made locally, by one load host
and by two; CPU and memory of controller and agents; how late lines arrive.

`python bench/hosts.py hosts.ini` (as root, after `scale hosts prepare`): an inventory with two load hosts. Each round
makes the three sweeps, each time in another order; the table has medians. The data is in memory (--data, on this
machine and on the server's host). Hosts of `tools/hosts` share the CPUs of one machine, so their rates compare only
with one another. Refuses to judge, and a percentile of fewer requests than it needs.
"""

from __future__ import annotations

import argparse
import json
import os
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
from scale_sweep.hosts.check import measure_clock
from scale_sweep.hosts.inventory import Inventory, read_inventory
from scale_sweep.hosts.link import AgentLink, run_line
from scale_sweep.hosts.requests import LoadHost

SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--replicates", "1", "--no-metrics", "-y")
ROWS = ("--rows-per-request", "1000")  # with the usual 10,000 a window has too few requests for a p99
WATCH_S = 60.0
PERIOD_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One sweep of one trial. cores: CPU of the controller and its `ssh` processes while the trial ran. bytes: of one
    `ssh`, without what it shares."""

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
    parser.add_argument("--rounds", type=int, default=3, help="of the three sweeps")
    parser.add_argument(
        "--data", type=Path, default=Path("/dev/shm/scale-bench"), help="directory of the servers' data"
    )
    given = parser.parse_args()
    inventory = read_inventory(given.hosts)
    with tempfile.TemporaryDirectory() as folder:
        one = _with_one_load_host(given.hosts, inventory, Path(folder))
        sweeps = {"local": (), "one load host": ("--hosts", one), "two": ("--hosts", given.hosts)}
        seen: dict[str, list[Seen]] = {name: [] for name in sweeps}
        for number in range(given.rounds):
            names = [*sweeps][number % 3 :] + [*sweeps][: number % 3]
            for name in names:
                words = (*sweeps[name], "--data-dir", given.data)
                seen[name].append(_swept(name, words, given.seconds, Path(folder) / f"{name} {number}"))
    print("\n".join(table(seen)))
    print("\n".join(costs(seen)))
    print("\n".join(_watched(inventory)))


def _with_one_load_host(path: Path, inventory: Inventory, folder: Path) -> Path:
    last = inventory.load[-1].name
    made = folder / "one.ini"
    made.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(f"{last} ")) + "\n")
    return made


def _swept(name: str, words: Sequence[Any], seconds: int, results: Path) -> Seen:
    own = ("--duration", f"{seconds}s", "--warmup", "3s", "--connections", "8", *ROWS, "--results", results)
    argv = [sys.executable, "-P", "-m", "scale_sweep", *SWEEP, *map(str, (*words, *own))]
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
    """CPU of a controller and its `ssh` processes between the begin of the window and its end, and the greatest memory
    of one `ssh` that no other process shares."""
    first = last = None
    memory = 0
    while process.poll() is None:
        time.sleep(PERIOD_S)
        if not any('"measure"' in path.read_text() for path in results.glob("*/trials/*/journal.jsonl")):
            continue
        whole = [process, *(one for one in process.children() if one.name() == "ssh")]
        try:
            cpu_s = sum(sum(one.cpu_times()[:2]) for one in whole)
            memory = max([memory, *(one.memory_full_info().uss for one in whole[1:])])
        except psutil.NoSuchProcess:
            break
        last = (time.monotonic(), cpu_s)
        first = first or last
        if any('"drain"' in path.read_text() for path in results.glob("*/trials/*/journal.jsonl")):
            break
    cores = (last[1] - first[1]) / (last[0] - first[0]) if first and last and last > first else 0.0
    return {"cores": cores, "bytes": memory}


def table(seen: Mapping[str, Sequence[Seen]]) -> list[str]:
    """A row of Markdown for each kind of sweep: medians, and the greatest error of a clock."""
    rows = ["| load | rows/s | client CPU, cores | p99, ms | clock error, ms | verdicts |", "|---|---|---|---|---|---|"]
    for name, each in seen.items():
        p99 = _median(each, "response_ms_p99")
        tail = "too few requests" if p99 is None else f"{p99:.1f}"
        kinds = ", ".join(sorted({one.trial["verdict"]["kind"] for one in each}))
        rows.append(
            f"| {name} | {(_median(each, 'rows_per_s') or 0) / 1e3:,.0f} k | "
            f"{_median(each, 'generator_cpu_cores') or 0:.3f} | {tail} | "
            f"{max(map(_clock_error_ms, each)):.2f} | {kinds} |"
        )
    return rows


def _median(each: Sequence[Seen], figure: str) -> float | None:
    """The median of a figure; None if a trial has none, as a p99 of fewer than 1,000 requests."""
    values = [one.trial["measurement"][figure] for one in each]
    return None if None in values else statistics.median(values)


def _clock_error_ms(one: Seen) -> float:
    clocks = (one.manifest.get("hosts") or {}).get("clocks") or []
    return max((clock[when]["error_ns"] for clock in clocks for when in ("before", "after")), default=0) / 1e6


def costs(seen: Mapping[str, Sequence[Seen]]) -> list[str]:
    """What hosts cost beside a local trial. One more load host costs the difference between two and one."""
    wall_s = {name: statistics.median(one.trial["wall_s"] for one in each) for name, each in seen.items()}
    percent = {name: 100 * statistics.median(one.cores for one in each) for name, each in seen.items()}
    ratios = [_rate(two) / _rate(one) for two, one in zip(seen["two"], seen["one load host"], strict=True)]
    apart_ms = max((max(firsts) - min(firsts)) / 1e6 for firsts in map(_first_requests_ns, seen["two"]))
    return [
        "",
        *(f"a trial, {name}: {wall_s[name] - wall_s['local']:+.1f} s" for name in ("one load host", "two")),
        *(f"controller, {name}: {value:.2f} % of a core" for name, value in percent.items()),
        f"controller, one more load host: {percent['two'] - percent['one load host']:+.2f} % of a core",
        f"ssh, each: {statistics.median(one.bytes for one in seen['two']) / 1e6:.1f} MB that no other process shares",
        f"first requests of two hosts: at most {apart_ms:.2f} ms apart",
        f"rate of two load hosts / one: {statistics.median(ratios):.3f} ({', '.join(f'{r:.3f}' for r in ratios)})",
    ]


def _first_requests_ns(one: Seen) -> list[int]:
    return [line["monotonic_ns"] for line in one.lines if line["event"] == "phase" and line["phase"] == "warmup"]


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
    """CPU seconds of the agent, and bytes of memory that no other process shares."""
    agent = "$(pgrep -n -f scale_sweep.agent$)"
    stat, private = run_line(
        link.host, f"cat /proc/{agent}/stat; awk '/^Private/ {{kb += $2}} END {{print kb}}' /proc/{agent}/smaps_rollup"
    ).splitlines()[-2:]
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(private) * 1024.0


if __name__ == "__main__":
    main()
