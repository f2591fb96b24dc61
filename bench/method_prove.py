"""Does `--prove` name the resource that limits? Seeded simulation of its trials, whose truth is known.

    python bench/method_prove.py [--sets 100] [--seed 1] [--only systems|noise|shared|more]

The truth is a closed network of queues in product form, solved exactly: stations for CPUs, disk, the load's CPUs, a
lock, and a wait without a queue (network, think time), and a number of clients. The disturbances follow `schedule` for
55 s and take 20 % of each resource (± 2 %). The rate of each second has noise (lognormal, autoregression of φ = 0.5),
a bent drift of up to 7.5 %, in 3 of 10 trials a second with nearly no rows, and follows each change of phase 0.1 s
late. Tables, all in bench/evidence (prove*.csv): seven systems, five with one limit; harder noise; a limit that
a lock shares, which is not disturbed; the gain of 10 % more of each resource. A false naming: one resource that alone
does not limit, several where one limits, none where one does.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))

from scale_sweep.analysis.proof import proof_of, schedule
from scale_sweep.model.proof import Proof, ProofInterval, ProofPhase

Chance = np.random.Generator
NOISES, COUNTS, SECONDS, TEN_PERCENT = (0.02, 0.05), (2, 3, 4), 55, 1.1
NO_QUEUE = 10**6  # servers
ALL = ("cpu", "disk", "load", "clients")


@dataclass(frozen=True, kw_only=True)
class System:
    """stations: seconds of work of one request, and servers. causes: what limits, of the disturbed."""

    what: str
    causes: tuple[str, ...]
    stations: Mapping[str, tuple[float, int]]
    clients: int = 40

    def rate(self, left: Mapping[str, float]) -> float:
        """With this share left of each resource."""
        stations = tuple((work / left.get(name, 1.0), servers) for name, (work, servers) in self.stations.items())
        return throughput(stations, round(self.clients * left.get("clients", 1.0)))

    def gain(self, resource: str) -> float:
        """ln of the ratio of the rates with 10 % more of it."""
        more = round(self.clients * TEN_PERCENT) / self.clients if resource == "clients" else TEN_PERCENT
        return math.log(self.rate({resource: more}) / self.rate({}))

    def order(self) -> tuple[str, ...]:
        """The resources to disturb, those that limit first."""
        return (*self.causes, *(name for name in ALL if name not in self.causes))


@functools.cache
def throughput(stations: tuple[tuple[float, int], ...], clients: int) -> float:
    """Of a closed network in product form, by Buzen's convolution: X(N) = G(N − 1) / G(N)."""
    sums = np.eye(1, clients + 1)[0]
    for work, servers in stations:
        factors = np.cumprod([1.0, *(work / min(busy, servers) for busy in range(1, clients + 1))])
        sums = np.convolve(sums, factors)[: clients + 1]
        sums /= sums.max()
    return float(sums[-2] / sums[-1])


def system(what: str, *causes: str, clients: int = 40, **changed: tuple[float, int]) -> System:
    """Every station could do 8 requests a second or more, unless changed; a limit does 4."""
    usual = {"cpu": (0.5, 4), "disk": (0.1, 1), "load": (0.2, 2), "lock": (0.1, 1), "wait": (1.0, NO_QUEUE)}
    return System(what=what, causes=causes, stations=usual | changed, clients=clients)


