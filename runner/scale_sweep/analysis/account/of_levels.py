"""Each level's account: differences of logarithms against the first level within blocks, in percent of the ideal rate.

Amounts a that add up to f divide ln(f / f₀) without a remainder: (a - a₀) / L(f, f₀), with the logarithmic mean L and
the means of the first level (Ang, Energy Policy 33, 2005)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import combinations

import numpy as np

from scale_sweep.analysis.account import of_trial
from scale_sweep.analysis.account.of_trial import CPU, KINDS, CountedTrial, Series
from scale_sweep.analysis.account.words import sentence_of
from scale_sweep.analysis.confidence import pooled_squares, student
from scale_sweep.analysis.fit.models import Floats
from scale_sweep.analysis.fit.summaries import Speedup, paired_differences
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model.account import Account, LevelAccount, LossPart, Origin
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import Observation, Ratio

LOG_MOST = 700.0  # a stored file may hold any number; the exponential of this one is still finite
_ORIGINS: Mapping[str, Origin] = {"requests": "estimate", "runnable": "estimate", "rest": "rest"}
_Group = tuple[tuple[str, ...], Floats]
_Pairs = Sequence[tuple[TrialResult, Observation]]


def account_of(
    results: Sequence[TrialResult], axis: AxisFacts, rate: str, series: Mapping[str, Series]
) -> Account | None:
    """rate: a field of Measurement. series: of each trial. None: for no trial that counts."""
    observed = zip(results, observations(results, rate), strict=True)
    pairs = [(r, o) for r, o in observed if o.role == "point" and not o.mark and o.value is not None]
    if not pairs:
        return None
    if reason := _why_none(pairs, axis):
        return Account(reason=reason)
    parts_of, otherwise = KINDS[axis.account]
    counted = _counted(pairs, series)
    made = [(one, o, parts) for one, (_, o) in zip(counted, pairs, strict=True) if (parts := parts_of(one)) is not None]
    levels = np.array([o.level for _, o, _ in made])
    if len(np.unique(levels)) < 2:
        return Account(reason=otherwise)
    table = _Table(levels, np.array([o.block for _, o, _ in made], dtype=float), [parts for *_, parts in made])
    figures = [of_trial.per_unit(one.result) for one, *_ in made]
    first, *others = map(float, np.unique(levels))
    accounts = tuple(table.account(level, figures) for level in others)
    unit = "request" if pairs[0][0].trial.work.counts_requests else "row"
    return Account(
        first=first,
        levels=accounts,
        sentence=sentence_of(accounts[-1], axis, unit),
        not_measured=tuple(_lacking(axis, counted[0].has, figures)),
    )


def _why_none(pairs: _Pairs, axis: AxisFacts) -> str:
    if axis.account not in KINDS:
        return f"levels of {axis.name} have no account"
    if any(r.trial.load.searches for r, _ in pairs):
        return "the rates are capacities, and use of the machine was measured in another load, the closed loop"
    if len({o.subject for _, o in pairs}) > 1 or len({o.level for _, o in pairs}) < 2:
        return "it needs trials that count at two levels"
    return ""


_MEASURED: Mapping[str, Callable[[TrialResult], bool]] = {
    "throttled": lambda r: r.measurement.throttled_s is not None,
    "others": lambda r: r.measurement.server_taken_cores is not None,
    "runnable": lambda r: r.measurement.server_queued_cores is not None,
    "requests": lambda r: r.measurement.in_flight_percent is not None and r.measurement.rows_sent is None,
    "counters": lambda r: bool(r.measurement.server_cycles_per_s and r.measurement.server_instructions_per_s),
    "waits": lambda r: bool(r.measurement.server_waits),
    "speed": lambda r: of_trial.are_usable(r.measurement.cpu_speed),
}


def _counted(pairs: _Pairs, series: Mapping[str, Series]) -> list[CountedTrial]:
    results = [r for r, _ in pairs]
    systems = [of_trial.system_share(r, series.get(r.trial.trial_id, ())) for r in results]
    has = {name for name, is_measured in _MEASURED.items() if all(map(is_measured, results))}
    has |= set() if None in systems else {"system"}
    rates = [o.value or 0.0 for _, o in pairs]
    return [CountedTrial(*one, has) for one in zip(results, rates, systems, strict=True)]


def _lacking(axis: AxisFacts, has: Set[str], figures: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """The names of parts of the CPU time and of figures that some trial has not."""
    yield from (name for name in (*_MEASURED, "system") if axis.account == CPU and name not in has)
    yield from (name for name in ("switches", "read_bytes", "joules") if not all(name in one for one in figures))


class _Table:
    """Parts of ln(rate for each level) of all trials, as columns by (of, name)."""

    def __init__(self, levels: Floats, blocks: Floats, trials: Sequence[of_trial.Parts]) -> None:
        self._levels, self._blocks, self._is_first = levels, blocks, levels == levels.min()
        self._known: dict[bytes, Mapping[float, Speedup]] = {}
        self.logs = {key: np.array([logs[key] for logs, _ in trials]) for key in trials[0][0]}
        for number, split in enumerate(trials[0][1]):
            self._divide(split.of, [splits[number] for _, splits in trials])

    def _divide(self, of: str, splits: Sequence[of_trial.Split]) -> None:
        scales = np.array([one.scale for one in splits])
        means = _log_means(scales, float(scales[self._is_first].mean()))
        for name in dict.fromkeys(name for one in splits for name in one.amounts):
            amounts = np.array([one.amounts.get(name, 0.0) for one in splits])
            if amounts.any():
                self.logs[of, name] = (amounts[self._is_first].mean() - amounts) / means

    def account(self, level: float, figures: Sequence[Mapping[str, float]]) -> LevelAccount:
        mains = np.array([logs for (of, _), logs in self.logs.items() if not of])
        whole = self._difference(mains.sum(axis=0), level)
        missing = _part(("missing",), "", whole, lambda log: 100 * (1 - _ratio(log)))
        scale = missing.percent / whole.log if whole.log else -100.0
        parts = [
            _part(names, of, self._difference(logs, level), lambda log: scale * log)
            for of in dict.fromkeys(of for of, _ in self.logs)
            for names, logs in self._division(of, level)
        ]
        here, each, ratios = self._levels == level, dict[str, float](), dict[str, Ratio]()
        for name in dict.fromkeys(name for one in figures for name in one):
            values = np.array([one.get(name, 0.0) for one in figures])
            if values.min() > 0 and values.max() < math.inf:
                change = self._difference(np.log(values), level)
                low, high = _ends(change, _ratio)
                each[name], ratios[name] = (
                    float(values[here].mean()),
                    Ratio(value=_ratio(change.log), low=low, high=high),
                )
        return LevelAccount(
            level=level, trials=int(here.sum()), missing=missing, parts=tuple(parts), per_unit=each, ratios=ratios
        )

    def _division(self, of: str, level: float) -> list[_Group]:
        """Main parts stay apart; of others, two whose sum is known better than each of them are one."""
        groups: list[_Group] = [((name,), logs) for (within, name), logs in self.logs.items() if within == of]
        while of not in ("", "waiting") and (pair := self._correlated(groups, level)) is not None:
            (names, logs), (others, more) = pair
            groups = [one for one in groups if one[0] not in (names, others)] + [((*names, *others), logs + more)]
        return groups

    def _correlated(self, groups: Sequence[_Group], level: float) -> tuple[_Group, _Group] | None:
        for one, other in combinations(groups, 2):
            halves = [_half(self._difference(logs, level)) for logs in (one[1], other[1], one[1] + other[1])]
            if halves[2] < min(halves[:2]):
                return one, other
        return None

    def _difference(self, logs: Floats, level: float) -> Speedup:
        """Within the blocks as the fit takes it, else of the levels' means."""
        key = logs.tobytes()
        if key not in self._known:
            self._known[key] = paired_differences(self._levels, logs, self._blocks)
        if level in self._known[key]:
            return self._known[key][level]
        here, there = logs[self._levels == level], logs[self._is_first]
        squares, degrees = pooled_squares([logs[self._levels == one] for one in np.unique(self._levels)])
        error = math.sqrt(squares / degrees * (1 / len(here) + 1 / len(there))) if degrees else 0.0
        return Speedup(log=float(here.mean() - there.mean()), error=error, degrees=degrees)


def _log_means(values: Floats, base: float) -> Floats:
    """L(v, b) = (v - b) / ln(v / b), and b for v = b."""
    apart = np.log(values / base)
    near = np.abs(apart) < 1e-6  # L = b (1 + apart / 2) to twelve digits
    return np.where(near, base * (1 + apart / 2), (values - base) / np.where(near, 1.0, apart))


def _half(difference: Speedup) -> float:
    """Half of the 95 % interval; 0 without replicates."""
    return student(difference.degrees) * difference.error if difference.degrees else 0.0


def _ends(difference: Speedup, of: Callable[[float], float]) -> tuple[float | None, float | None]:
    if not difference.degrees:
        return None, None
    low, high = sorted(of(difference.log + sign * _half(difference)) for sign in (-1, 1))
    return low, high


def _ratio(log: float) -> float:
    return math.exp(min(log, LOG_MOST))


def _part(names: tuple[str, ...], of: str, difference: Speedup, percent: Callable[[float], float]) -> LossPart:
    low, high = _ends(difference, percent)
    origin: Origin = "estimate" if names[0].startswith(of_trial.WAIT) else _ORIGINS.get(names[0], "measured")
    return LossPart(names=names, percent=percent(difference.log), low=low, high=high, of=of, origin=origin)
