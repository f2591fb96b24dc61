"""What the capacity search finds with the real load generator, on a simulated server whose capacity is known.

    python bench/method_capacity_real.py                       the capacities of two queues, about 3 minutes a search
    python bench/method_capacity_real.py --direct --searches 20    on a busy machine, as root
    python bench/method_capacity_real.py --direct --searches 2 --seconds 5
    python bench/method_capacity_real.py --omission            what a stop of 2 s does to an open and to a closed loop

The server is that of the null driver (docs/loadgen.md): threads of the load generator wait for it by the machine's
clock, so that the whole way from the offered rate to the interval is the one that a database takes. The truth is a long
simulation of the same queue with the same number of connections. A search without an answer is one that the verdict
refused: others used the machine, and the table names what the verdict says.

With --direct the script itself starts the loads of each search, at real-time priority (`chrt`), so that other programs
do not delay them. No verdict is then asked: the search, the load generator and its clocks are what is compared.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import say, table

from scale_sweep.capacity.search import Probe, answer_of, next_rate
from scale_sweep.judge.verdict.thresholds import CHANCE_SIGMAS, OFFERED_MET
from scale_sweep.model.declared_parts import STEP_S

CONNECTIONS = 64  # the least of a search
WITHIN = 0.05
REQUESTS = 1_000_000  # of each rate of the simulation
AROUND = (0.94, 0.97, 1.0, 1.03, 1.06)  # of the guess: rates of the simulation
OK, NO_RESULT = 0, 10  # exit codes of a sweep: with and without a valid trial
SEED = 20261125
REAL_TIME = ("chrt", "--fifo", "50")
AT_ONCE = 4  # searches, with --direct: together they use a quarter of a CPU
STOPPED_LOAD = {  # for 2 s of every 6 s the server stops
    "driver": "null",
    "null_service_us": 1000,
    "null_stall_us": 2_000_000,
    "null_stall_every_ms": 6000,
    "threads": 4,
    "tables": 4,
    "rows_per_request": 1,
    "duration_s": 10,
    "drain_s": 20,
}
PERCENTILES = ("p50", "p90", "p99", "max")


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A queue with random arrivals. guess: about its capacity, in requests per second."""

    name: str
    servers: int
    service_us: int
    law: str
    limit_ms: float
    guess: float

    def drawn_s(self, chance: random.Random) -> float:
        """One time of service."""
        mean = self.service_us / 1e6
        return chance.expovariate(1 / mean) if self.law == "exponential" else mean

    def keys(self) -> dict[str, object]:
        """The keys of the simulated server."""
        return {"null_servers": self.servers, "null_service_us": self.service_us, "null_law": self.law}

    def flags(self) -> Iterator[str]:
        """The same as knobs of the target."""
        for name, value in self.keys().items():
            yield from ("--knob", f"{name}={value}")


@dataclass(frozen=True, kw_only=True)
class Found:
    """The answer of one search: None without one. left_out: steps. late_ms: the greatest lateness of the load generator
    itself, at p99, of all steps."""

    rate: float | None
    low: float | None
    high: float | None
    left_out: int
    late_ms: float
    verdict: str


QUEUES = (
    Queue(name="M/M/1, 1 ms, p99 < 20 ms", servers=1, service_us=1000, law="exponential", limit_ms=20.0, guess=760.0),
    Queue(name="M/D/4, 4 ms, p99 < 20.1 ms", servers=4, service_us=4000, law="constant", limit_ms=20.1, guess=850.0),
)


def p99_ms(queue: Queue, rate: float, connections: int, requests: int) -> float:
    """The 99th percentile of the response time, from when a request is due. Each request belongs to one connection."""
    chance = random.Random(f"{SEED} {queue.name} {rate:.6g} {connections}")
    gap = connections / rate
    # When each connection sends next, its number, and when that request was due: the next one to send comes first.
    sending = [(due, number, due) for number in range(connections) for due in (chance.expovariate(1 / gap),)]
    heapq.heapify(sending)
    free = [0.0] * queue.servers
    responses = []
    for _ in range(requests):
        sent, number, due = sending[0]
        begun = max(sent, heapq.heappop(free))
        answered = begun + queue.drawn_s(chance)
        heapq.heappush(free, answered)
        responses.append(answered - due)
        due += chance.expovariate(1 / gap)
        heapq.heapreplace(sending, (max(due, answered), number, due))
    responses.sort()
    return 1000 * responses[int(0.99 * requests)]