SYSTEMS = (
    system("CPU", "cpu", cpu=(1.0, 4)),
    system("disk", "disk", disk=(0.25, 1)),
    system("lock (not disturbed)", lock=(0.25, 1)),
    system("load's CPU", "load", load=(0.5, 2)),
    system("number of clients", "clients", clients=20, wait=(9.0, NO_QUEUE)),
    system("CPU and disk", "cpu", "disk", cpu=(1.0, 4), disk=(0.25, 1)),
    system("CPU and load's CPU", "cpu", "load", cpu=(1.0, 4), load=(0.5, 2)),
)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Of ln(rate) by second."""

    what: str = ""
    std: float = 0.02
    phi: float = 0.5
    drift: float = 0.05
    stalls: Sequence[int] = (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)  # one of these numbers
    tails: float = 0.0  # degrees of freedom of Student's t; 0: normal
    dip_every_s: int = 0  # a second with 30 % less
    late_s: float = 0.1
    taken: float = 0.2
    mismeasured: float = 0.0  # relative error of what was taken

    def drawn(self, chance: Chance, seconds: int) -> np.ndarray:
        shocks = chance.standard_t(self.tails, seconds) / 3**0.5 if self.tails else chance.normal(size=seconds)
        state = shocks.copy()
        for at in range(1, seconds):
            state[at] = self.phi * state[at - 1] + math.sqrt(1 - self.phi**2) * shocks[at]
        part = np.arange(seconds) / seconds
        wave = np.sin(2 * math.pi * (part * chance.uniform(0.5, 2) + chance.uniform()))
        logs = self.std * state + self.drift * (chance.uniform(-1, 1) * part + 0.5 * chance.uniform(-1, 1) * wave)
        for at in chance.integers(seconds, size=chance.choice(self.stalls)):
            logs[at] += math.log(chance.uniform(0.02, 0.5))
        if self.dip_every_s:
            logs[chance.integers(self.dip_every_s) :: self.dip_every_s] += math.log(0.7)
        return logs


QUIET = Noise(std=1e-6, drift=0.0, stalls=(0,))


def intervals(of: System, phases: Sequence[ProofPhase], noise: Noise, chance: Chance) -> list[ProofInterval]:
    """Of one trial."""

    def left(name: str) -> float:
        if name == "clients":
            return 1 - round(of.clients * noise.taken) / of.clients
        return 1 - round(noise.taken * (1 + 0.02 * chance.standard_normal()), 3)

    found, rates = [], []
    for phase in phases:
        now = {name: left(name) for name in sorted(phase.on)}
        rates.append(of.rate(now))
        seen = {name: 1 - (1 - of_it) * (1 + noise.mismeasured * chance.normal()) for name, of_it in now.items()}
        for second in range(round(phase.seconds)):
            late = noise.late_s if second == 0 and len(rates) > 1 else 0.0
            found.append(
                ProofInterval(
                    at_s=phase.start_s + second,
                    seconds=1.0,
                    block=phase.block,
                    rate=(1 - late) * rates[-1] + late * rates[-2 if late else -1],
                    left={name: math.log(of_it) for name, of_it in seen.items()},
                )
            )
    factors = np.exp(noise.drawn(chance, len(found)))
    return [replace(one, rate=one.rate * factor) for one, factor in zip(found, factors.tolist(), strict=True)]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}"


def proofs(of: System, count: int, noise: Noise, sets: int, seed: int) -> Iterator[Proof]:
    names = of.order()[:count]
    for number in range(sets):
        chance = np.random.default_rng([seed, number, count, round(1000 * noise.std), crc32(of.what.encode())])
        yield proof_of(intervals(of, schedule(names, SECONDS), noise, chance), names)


def judged(of: System, count: int, noise: Noise, sets: int, seed: int) -> list[tuple[float, ...]]:
    """Of each set: e of what limits (mean); whether the causes have at least 0.8 and the others at most 0.2; whether
    right, not decided and falsely named; the share of the intervals that hold the e of a trial without noise."""
    (quiet,) = proofs(of, count, QUIET, 1, seed)
    truth = {one.resource: one.value for one in quiet.elasticities}
    rows = []
    for proof in proofs(of, count, noise, sets, seed):
        e = {one.resource: one.value for one in proof.elasticities}
        cause = sum(e.get(name, math.nan) for name in of.causes) / len(of.causes) if of.causes else math.nan
        reached = all((e[name] >= 0.8 if name in of.causes else e[name] <= 0.2) for name in e) and bool(e)
        right, undecided = set(proof.causes) == set(of.causes) and not proof.reason, bool(proof.reason)
        held = [one.low <= truth[one.resource] <= one.high for one in proof.elasticities] or [False]
        rows.append((cause, reached, right, undecided, not (right or undecided), sum(held) / len(held)))
    return rows


def cells(rows: list[tuple[float, ...]], one_limit: bool) -> list[str]:
    e, *shares = np.array(rows).T
    known = e[~np.isnan(e)]
    texts = [f"{100 * share.mean():.1f}" for share in shares]
    return [f"{known.mean():.2f}" if len(known) else "", texts[0] if one_limit else "", *texts[1:]]


HEAD = "e of what limits,reached (%),named right (%),not decided (%),named falsely (%),intervals hold (%)"


def systems(sets: int, seed: int) -> Iterator[str]:
    """The seven systems."""
    yield f"what limits,disturbed,noise (%),{HEAD}"
    for std in NOISES:
        for count in COUNTS:
            for of in SYSTEMS:
                rows = judged(of, count, Noise(std=std), sets, seed)
                yield ",".join([of.what, str(count), f"{100 * std:.0f}", *cells(rows, len(of.causes) < 2)])


HARDER = (
    Noise(what="independent seconds", phi=0.0),
    Noise(what="slower noise (φ = 0.8)", phi=0.8),
    Noise(what="heavy tails (Student's t with 3)", tails=3.0),
    Noise(what="drift up to 30 %", drift=0.2),
    Noise(what="four stalls of 1 s", stalls=(4,)),
    Noise(what="30 % less in every 5th second", dip_every_s=5),
    Noise(what="30 % less in every 4th second: as long as two phases", dip_every_s=4),
    Noise(what="the rate follows 0.3 s late", late_s=0.3),
    Noise(what="the rate follows 0.5 s late", late_s=0.5),
    Noise(what="what was taken is measured to 10 %", mismeasured=0.1),
    Noise(what="10 % are taken", taken=0.1),
    Noise(what="noise of 10 %", std=0.1),
)


def noise(sets: int, seed: int) -> Iterator[str]:
    """The systems with one limit and two disturbances together, and the two with two limits."""
    yield f"noise of 5 % or as named,limits,{HEAD}"
    for kind in HARDER:
        for limits in ("one", "two"):
            members = [of for of in SYSTEMS if (len(of.causes) < 2) == (limits == "one")]
            drawn_noise = replace(kind, std=max(kind.std, 0.05))
            rows = [row for of in members for row in judged(of, 2, drawn_noise, sets, seed)]
            yield ",".join([f'"{kind.what}"', limits, *cells(rows, limits == "one")])


def shared(sets: int, seed: int) -> Iterator[str]:
    """CPUs and a lock that was not disturbed: from a reserve of the lock to one of the CPUs."""
    yield "lock's reserve (%),noise (%),e of the CPUs,10 % more CPU brings (%),CPU named (%),none (%),not decided (%)"
    for reserve in (20, 10, 5, 0, -5, -10, -20):
        of = system("", "cpu", cpu=(1.0, 4), lock=(0.25 / (1 + reserve / 100), 1))
        for std in NOISES:
            found = list(proofs(of, 2, Noise(std=std), sets, seed))
            e = np.mean([one.elasticities[0].value for one in found])
            named = [sum(one.causes == causes and not one.reason for one in found) for causes in (("cpu",), ())]
            parts = [percent(part, sets) for part in (*named, sum(bool(one.reason) for one in found))]
            yield ",".join(
                [f"{reserve}", f"{100 * std:.0f}", f"{e:.2f}", f"{100 * math.expm1(of.gain('cpu')):.1f}", *parts]
            )


def drawn(chance: Chance) -> System:
    """A network of chance, its lock with a reserve."""

    def station(servers: Sequence[int]) -> tuple[float, int]:
        count = int(chance.choice(servers))
        return count * math.exp(chance.normal(0, chance.choice([0.1, 0.5, 1.0]))), count

    stations = {"cpu": station((1, 2, 4, 8)), "disk": station((1, 2)), "load": station((1, 2, 4))}
    busiest = max(work / servers for work, servers in stations.values())
    stations |= {"lock": (busiest / chance.uniform(1.2, 4), 1), "wait": (math.exp(chance.uniform(-2, 2)), NO_QUEUE)}
    return System(
        what="networks of chance", causes=(), stations=stations, clients=round(math.exp(chance.uniform(1, 5)))
    )


def more(sets: int, seed: int) -> Iterator[str]:
    """10 % more of each resource, three disturbed."""
    yield "what limits,noise (%),resources,interval holds (%),median half of it (points),95 % off by less (points)"
    chance = np.random.default_rng(seed)
    random = [drawn(chance) for _ in range(10 * sets)]
    for std in NOISES:
        groups = [([of], sets) for of in SYSTEMS] + [(random, 1)]
        for members, each in groups:
            rows = [
                (one.more_percent, one.more_low or 0.0, one.more_high or 0.0, 100 * math.expm1(of.gain(one.resource)))
                for number, of in enumerate(members)
                for proof in proofs(of, 3, Noise(std=std), each, seed + number)
                for one in proof.elasticities
            ]
            value, low, high, true = np.array(rows).T
            held = percent(int(((low - 0.05 <= true) & (true <= high + 0.05)).sum()), len(rows))
            half, off = np.median(high - low) / 2, np.quantile(np.abs(value - true), 0.95)
            yield ",".join([members[0].what, f"{100 * std:.0f}", str(len(rows)), held, f"{half:.1f}", f"{off:.1f}"])


TABLES = {"systems": systems, "noise": noise, "shared": shared, "more": more}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=TABLES, action="append")
    asked = parser.parse_args()
    for name in asked.only or TABLES:
        for line in TABLES[name](asked.sets, asked.seed):
            print(line, flush=True)


if __name__ == "__main__":
    main()
