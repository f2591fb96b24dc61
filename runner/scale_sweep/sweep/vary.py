"""Second factors: what a sweep varies besides its axis. Pure."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import parse_count
from scale_sweep.experiment.setting.readers import at_least, endpoint
from scale_sweep.model.declared import Sweep

_WORKLOAD = {"tables": 1, "rows_per_request": 1, "requests_per_table": 1, "interlace_rows": 0}  # with least values
_LOAD = {"placement": "table_placement", "load_generator": "generator"}
_WORK = {"cache": ("as-is", "warm", "cold")}  # with the values of --cache
_PLAIN = ("method",)
VARIANT = "variant"  # of `scale ab`: A or B, each with a sweep of its own
SUBJECT_FIELDS = ("target", "runtime", "version", "image", "home", "endpoint", "command", "ready")
ADDRESS = "endpoint"
_KNOWN = (*_WORKLOAD, *_LOAD, *_WORK, *_PLAIN, *SUBJECT_FIELDS)
_NAME_MAX = 60  # characters of a value in a name
_NEAR = 0.8  # of another name difflib's ratio is less: cachemodel and cache have 0.67


def variants(sweep: Sweep) -> tuple[Mapping[str, str], ...]:
    names = list(sweep.vary)
    return tuple(dict(zip(names, values, strict=True)) for values in itertools.product(*sweep.vary.values()))


def check_variants(sweep: Sweep, methods: tuple[str, ...]) -> list[str]:
    """Without knobs, which are checked with the knobs."""
    mistakes = []
    if VARIANT in sweep.vary:
        mistakes.append(f"--vary {VARIANT}: is not a setting; scale ab A.toml B.toml compares two variants")
    for name, values in sweep.vary.items():
        if name == "method":
            mistakes += [f"--vary method: {not_one_of(v, methods)}" for v in values if v not in methods]
        elif name in _WORKLOAD:
            least = _WORKLOAD[name]
            wrong = [v for v in values if _why_not(at_least(least, parse_count), v)]
            mistakes += [f"--vary {name}: {v!r} is not a whole number from {least} on" for v in wrong]
        elif name == ADDRESS:
            mistakes += [f"--vary endpoint: {why}" for v in values if (why := _why_not(endpoint, v))]
        elif name in _WORK:
            known = _WORK[name]
            mistakes += [f"--vary {name}: {not_one_of(v, known)}" for v in values if v not in known]
            if not sweep.work.preload_rows:
                mistakes.append(f"--vary {name}: no rows are there before the load; load some, like --preload 1M")
        elif near := get_close_matches(name, _KNOWN if is_knob(name) else (), n=1, cutoff=_NEAR):
            mistakes.append(f"--vary {name}: is not a setting that can be varied; did you mean {near[0]}?")
    return mistakes or _order_mistakes(sweep)


def _order_mistakes(sweep: Sweep) -> list[str]:
    every = [as_varied(sweep, variant).work.data for variant in variants(sweep)]
    if any(data.requests_per_table > 1 and data.interlace_rows for data in every):
        return ["--requests-per-table: is for requests of one table each; leave out --interlace-rows"]
    if not sweep.load.is_ours and any(data.requests_per_table > 1 for data in every):
        return [f"--requests-per-table: {sweep.load.generator} has a fixed order; leave it out"]
    return []


def _why_not(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


def is_knob(name: str) -> bool:
    """Also the load generator's threads."""
    return name not in (*_KNOWN, VARIANT)


def as_varied(sweep: Sweep, variant: Mapping[str, str]) -> Sweep:
    v: Mapping[str, Any] = variant
    try:
        workload: dict[str, Any] = {name: parse_count(v[name]) for name in _WORKLOAD if name in v}
    except ValueError as error:
        raise UsageError(f"--vary: {error}") from None
    own = {name: v[name] for name in _WORK if name in v}
    work = replace(sweep.work, data=replace(sweep.work.data, **workload), **own)
    load = replace(sweep.load, **{field: v[name] for name, field in _LOAD.items() if name in v})
    return replace(sweep, work=work, load=load, **{name: v[name] for name in _PLAIN if name in v})


def label(variant: Mapping[str, str]) -> str:
    """For people: "method stmt, rows_per_request 100"."""
    return ", ".join(f"{name} {value}" for name, value in variant.items())


def slug(variant: Mapping[str, str]) -> str:
    """For trial ids and file names: "stmt-100"."""
    return "-".join(_short(re.sub(r"[^A-Za-z0-9.]+", "_", value), value) for value in variant.values())


def _short(name: str, value: str) -> str:
    """The beginning of a long command, and a number that no other has."""
    return name if len(name) <= _NAME_MAX else f"{name[:_NAME_MAX]}_{zlib.crc32(value.encode()):08x}"