def capacity(queue: Queue, connections: int, requests: int = REQUESTS) -> float:
    """The rate at which the percentile crosses the limit, between two of the simulated rates. Raises ValueError if it
    crosses between none."""
    seen = [(rate, p99_ms(queue, rate, connections, requests)) for rate in (part * queue.guess for part in AROUND)]
    for (low, below), (high, above) in pairwise(seen):
        if below < queue.limit_ms <= above:
            part = math.log(queue.limit_ms / below) / math.log(above / below)
            return low * (high / low) ** part
    raise ValueError(f"{queue.name}: the limit is not crossed near {queue.guess:g}/s: {seen}")


def searched(queue: Queue, searches: int, seconds: float) -> list[Found]:
    """One sweep with a search in each trial, by the whole command."""
    scale = Path(sys.executable).with_name("scale")
    with tempfile.TemporaryDirectory(prefix="scale-bench-") as folder:
        done = subprocess.run(
            [
                *([scale] if scale.exists() else [sys.executable, "-P", "-m", "scale_sweep"]),
                *("sweep", "cpu", "--cores", "1", "--target", "null", *queue.flags(), "--connections"),
                *(str(CONNECTIONS), "--slo", f"p99 < {queue.limit_ms:g}ms", "--arrival", "poisson"),
                *("--rows-per-request", "1", "--duration", f"{seconds:g}s", "--replicates", str(searches)),
                *("--confirm", "off", "--no-metrics", "--json"),
            ],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode not in (OK, NO_RESULT):
        sys.exit(f"the sweep ended with {done.returncode}")
    trials = json.loads(done.stdout)["trials"]
    return [found_of(trial) for trial in trials if trial["measurement"].get("steps")]


def found_of(trial: Mapping[str, Any]) -> Found:
    """The answer in a trial of the command's JSON."""
    m = trial["measurement"]
    return Found(
        rate=m["capacity_per_s"],
        low=m["capacity_low_per_s"],
        high=m["capacity_high_per_s"],
        left_out=sum(not step["usable"] for step in m["steps"]),
        late_ms=max(step["late_ms"]["p99"] or 0.0 for step in m["steps"]),
        verdict=trial["verdict"]["kind"],
    )


def searched_directly(queue: Queue, seconds: float, seed: int, program: str) -> Found:
    """One search whose loads this process starts, at real-time priority."""
    spec = {"driver": "null", "threads": CONNECTIONS, "tables": CONNECTIONS, "rows_per_request": 1, **queue.keys()}
    closed = summary_of(program, {**spec, "duration_s": 2, "warmup_s": 0.5, "arrival_seed": seed}, REAL_TIME)
    probes: list[Probe] = []
    late = 0.0
    while (rate := next_rate(closed["rows_per_s"], probes)) is not None:
        more = {"rate": f"{rate:g}", "arrival": "poisson", "duration_s": seconds, "warmup_s": 1}
        step = summary_of(program, {**spec, **more, "arrival_seed": seed + 1 + len(probes)}, REAL_TIME)
        p99 = step["response"]["p99_us"]
        is_met = step["rows_per_s"] >= OFFERED_MET * rate - CHANCE_SIGMAS * math.sqrt(rate / seconds) and p99
        late = max(late, (step["late"]["p99_us"] or 0.0) / 1000)
        probes.append(Probe(rate=rate, excess=math.log(p99 / 1000 / queue.limit_ms) if is_met else None))
    answer = answer_of(probes)
    verdict = "no answer" if answer.rate is None else "VALID"
    return Found(rate=answer.rate, low=answer.low, high=answer.high, left_out=0, late_ms=late, verdict=verdict)


def row(queue: Queue, truth: float, searches: list[Found]) -> list[str]:
    """One row of the table."""
    answered = [(f.rate, f.low, f.high) for f in searches if f.rate is not None and f.low and f.high]
    offs = [rate / truth - 1 for rate, _, _ in answered]
    covered = sum(low <= truth <= high for _, low, high in answered)
    halves = [(high - low) / 2 / rate for rate, low, high in answered]
    refused = Counter(found.verdict for found in searches if found.rate is None)
    return [
        queue.name,
        f"{truth:.0f}",
        f"{statistics.median(rate for rate, _, _ in answered):.0f}" if answered else "-",
        f"{100 * max(map(abs, offs)):.1f} %" if answered else "-",
        f"{sum(abs(off) <= WITHIN for off in offs)} of {len(answered)}",
        f"{covered} of {len(answered)}",
        f"±{100 * statistics.median(halves):.1f} %" if halves else "-",
        str(sum(found.left_out for found in searches)),
        f"{max(found.late_ms for found in searches):.2f} ms" if searches else "-",
        ", ".join(f"{count} {kind}" for kind, count in refused.items()) or "none",
    ]


HEAD = (
    *("queue", "truth", "found", "furthest", "within 5 %", "covered", "half of the interval", "steps left out"),
    *("own lateness, p99", "refused"),
)


def summary_of(program: str, spec: Mapping[str, object], before: Sequence[str] = ()) -> Mapping[str, Any]:
    """The summary of a load. before: words that start the program."""
    text = "".join(f"{key}={value}\n" for key, value in spec.items())
    done = subprocess.run([*before, program, "load", "-"], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def milliseconds(us: float | None) -> str:
    return "-" if us is None else f"{us / 1000:.1f}"


def omission(program: str) -> None:
    """Prints what an open and a closed loop see of the same stops, at the same time."""
    loads = {"open loop, 500/s": {"rate": 500, "arrival": "poisson"}, "closed loop": {}}
    with ThreadPoolExecutor() as at_once:
        summaries = dict(
            zip(
                loads,
                at_once.map(lambda more: summary_of(program, {**STOPPED_LOAD, **more}), loads.values()),
                strict=True,
            )
        )
    rows = [
        [name, f"{s['service']['count']}", *(milliseconds(s["response"][f"{p}_us"]) for p in PERCENTILES)]
        for name, s in summaries.items()
    ]
    table(("load", "answered", *(f"{p} ms" for p in PERCENTILES)), rows)


def loadgen() -> str:
    """The load generator of this Python, or of SCALE_LOADGEN."""
    beside = Path(sys.executable).with_name("scale-loadgen")
    program = os.environ.get("SCALE_LOADGEN") or (str(beside) if beside.exists() else shutil.which("scale-loadgen"))
    return program or sys.exit("scale-loadgen is missing: make setup, or SCALE_LOADGEN")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=5, help="of each queue (default 5)")
    parser.add_argument("--seconds", type=float, default=10, help="of a step (default 10)")
    parser.add_argument("--direct", action="store_true", help="the loads alone, at real-time priority")
    parser.add_argument("--omission", action="store_true", help="an open and a closed loop beside a server that stops")
    asked = parser.parse_args()
    if asked.seconds < STEP_S and not asked.direct:
        parser.error(f"--seconds: the command has no capacity from steps under {STEP_S:g} s; give --direct")
    if asked.omission:
        omission(loadgen())
        return
    rows = []
    for number, queue in enumerate(QUEUES):
        if asked.direct:
            seeds = [SEED + 100_000 * number + 100 * search for search in range(asked.searches)]
            with ThreadPoolExecutor(AT_ONCE) as at_once:
                found = list(at_once.map(lambda s, q=queue: searched_directly(q, asked.seconds, s, loadgen()), seeds))
        else:
            found = searched(queue, asked.searches, asked.seconds)
        rows.append(row(queue, capacity(queue, CONNECTIONS), found))
    say(f"{asked.searches} searches each, steps of {asked.seconds:g} s, {CONNECTIONS} connections")
    table(HEAD, rows)


if __name__ == "__main__":
    main()
