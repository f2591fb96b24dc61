"""What the capacity search finds, by simulation: queues whose true capacity is known, without a load generator.

    python bench/method_capacity.py                  200 searches for each row, about 3 minutes
    python bench/method_capacity.py --searches 20
    python bench/method_capacity.py --seconds 5      steps as those of --quick
    python bench/method_capacity.py --neighbours     others use the server's CPUs in bursts

Each search sees steps of a queue that begins empty. Requests arrive at random times. With noise, the servers of each
step are faster or slower by 3 % (standard deviation). With a drift, the servers become slower by so much from the first
step to the last, and the true capacity is that of the mean speed. Seeded: the same command prints the same table.

The search contains no model of neighbours. A burst takes 3 to 60 s and 10 to 40 % of one CPU of the server, both
uniform (the length on a logarithmic scale), in slices of 4 ms; the pauses between bursts are exponential. A server of
four threads runs on the CPUs that are left. A step in which others took more than 5 % of the server's CPUs is left out,
as the rule does; others count, although they were slowed down. The truth is the capacity without neighbours.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scale_sweep.capacity.search import (
    BEGIN,
    BETWEEN_S,
    OPENING_S,
    PROBES,
    PROBES_MAX,
    WARMUP_S,
    Capacity,
    Probe,
    answer_of,
    next_rate,
)
from scale_sweep.judge.verdict.thresholds import CHANCE_SIGMAS, OFFERED_MET, TAKEN_SHARE

STEP_S = 10.0
WITHIN = 0.05
SEED = 20261124
BURST_S = (3.0, 60.0)
BURST_SHARE = (0.1, 0.4)  # of one CPU
SLICE_S = 0.004
PAUSES_S = (180.0, 60.0, 20.0)  # means
BEHIND_WARMUP_S = 5.0  # the least warm-up of a trial
DRAIN_S = 60.0  # after a step, in which waiting requests are answered
STOPPED = 1e-9  # of the speed: a queue that stands still for a slice has no inverse
Responses = Callable[[np.ndarray, np.random.Generator, float], np.ndarray]
Speed = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Queue:
    """limit_s: of p99. capacity: the true rate at which p99 is limit_s. most: what a closed loop reaches. cpus: of the
    server. responses: of arrivals, with servers that take `slower` times as long. seed: of its searches."""

    name: str
    limit_s: float
    capacity: float
    most: float
    cpus: int
    responses: Responses
    seed: int


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a search sees. noise: of the speed of each step, as a standard deviation. drift: by how much the servers
    become slower over the search. pause_s: mean time between two bursts of neighbours; 0: there are none. waiting:
    requests that are due when a step begins, after which its warm-up is longer."""

    noise: float = 0.0
    drift: float = 0.0
    pause_s: float = 0.0
    waiting: int = 0


@dataclass(frozen=True, kw_only=True)
class Searched:
    """One search. off: of the answer from the truth, None without an answer. half: half of its interval over the
    answer. left_out: steps. kept: steps that others touched and that count."""

    steps: int
    left_out: int
    kept: int
    answer: Capacity
    off: float | None = None
    half: float = 0.0
    covers: bool = False


