"""Columns that an axis can name: of the published article's table, and of the console's table. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scale_sweep.base.units import format_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model import KnobColumn, KnobRole, Measurement, TrialResult
from scale_sweep.report.table import ABSENT, fixed, marked, mean, short

ARTICLE_NAMES: Mapping[str, str] = {KnobRole.CONNECTIONS: "Write threads"}
"""The article's names for roles of knobs that have another name here."""
Column = tuple[str, Callable[[Sequence[TrialResult]], str]]
Say = Callable[[float | None], str]


def published(name: str, axis: AxisFacts, knobs: Mapping[str, KnobColumn]) -> Column:
    """A column of the published table: a figure, or a role's knob. knobs: by the names of the roles."""
    if name not in knobs:
        return _figures(axis)[name]
    return _knob(knobs[name].name, ARTICLE_NAMES.get(name, knobs[name].label))


def knob_at(trials: Sequence[TrialResult], name: str) -> str:
    """The values of a knob in these trials."""
    return " / ".join(dict.fromkeys(r.trial.knobs[name] for r in trials if name in r.trial.knobs)) or ABSENT


def disk_mb_per_s(axis: AxisFacts, m: Measurement) -> float | None:
    """The disks' write rate in MB/s: over the whole load to the end of flush and sync if the axis' rate is of that
    time; else in the window."""
    rates = [disk.write_mb_per_s for disk in m.disks.values() if disk.write_mb_per_s is not None]
    whole = axis.is_durable and len(rates) == len(m.disks) > 0
    return sum(rates) if whole else m.disk_write_mb_per_s


def _knob(name: str, heading: str) -> Column:
    return heading, lambda trials: knob_at(trials, name)


def _figures(axis: AxisFacts) -> Mapping[str, Column]:
    return {
        "rows": ("Write speed (rows/s)", _marked("rows_per_s")),
        "requests": ("Requests/s", _marked("requests_per_s")),
        "durable_rows": ("Durable (rows/s)", _marked("durable_rows_per_s")),
        "disk_io": ("Disk I/O (MB/s)", _mean_of(lambda m: disk_mb_per_s(axis, m), short)),
        "available_memory": ("Available memory (GB)", _mean_of(lambda m: m.memory_available_gb, short)),
        "cpu": ("CPU usage (%)", _mean_of(lambda m: m.server_cpu_percent, fixed)),
    }


def _mean_of(read: Callable[[Measurement], float | None], say: Say) -> Callable[[Sequence[TrialResult]], str]:
    return lambda trials: say(mean(read(r.measurement) for r in trials))


def _marked(field: str) -> Callable[[Sequence[TrialResult]], str]:
    """The mean of a rate with its words."""
    say = _mean_of(lambda m: getattr(m, field), format_rate)
    return lambda trials: marked(say(trials), trials, field=field)


def _disk_names(trials: Sequence[TrialResult]) -> list[str]:
    return list(dict.fromkeys(name for r in trials for name in r.measurement.disks))


def _of_disk(trials: Sequence[TrialResult], name: str, figure: str) -> float | None:
    return mean(getattr(r.measurement.disks[name], figure) for r in trials if name in r.measurement.disks)


def _disk_total(trials: Sequence[TrialResult]) -> str:
    rates = [_of_disk(trials, name, "write_mb_per_s") for name in _disk_names(trials)]
    return short(sum(r for r in rates if r is not None)) if rates and None not in rates else ABSENT


def _disk_shares(trials: Sequence[TrialResult]) -> str:
    shares = [fixed(_of_disk(trials, name, "share_percent"), 1) for name in _disk_names(trials)]
    return " / ".join(shares) or ABSENT


def _disk_use(trials: Sequence[TrialResult]) -> str:
    used = mean(r.measurement.disk_used_percent for r in trials)
    return f"{fixed(used)} %" if used is not None else ABSENT


CONSOLE: Mapping[str, Column] = {
    "disk_write": ("disk MB/s", _mean_of(lambda m: m.disk_write_mb_per_s, short)),
    "disk_total": ("disk MB/s", _disk_total),
    "disk_shares": ("shares (%)", _disk_shares),
    "disk_of_ceiling": ("of ceiling", _disk_use),
}
