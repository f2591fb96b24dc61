"""Format 2 → format 3, which has other names for the same things: from plain JSON values to plain JSON values. Pure.

Only names of fields, of roles and of settings change. Names given by users (variants, tags, knobs, disks) stay. Names
of trials stay too, because directories have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Plain = dict[str, Any]
_ROLES = {"anchor": "drift_check", "bridge": "ablation"}
_SWEEP = {"anchors": "drift_check", "bridge": "ablation", "client_cpus": "generator_cpus"}
_TRIAL = {"bridged_from": "knobs_of_level"}
_LOAD = {"loader": "generator"}
_PLACEMENT = {"client_cpus": "generator_cpus"}
_VERDICT = {"limit": "bottleneck"}
_FIT = {"roof": "maximum", "near": "supported"}
_MODEL = {"leave_last_out_error": "holdout_error"}
_MEASUREMENT = {
    "client_cpu_cores": "generator_cpu_cores",
    "client_cpu_percent": "generator_cpu_percent",
    "client_cpu_mhz": "generator_cpu_mhz",
    "passed_over_s": "transient_s",
    "passed_over_rows_per_s": "transient_rows_per_s",
}
_SETTINGS = {
    "cpus.client": "cpus.generator",
    "load.loader": "load.generator",
    "method.anchors": "method.drift_check",
    "method.bridge": "method.ablation",
}
_COLUMNS = {**_MEASUREMENT, **_VERDICT, **_PLACEMENT, "limit_shares": "bottleneck_shares"}


def manifest(old: Plain) -> Plain:
    """manifest.json. `upgraded_from` stays with the run when it is written again."""
    sweep = {"sweep": _sweep(old["sweep"])} if isinstance(old.get("sweep"), dict) else {}
    return {"upgraded_from": 2, **old, **sweep}


def plan(old: Plain) -> Plain:
    """plan.json."""
    return {**old, "sweep": _sweep(old["sweep"]), "trials": [_trial(trial) for trial in old["trials"]]}


def result(old: Plain, _: Plain) -> Plain:
    """trial.json."""
    return {
        **old,
        "trial": _trial(old["trial"]),
        "measurement": _renamed(old["measurement"], _MEASUREMENT),
        "verdict": _renamed(old["verdict"], _VERDICT),
    }


def fit(old: Plain) -> Plain:
    """fit.json."""
    new = _renamed(old, _FIT)
    beside = new.get("beside")
    if isinstance(beside, dict) and isinstance(beside.get("model"), dict):
        new["beside"] = {**beside, "model": _renamed(beside["model"], _MODEL)}
    return {**new, "models": [_renamed(model, _MODEL) for model in old["models"]]}


def table_row(old: Mapping[str, Any]) -> Plain:
    """A row of points.csv, series.csv or timeseries.csv, by column."""
    new = _renamed(old, _COLUMNS)
    return {**new, "role": _ROLES.get(new["role"], new["role"])} if "role" in new else new


def table_header(old: str) -> str:
    """The header line of such a file."""
    return ",".join(_COLUMNS.get(name, name) for name in old.split(","))


def _sweep(old: Plain) -> Plain:
    new = _renamed(old, _SWEEP)
    return {**new, "load": _renamed(old["load"], _LOAD), "origin": _renamed(old["origin"], _SETTINGS)}


def _trial(old: Plain) -> Plain:
    new = _renamed(old, _TRIAL)
    resources = old["resources"]
    return {
        **new,
        "role": _ROLES.get(old.get("role", "point"), old.get("role", "point")),
        "resources": {**resources, "placement": _renamed(resources["placement"], _PLACEMENT)},
        "load": _renamed(old["load"], _LOAD),
    }


def _renamed(old: Mapping[str, Any], names: Mapping[str, str]) -> Plain:
    return {names.get(name, name): value for name, value in old.items()}
