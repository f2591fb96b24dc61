"""Plans and trials as schema 1 stored them, in today's shape. Pure: JSON values in, JSON values out.

Schema 1 kept the load, the rows and the subject of a trial in the sweep alone, with what --vary changed beside it, and
its resources as plain fields. Refuses to guess: what was not stored is what every run had at that time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Plain = Mapping[str, Any]
_DATA = ("tables", "rows_per_request", "interlace_rows")
_COUNTS = {"k": 10**3, "m": 10**6, "g": 10**9}


def is_former_plan(plan: Plain) -> bool:
    """Whether a plan.json is of schema 1."""
    return "work" not in plan["sweep"]


def plan_today(plan: Plain) -> dict[str, Any]:
    """A plan.json of schema 1 in today's shape."""
    sweep = plan["sweep"]
    return {**plan, "sweep": sweep_today(sweep), "trials": [trial_today(t, sweep) for t in plan["trials"]]}


def result_today(result: Plain, sweep: Plain) -> dict[str, Any]:
    """A trial.json of schema 1 in today's shape; sweep: of its plan, as schema 1 stored it."""
    return {**result, "trial": trial_today(result["trial"], sweep)}


def sweep_today(sweep: Plain) -> dict[str, Any]:
    """The sweep of a plan or a manifest of schema 1 in today's shape."""
    moved = ("workload", "placement", "loader")
    kept = {name: value for name, value in sweep.items() if name not in moved}
    kept["constants"] = {"cores": kept.pop("cores")} if kept.get("cores") else {}
    return {**kept, "method": sweep["load"]["method"], "work": _work(sweep, {}), "load": _load(sweep, {})}


def trial_today(trial: Plain, sweep: Plain) -> dict[str, Any]:
    """One trial of schema 1 in today's shape."""
    moved = ("cores", "disks", "placement", "variant")
    variant = trial.get("variant") or {}
    return {
        **{name: value for name, value in trial.items() if name not in moved},
        "point_id": re.sub(r"-(r\d+|anchor)$", "", trial["trial_id"]),
        "block": trial["replicate"],
        "resources": {
            "cores": trial["cores"],
            "placement": trial["placement"],
            "disks": trial["disks"] if sweep.get("disks") else 0,
            "memory_bytes": sweep.get("memory_bytes"),
        },
        "work": _work(sweep, variant),
        "load": {**_load(sweep, variant), **_parts(trial["knobs"])},
        "subject": {
            **{name: sweep[name] for name in ("target", "runtime", "version", "image", "home", "endpoint")},
            "method": variant.get("method", sweep["load"]["method"]),
            "variant": variant,
        },
    }


def _work(sweep: Plain, variant: Plain) -> dict[str, Any]:
    varied = {name: _count(variant[name]) for name in _DATA if name in variant}
    return {"data": {**sweep["workload"], **varied}}


def _load(sweep: Plain, variant: Plain) -> dict[str, Any]:
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
    """As --vary wrote it: "1000", "100k" or "1M"."""
    unit = _COUNTS.get(text[-1:].lower(), 0)
    return int(float(text[:-1]) * unit) if unit else int(text)