class Neighbours:
    """Others that use one CPU of the server in slices, on the clock of a search."""

    def __init__(self, pause_s: float, chance: np.random.Generator) -> None:
        self._slices = np.empty((0, 2))
        if not pause_s:
            return
        at, parts = -BURST_S[1] - 5 * pause_s, []  # long before the search, so that it begins at a random time
        end = OPENING_S + PROBES_MAX * (STEP_S + WARMUP_S + BETWEEN_S) + DRAIN_S
        while at < end:
            at += chance.exponential(pause_s)
            seconds = math.exp(chance.uniform(*map(math.log, BURST_S)))
            begins = np.arange(at, at + seconds, SLICE_S / chance.uniform(*BURST_SHARE))
            at += seconds
            parts.append(np.column_stack((begins, np.minimum(begins + SLICE_S, at))))
        self._slices = np.concatenate(parts)

    def taken_s(self, begin_s: float, end_s: float) -> float:
        """CPU time that they took in this time."""
        inside = np.clip(self._slices, begin_s, end_s)
        return float((inside[:, 1] - inside[:, 0]).sum())

    def speed(self, cpus: int, begin_s: float, end_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Times from begin_s on, and the time that a server without neighbours would need for the work of each."""
        inside = np.clip(self._slices, begin_s, end_s)
        edges = np.concatenate(([begin_s], inside[inside[:, 1] > inside[:, 0]].ravel(), [end_s])) - begin_s
        speeds = np.ones(len(edges) - 1)
        speeds[1::2] = max(1 - 1 / cpus, STOPPED)
        return edges, np.concatenate(([0.0], np.cumsum(np.diff(edges) * speeds)))


def one_exponential(arrivals: np.ndarray, chance: np.random.Generator, slower: float) -> np.ndarray:
    """M/M/1 with 1,000 requests a second."""
    return _served(arrivals, chance.exponential(slower / 1000.0, len(arrivals)))


def four_constant(arrivals: np.ndarray, chance: np.random.Generator, slower: float) -> np.ndarray:
    """M/D/4 with 4 ms: of constant times, every fourth request is served by the same server."""
    responses = np.empty(len(arrivals))
    for server in range(4):
        own = arrivals[server::4]
        responses[server::4] = _served(own, np.full(len(own), 0.004 * slower))
    return responses


def _served(arrivals: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Response times of one server, first come first served."""
    done = np.cumsum(services)
    return done + np.maximum.accumulate(arrivals - (done - services)) - arrivals


QUEUES = (
    Queue("M/M/1, μ 1000/s, p99 < 20 ms", 0.020, 1000 - math.log(100) / 0.020, 1000.0, 1, one_exponential, 0),
    Queue("M/D/4, 4 ms, p99 < 20.1 ms", 0.0201, 869.0, 1000.0, 4, four_constant, 1),
)
TRUTHS = (Truth(), Truth(noise=0.03), Truth(noise=0.03, drift=0.05), Truth(noise=0.03, drift=0.1))


def step(
    queue: Queue, rate: float, seconds: float, truth: Truth, at: float, chance: np.random.Generator, speed: Speed | None
) -> float | None:
    """ln(p99 / limit) of one step; None if the rate was over capacity. at: from 0 for the first step of a search to 1
    for the last. speed: None without neighbours."""
    warmup_s = BEHIND_WARMUP_S if truth.waiting else WARMUP_S
    length = seconds + warmup_s
    gaps = chance.exponential(1 / rate, int(rate * length * 1.2) + 100 + truth.waiting)
    gaps[: truth.waiting] = 0
    arrivals = np.cumsum(gaps)
    arrivals = arrivals[arrivals < length]
    slower = math.exp(truth.noise * chance.standard_normal() + truth.drift * (at - 0.5))
    if speed is None:
        responses = queue.responses(arrivals, chance, slower)
    else:
        times, work = speed
        due = np.interp(arrivals, times, work)
        responses = np.interp(due + queue.responses(due, chance, slower), work, times) - arrivals
    ends = arrivals + responses
    inside = (ends > warmup_s) & (ends <= length)
    if inside.sum() < OFFERED_MET * rate * seconds - CHANCE_SIGMAS * math.sqrt(rate * seconds):
        return None
    return math.log(np.quantile(responses[arrivals > warmup_s], 0.99) / queue.limit_s)


def searched(queue: Queue, truth: Truth, seconds: float, number: int) -> Searched:
    """One search."""
    chance = np.random.default_rng([SEED, queue.seed, int(1000 * truth.noise), number])
    others = Neighbours(truth.pause_s, np.random.default_rng([SEED, int(truth.pause_s), number]))
    begin = queue.most * math.exp(truth.noise * chance.standard_normal())
    begin *= 1 - others.taken_s(0.0, OPENING_S) / OPENING_S / queue.cpus
    probes: list[Probe] = []
    kept, now_s = 0, OPENING_S
    while (rate := next_rate(begin, probes)) is not None:
        end_s = now_s + WARMUP_S + seconds
        share = others.taken_s(now_s + WARMUP_S, end_s) / seconds / queue.cpus
        speed = others.speed(queue.cpus, now_s, end_s + DRAIN_S) if truth.pause_s else None
        excess = step(queue, rate, seconds, truth, len(probes) / (PROBES - 1), chance, speed)
        usable = share <= TAKEN_SHARE
        probes.append(Probe(rate=rate, excess=excess if usable else None, usable=usable))
        kept += usable and others.taken_s(now_s, end_s) > 0
        now_s = end_s + BETWEEN_S
    answer, left_out = answer_of(probes), sum(not probe.usable for probe in probes)
    if answer.rate is None or answer.low is None or answer.high is None:
        return Searched(steps=len(probes), left_out=left_out, kept=kept, answer=answer)
    return Searched(
        steps=len(probes),
        left_out=left_out,
        kept=kept,
        answer=answer,
        off=answer.rate / queue.capacity - 1,
        half=(answer.high - answer.low) / 2 / answer.rate,
        covers=answer.low <= queue.capacity <= answer.high,
    )


def row(queue: Queue, truth: Truth, seconds: float, searches: int) -> str:
    """One row of the table without neighbours. A search without an answer counts as not covered."""
    all_of = [searched(queue, truth, seconds, number) for number in range(searches)]
    offs = [one.off for one in all_of if one.off is not None]
    return (
        f"| {queue.name} | {100 * truth.noise:g} % | {100 * truth.drift:g} % | {queue.capacity:.0f} "
        f"| {_percent(sum(abs(off) <= WITHIN for off in offs), searches)} "
        f"| {_percent(sum(one.covers for one in all_of), searches)} "
        f"| ±{100 * np.median([one.half for one in all_of if one.off is not None]):.1f} % "
        f"| {100 * np.mean(offs):+.1f} % | {max(one.steps for one in all_of)} |"
    )


def row_with_neighbours(queue: Queue, truth: Truth, seconds: float, searches: int) -> str:
    """One row of the table with neighbours. What is within 5 % and covered is of the searches with an answer."""
    all_of = [searched(queue, truth, seconds, number) for number in range(searches)]
    answered = [(one, one.off) for one in all_of if one.off is not None]
    steps, count = sum(one.steps for one in all_of), len(answered)
    first = f"| {queue.name} | {truth.pause_s:g} s " if truth.pause_s else f"| {queue.name} | none "
    if not answered:
        return f"{first}| 0.0 % | - | - | - | - | - | - |"
    return (
        f"{first}| {_percent(sum(one.left_out for one in all_of), steps)} "
        f"| {_percent(sum(one.kept for one in all_of), steps)} | {_percent(count, searches)} "
        f"| {_percent(sum(abs(off) <= WITHIN for _, off in answered), count)} "
        f"| {_percent(sum(one.covers for one, _ in answered), count)} "
        f"| ±{100 * np.median([one.half for one, _ in answered]):.1f} % "
        f"| {100 * np.mean([off for _, off in answered]):+.1f} % |"
    )


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=STEP_S, help="of a step, 10 at most")
    parser.add_argument("--neighbours", action="store_true")
    given = parser.parse_args()
    if given.neighbours:
        print(
            "| queue | pause between bursts | steps left out | touched, but counted | answered | within 5 % | covered "
            "| half of the interval | bias |\n|---|---|---|---|---|---|---|---|---|"
        )
        for queue in QUEUES:
            for pause_s in (0.0, *PAUSES_S):
                print(
                    row_with_neighbours(queue, Truth(noise=0.03, pause_s=pause_s), given.seconds, given.searches),
                    flush=True,
                )
    else:
        print(
            "| queue | noise | drift | true capacity | within 5 % | covered | half of the interval | bias "
            "| most steps |\n|---|---|---|---|---|---|---|---|---|"
        )
        for queue in QUEUES:
            for truth in TRUTHS:
                print(row(queue, truth, given.seconds, given.searches), flush=True)
    print(
        f"\n{given.searches} searches each; steps of {given.seconds:g} s, at most {PROBES_MAX}, the first at "
        f"{100 * BEGIN:g} %."
    )


if __name__ == "__main__":
    main()
