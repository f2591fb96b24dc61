"""The names of the parts, and the sentence of an account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scale_sweep.analysis.account.of_trial import WAIT
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model.account import LevelAccount, LossPart

NAMES: Mapping[str, str] = {  # with {unit} for row or request
    "not_used": "CPU time that the server did not use",
    "more_work": "more CPU time a {unit}",
    "not_busy": "time in which the disks wrote less than fio",
    "together": "less that the disks themselves can write together, by fio",
    "bytes": "more bytes a {unit}",
    "answers": "a longer time until each answer",
    "own": "the load's own time between two requests",
    "throttled": "held by a CPU quota",
    "load": "taken by the load generator",
    "others": "taken by other programs",
    "requests": "waiting for requests",
    "runnable": "runnable but not running",
    "waiting": "waiting",
    "rest": "the rest",
    "speed": "slower CPUs",
    "user": "user code",
    "system": "the kernel",
    "clock": "slower clock",
    "per_cycle": "fewer instructions a cycle",
    "instructions": "more instructions a {unit}",
    "waits": "waits of the database's connections",
    "counters": "clock, instructions a cycle, instructions a {unit} (not separable here: no hardware counters)",
    "cpu_us": "CPU time (µs)",
    "switches": "context switches",
    "written_bytes": "bytes written",
    "read_bytes": "bytes read",
    "network_bytes": "bytes over the network",
    "joules": "joules",
}


def words_of(names: Iterable[str], unit: str, between: str = " and ") -> str:
    return between.join(NAMES.get(name, name.removeprefix(WAIT)) for name in names).replace("{unit}", unit)


def percent_words(part: LossPart) -> str:
    """ "12 (8.1 to 16)", in percent."""
    value = _short(part.percent)
    return value if part.low is None or part.high is None else f"{value} ({_short(part.low)} to {_short(part.high)})"


def _short(percent: float) -> str:
    shown = f"{percent:.1f}" if abs(percent) < 10 else f"{percent:.0f}"
    return "0" if float(shown) == 0 else shown


def sentence_of(account: LevelAccount, axis: AxisFacts, unit: str) -> str:
    """account: of the last level."""
    at, missing = axis.count(format_number(account.level)), account.missing
    if missing.may_be_none:
        return f"At {at} no loss is clear: {percent_words(missing)} % of the ideal rate is missing."
    if missing.percent <= 0:
        return f"At {at} nothing is missing: the rate is {_short(-missing.percent)} % above the ideal one."
    mains = sorted((part for part in account.within("") if _short(part.percent) != "0"), key=lambda part: -part.percent)
    words = [_main_words(account, part, unit) for part in mains]
    unknown = "" if missing.low is not None else " Without replicates no part has an interval."
    return f"Of the {_short(missing.percent)} % missing at {at}, {'; '.join(words)}.{unknown}"


def _main_words(account: LevelAccount, part: LossPart, unit: str) -> str:
    name = words_of(part.names, unit)
    if part.may_be_none or part.percent < 0:
        return f"{percent_words(part)} are {name}, {'which may be none' if part.may_be_none else 'so they are a gain'}"
    return f"{percent_words(part)} are {name}{_mostly(account, part, unit)}"


def _mostly(account: LevelAccount, part: LossPart, unit: str) -> str:
    """The largest part inside it, if it is clear and more than half."""
    inside = max(account.within(part.key), key=lambda one: one.percent, default=None)
    if inside is None or inside.may_be_none or inside.origin == "rest" or 2 * inside.percent <= part.percent:
        return ""
    most = max(account.within(inside.key), key=lambda one: one.percent, default=None)
    waits = f" for {words_of(most.names, unit)}" if most is not None and 2 * most.percent > inside.percent else ""
    return f", mostly {words_of(inside.names, unit)}{waits}"
