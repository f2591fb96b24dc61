"""The settings of the servers that differ from the vendors' defaults, as each server reported them in its trials.

Refuses to know a default: the manifest has those of the targets, as the run was begun.
"""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.same_value import is_same_value
from scale_sweep.model import DEFAULTS, KnobRole, StoredRun, TrialResult
from scale_sweep.report.table import Table

_FROM = {
    True: "durability and maintenance: the vendors' defaults (--settings defaults)",
    False: "the set of settings for loading (--settings loading)",
}
_READ = "values: as the server reported them in the trials; those that differ between trials are joined by /"


def starting_point(run: StoredRun) -> str:
    """The set of settings that the servers started from, in words; both for variants with different sets."""
    named = {trial.settings == DEFAULTS for trial in run.plan.trials}
    return "; ".join(words for is_vendor, words in _FROM.items() if is_vendor in named)


def settings_table(run: StoredRun) -> Table | None:
    """A row for each database and setting that differs; None if the manifest has no defaults of the vendors."""
    stored = run.manifest.get("vendor_defaults")
    if not isinstance(stored, Mapping) or not run.results:
        return None
    rows = []
    for name in dict.fromkeys(result.trial.subject.target for result in run.results):
        defaults = stored.get(name)
        mine = [result for result in run.results if result.trial.subject.target == name]
        rows += _rows(name, mine, defaults if isinstance(defaults, Mapping) else {}, _load_knobs(run))
    return Table(
        title="Settings that differ from the defaults of the vendors",
        headers=("database", "setting", "here", "vendor's default"),
        rows=tuple(rows),
        words=(0, 1, 2, 3),
        notes=(starting_point(run), _READ),
    )


def _load_knobs(run: StoredRun) -> frozenset[str]:
    """Names of knobs that are the load's or the schema's, such as connections and partitions."""
    return frozenset(knob.name for knob in run.plan.knobs if knob.role is not KnobRole.OTHER)


def _rows(
    database: str, results: list[TrialResult], defaults: Mapping[str, object], load_knobs: frozenset[str]
) -> list[tuple[str, ...]]:
    requested = {name for result in results for name in result.trial.knobs if name not in load_knobs}
    rows: list[tuple[str, ...]] = []
    for setting in sorted({*defaults, *requested}):
        values = list(dict.fromkeys(r.effective[setting] for r in results if setting in r.effective))
        default = str(defaults.get(setting, "not stated"))
        if any(not is_same_value(value, default) for value in values):
            rows.append((database, setting, " / ".join(values), default))
    return rows
