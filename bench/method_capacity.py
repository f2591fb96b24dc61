"""What the capacity search finds, by simulation: queues whose true capacity is known, without a load generator.

    python bench/method_capacity.py            200 searches for each row, about 3 minutes
    python bench/method_capacity.py --searches 20

Each search sees steps of 10 s of a queue that begins empty. Requests arrive at random times. With noise, the servers of
each step are faster or slower by 3 % (standard deviation). Seeded: the same command prints the same table.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scale_sweep.capacity import PROBES_MAX, Probe, answer_of, next_rate
from scale_sweep.capacity.search import BEGIN
from scale_sweep.judge.verdict.thresholds import CHANCE_SIGMAS, OFFERED_MET

STEP_S, WARMUP_S = 10.0, 1.0
WITHIN = 0.05
SEED = 20261124
Responses = Callable[[np.ndarray, np.random.Generator, float], np.ndarray]


@dataclass(frozen=True)
class Queue:
    """limit_s: of p99. capacity: the true rate at which p99 is limit_s. most: what a closed loop reaches. responses: of
    arrivals, with servers that take `slower` times as long."""

    name: str
    limit_s: float
    capacity: float
    most: float
    responses: Responses


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
    Queue("M/M/1, μ 1000/s, p99 < 20 ms", 0.020, 1000 - math.log(100) / 0.020, 1000.0, one_exponential),
    Queue("M/D/4, 4 ms, p99 < 20.1 ms", 0.0201, 869.0, 1000.0, four_constant),
)


def step(queue: Queue, rate: float, noise: float, chance: np.random.Generator) -> Probe:
    """One step at this rate."""
    length = STEP_S + WARMUP_S
    arrivals = np.cumsum(chance.exponential(1 / rate, int(rate * length * 1.2) + 100))
    arrivals = arrivals[arrivals < length]
    responses = queue.responses(arrivals, chance, math.exp(noise * chance.standard_normal()))
    ends = arrivals + responses
    inside = (ends > WARMUP_S) & (ends <= length)
    if inside.sum() < OFFERED_MET * rate * STEP_S - CHANCE_SIGMAS * math.sqrt(rate * STEP_S):
        return Probe(rate=rate, excess=None)
    return Probe(rate=rate, excess=math.log(np.quantile(responses[arrivals > WARMUP_S], 0.99) / queue.limit_s))


def search(queue: Queue, noise: float, chance: np.random.Generator) -> list[Probe]:
    """All steps of one search."""
    probes: list[Probe] = []
    begin = queue.most * math.exp(noise * chance.standard_normal())
    while (rate := next_rate(begin, probes)) is not None:
        probes.append(step(queue, rate, noise, chance))
    return probes


def row(queue: Queue, noise: float, searches: int) -> str:
    """One row of the table."""
    found, covered, widths, probes = 0, 0, [], []
    offs = []
    for number in range(searches):
        chance = np.random.default_rng([SEED, QUEUES.index(queue), int(1000 * noise), number])
        steps = search(queue, noise, chance)
        answer = answer_of(steps)
        probes.append(len(steps))
        if answer.rate is None or answer.low is None or answer.high is None:
            continue
        offs.append(answer.rate / queue.capacity - 1)
        found += abs(offs[-1]) <= WITHIN
        covered += answer.low <= queue.capacity <= answer.high
        widths.append((answer.high - answer.low) / 2 / answer.rate)
    percent = 100 / searches
    return (
        f"| {queue.name} | {100 * noise:g} % | {queue.capacity:.0f} | {percent * found:.1f} % "
        f"| {percent * covered:.1f} % "
        f"| ±{100 * np.median(widths):.1f} % | {100 * np.mean(offs):+.1f} % | {max(probes)} |"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=200)
    searches = parser.parse_args().searches
    print("| queue | noise | true capacity | within 5 % | covered | half of the interval | bias | most steps |")
    print("|---|---|---|---|---|---|---|---|")
    for queue in QUEUES:
        for noise in (0.0, 0.03):
            print(row(queue, noise, searches), flush=True)
    print(f"\n{searches} searches each; steps of {STEP_S:g} s, at most {PROBES_MAX}, the first at {100 * BEGIN:g} %.")


if __name__ == "__main__":
    main()
