"""What the capacity search finds on servers of other laws than those it was made with, by simulation.

    python bench/method_capacity_laws.py                  50 searches for each law, about 4 minutes
    python bench/method_capacity_laws.py --truth          the true capacities, by simulation, about 10 minutes
    python bench/method_capacity_laws.py --searches 10 --law stops

Each search has the default lengths, noise of 3 % (bench/method_capacity.py), and is confirmed by windows of the default
length, each on a server of its own speed. A search without an answer is "refused". "Within 5 %" and "covered" are of
the searches with an answer. Seeded: the same command prints the same table.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from method_capacity import STEP_S, WITHIN, Queue, Responses, Speed, Truth, one_exponential, searched, step

from scale_sweep.capacity.search import Capacity, Probe, confirmed, next_window
from scale_sweep.loadgen.spec import BEHIND
from scale_sweep.model.declared_parts import CONFIRM_S
from scale_sweep.plan.target_defaults import CONNECTIONS_LEAST

WAITING = BEHIND * CONNECTIONS_LEAST  # requests that are due when a window begins
NOISY, LOADED = Truth(noise=0.03), Truth(noise=0.03, waiting=WAITING)
GOAL_WITHIN, GOAL_COVERED = 0.85, 0.90
LONG_SHARE, LONG_S, SHORT_S = 0.001, 0.05, 0.00195
STOP_S, STOP_EVERY_S = 0.15, 10.0
REQUESTS = 4_000_000
AROUND = 1.2


def two_with_long_jobs(arrivals: np.ndarray, chance: np.random.Generator, slower: float) -> np.ndarray:
    """M/G/2 with 1,000 requests a second: 0.1 % take 50 ms, the others 1.95 ms on average."""
    services = chance.exponential(SHORT_S * slower, len(arrivals))
    services[chance.random(len(arrivals)) < LONG_SHARE] = LONG_S * slower
    first = second = 0.0
    ends = []
    for at, takes in zip(arrivals.tolist(), services.tolist(), strict=True):
        if first > second:
            first, second = second, first
        first = max(at, first) + takes
        ends.append(first)
    return np.array(ends) - arrivals


def stopping(arrivals: np.ndarray, chance: np.random.Generator, slower: float) -> np.ndarray:
    """M/M/1 with 10,000 requests a second that stops for 150 ms in every 10 s, from a random moment on."""
    begins = np.arange(-STOP_EVERY_S, arrivals[-1] + 2 * STOP_EVERY_S, STOP_EVERY_S) + chance.uniform(0, STOP_EVERY_S)
    edges = np.concatenate(([begins[0] - 1], np.column_stack((begins, begins + STOP_S)).ravel(), [begins[-1] + 1e3]))
    speeds = np.ones(len(edges) - 1)
    speeds[1::2] = 1e-9
    work: Speed = (edges, np.concatenate(([0.0], np.cumsum(np.diff(edges) * speeds))))
    due = np.interp(arrivals, *work)
    responses = one_exponential(10 * due, chance, slower) / 10
    return np.interp(due + responses, work[1], work[0]) - arrivals


def slowing(per_waiting: float, from_waiting: int, most: float) -> Responses:
    """M/M/1 with 1,000 requests a second whose service takes per_waiting longer for each waiting request beyond
    from_waiting, `most` longer at most."""

    def responses(arrivals: np.ndarray, chance: np.random.Generator, slower: float) -> np.ndarray:
        services = chance.exponential(slower / 1000.0, len(arrivals)).tolist()
        due, done, arrived, ends = [*arrivals.tolist(), math.inf], 0.0, 0, []
        for number, takes in enumerate(services):
            begin = max(due[number], done)
            while due[arrived] <= begin:
                arrived += 1
            waiting = arrived - number - 1 - from_waiting
            done = begin + takes * (1 + min(most, per_waiting * waiting) if waiting > 0 else 1)
            ends.append(done)
        return np.array(ends) - arrivals

    return responses


LAWS = {
    "long": Queue("M/G/2, 0.1 % of 50 ms, p99 < 30 ms", 0.030, 757.0, 1000.0, 2, two_with_long_jobs, 2),
    "stops": Queue("a stop of 150 ms every 10 s, p99 < 60 ms", 0.060, 970.0, 9850.0, 1, stopping, 3),
    "gradual": Queue("1 % slower for each waiting, p99 < 20 ms", 0.020, 682.0, 770.0, 1, slowing(0.01, 0, 0.3), 4),
    "sudden": Queue("30 % slower beyond 40 waiting, p99 < 40 ms", 0.040, 769.0, 770.0, 1, slowing(1.0, 40, 0.3), 5),
    "later": Queue("30 % slower beyond 50 waiting, p99 < 50 ms", 0.050, 769.0, 770.0, 1, slowing(1.0, 50, 0.3), 6),
}


def share_over(law: Queue, rate: float) -> float:
    """The share of REQUESTS response times above the limit, after an overload."""
    chance = np.random.default_rng([law.seed, REQUESTS])
    gaps = chance.exponential(1 / rate, REQUESTS)
    gaps[:WAITING] = 0
    return float(np.mean(law.responses(np.cumsum(gaps), chance, 1.0)[int(REQUESTS / 10) :] > law.limit_s))


def truth(law: Queue) -> float:
    """The highest rate at which 1 % of the response times are above the limit in the long run, also after an
    overload."""
    low, high = law.capacity / AROUND, law.capacity * AROUND
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if share_over(law, middle) < 0.01 else (low, middle)
    return math.sqrt(low * high)


def searched_and_confirmed(law: Queue, number: int) -> Capacity:
    """One search with its confirming windows."""
    answer = searched(law, NOISY, STEP_S, number).answer
    chance = np.random.default_rng([law.seed, number])
    windows: list[Probe] = []
    while answer.rate is not None and (rate := next_window(answer.rate, windows)) is not None:
        windows.append(Probe(rate=rate, excess=step(law, rate, CONFIRM_S, LOADED, 0.5, chance, None)))
    return confirmed(answer, windows)


def row(law: Queue, searches: int) -> str:
    """One row of the table."""
    answers = [searched_and_confirmed(law, number) for number in range(searches)]
    known = [(a.rate, a.low, a.high) for a in answers if a.rate is not None and a.low and a.high]
    first = f"| {law.name} | {law.capacity:.0f} | {100 * (1 - len(known) / searches):.0f} % "
    if not known:
        return f"{first}| - | - | - | - | not measurable |"
    offs = [rate / law.capacity - 1 for rate, _, _ in known]
    within = sum(abs(off) <= WITHIN for off in offs) / len(known)
    covered = sum(low <= law.capacity <= high for _, low, high in known) / len(known)
    goal = "met" if within >= GOAL_WITHIN and covered >= GOAL_COVERED else "missed"
    half = np.median([(high - low) / 2 / rate for rate, low, high in known])
    return (
        f"{first}| {100 * within:.0f} % | {100 * covered:.0f} % | ±{100 * half:.1f} % | {100 * np.mean(offs):+.1f} % "
        f"| {goal} |"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--law", choices=LAWS, action="append")
    parser.add_argument("--truth", action="store_true")
    given = parser.parse_args()
    laws = [LAWS[name] for name in given.law or LAWS]
    if given.truth:
        for law in laws:
            print(f"{law.name}: {truth(law):.1f}", flush=True)
        return
    print("| law | true capacity | refused | within 5 % | covered | half of the interval | bias | goal |")
    print("|---|---|---|---|---|---|---|---|")
    for law in laws:
        print(row(law, given.searches), flush=True)


if __name__ == "__main__":
    main()
