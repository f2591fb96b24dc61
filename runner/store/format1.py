"""Format 1 (tool 0.1.0) → format 2: from plain JSON values to plain JSON values. Pure; one function for each kind.

Format 1 kept the work, the load and the subject of a trial only in the sweep, with the changes by --vary beside it, and
the trial's resources as plain fields. Refuses to guess: what was not stored is what every run had at that time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Plain = dict[str, Any]
_MOVED_OF_SWEEP = ("workload", "placement", "loader")
_MOVED_OF_TRIAL = ("cores", "disks", "placement", "variant")
_OF_SUBJECT = ("target", "runtime", "version", "image", "home", "endpoint")
_VARIED_DATA = ("tables", "rows_per_request", "interlace_rows")
_COUNTS = {"k": 10**3, "m": 10**6, "g": 10**9}


def manifest(old: Plain) -> Plain:
    """manifest.json. `upgraded_from` stays with the run when it is written again."""
    sweep = {"sweep": _sweep(old["sweep"])} if isinstance(old.get("sweep"), dict) else {}
    return {**old, **sweep, "method": 1, "upgraded_from": 1}


def plan(old: Plain) -> Plain:
    """plan.json."""
    return {**old, "sweep": _sweep(old["sweep"]), "trials": [_trial(t, old["sweep"]) for t in old["trials"]]}


def result(old: Plain, plan_old: Plain) -> Plain:
    """trial.json. plan_old: the run's plan, also of format 1."""
    return {**old, "trial": _trial(old["trial"], plan_old["sweep"]), "method": 1}


def fit(old: Plain) -> Plain:
    """fit.json, unchanged."""
    return dict(old)


def _sweep(old: Plain) -> Plain:
    kept = {name: value for name, value in old.items() if name not in _MOVED_OF_SWEEP}
    cores = kept.pop("cores", None)
    kept["constants"] = {"cores": cores} if cores else {}
    return {**kept, "method": old["load"]["method"], "work": _work(old, {}), "load": _load(old, {})}


def _trial(old: Plain, sweep: Plain) -> Plain:
    variant = old.get("variant") or {}
    return {
        **{name: value for name, value in old.items() if name not in _MOVED_OF_TRIAL},
        "point_id": re.sub(r"-(r\d+|anchor)$", "", old["trial_id"]),
        "block": old["replicate"],
        "resources": {
            "cores": old["cores"],
            "placement": old["placement"],
            "disks": old["disks"] if sweep.get("disks") else 0,
            "memory_bytes": sweep.get("memory_bytes"),
        },
        "work": _work(sweep, variant),
        "load": {**_load(sweep, variant), **_parts(old["knobs"])},
        "subject": {
            **{name: sweep[name] for name in _OF_SUBJECT},
            "method": variant.get("method", sweep["load"]["method"]),
            "variant": variant,
        },
    }


def _work(sweep: Plain, variant: Mapping[str, str]) -> Plain:
    varied = {name: _count(variant[name]) for name in _VARIED_DATA if name in variant}
    return {"data": {**sweep["workload"], **varied}}


def _load(sweep: Plain, variant: Mapping[str, str]) -> Plain:
    kept = {name: value for name, value in sweep["load"].items() if name != "method"}
    return {
        **kept,
        "loader": variant.get("loader", sweep["loader"]),
        "table_placement": variant.get("placement", sweep["placement"]),
        "may_discard": not sweep.get("disks"),
    }


def _parts(knobs: Mapping[str, str]) -> dict[str, int]:
    partitions = knobs.get("partitions") or knobs.get("vgroups") or "1"
    return {"connections": int(knobs.get("write_threads", "1")), "partitions": int(partitions)}


def _count(text: str) -> int:
    """The number as --vary wrote it: "1000", "100k" or "1M"."""
    unit = _COUNTS.get(text[-1:].lower(), 0)
    return int(float(text[:-1]) * unit) if unit else int(text)
