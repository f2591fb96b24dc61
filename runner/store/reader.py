"""Reads runs back: for `resume`, `list`, `show` and `report`. Treats every file as untrusted and writes nothing."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import StoreError, UsageError
from runner.model import FitReport, Plan, StoredRun, TrialResult
from runner.store.codec import SCHEMA, from_json, from_plain
from runner.store.former import is_former_plan, plan_today, result_today

Series = tuple[tuple[float, Mapping[str, float | None]], ...]


def find_run(results: Path, name: str) -> Path:
    """The directory of a run: a path, a name, the end of one, or "last". Raises UsageError."""
    direct = Path(name)
    if (direct / "manifest.json").is_file():
        return direct
    runs = run_paths(results)
    if name == "last" and runs:
        return runs[-1]
    found = [path for path in runs if name in path.name]
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"no run {name!r} in {results}"
        if not found
        else f"{name!r} fits {len(found)} runs in {results}: {', '.join(p.name for p in found[:5])}",
        remedy="scale list shows the runs; `last` is the newest",
    )


def run_paths(results: Path) -> list[Path]:
    """All runs, oldest first."""
    return sorted(p.parent for p in results.glob("*/manifest.json"))


def read_manifest(path: Path) -> Mapping[str, Any]:
    """manifest.json. Raises StoreError when it is not of this schema."""
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}/manifest.json cannot be read: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise StoreError(
            f"{path}/manifest.json is not of schema {SCHEMA}", remedy="read it with the version that wrote it"
        )
    return manifest


def read_plan(path: Path) -> Plan:
    """plan.json. Raises StoreError; also for a trial whose name is not the plain name of a directory."""
    told = _plain(path / "plan.json")
    plan = from_plain(plan_today(told) if _is_former(told, path) else told, Plan, path / "plan.json")
    odd = [t.trial_id for t in plan.trials if not re.fullmatch(r"[A-Za-z0-9][\w.,=+-]*", t.trial_id)]
    if odd:
        raise StoreError(f"{path}/plan.json names a trial {odd[0]!r}, which no trial is called")
    return plan


def read_run(path: Path) -> StoredRun:
    """The run, with every finished trial in plan order. Raises StoreError."""
    manifest = read_manifest(path)
    plan = read_plan(path)
    results, series = [], {}
    for trial in plan.trials:
        done = path / "trials" / trial.trial_id / "trial.json"
        if done.is_file():
            results.append(read_result(done))
            series[trial.trial_id] = _series(done.with_name("series.csv"))
    fit_path = path / "fit.json"
    fit = from_json(read_text(fit_path), FitReport, fit_path) if fit_path.is_file() else None
    return StoredRun(path=str(path), manifest=manifest, plan=plan, results=tuple(results), timeseries=series, fit=fit)


def read_result(path: Path) -> TrialResult:
    """A trial.json of a run, at trials/ID/trial.json. Raises StoreError naming it."""
    told = _plain(path)
    if "point_id" in told.get("trial", {}):
        return from_plain(told, TrialResult, path)
    run = path.parents[2]
    try:
        return from_plain(result_today(told, _plain(run / "plan.json")["sweep"]), TrialResult, path)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} cannot be read back: {error!r}") from None


def _is_former(plan: Mapping[str, Any], path: Path) -> bool:
    try:
        return is_former_plan(plan)
    except (KeyError, TypeError) as error:
        raise StoreError(f"{path}/plan.json cannot be read back: {error!r}") from None


def _plain(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise StoreError(f"{path} cannot be read back: {error}") from None


def read_text(path: Path) -> str:
    """A file of a run. Raises StoreError naming it."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} cannot be read: {error}") from None


def _series(path: Path) -> Series:
    return series_from_text(read_text(path), path) if path.is_file() else ()


def series_from_text(text: str, path: Path = Path("series.csv")) -> Series:
    """The rows of a series.csv: t_s, then columns. Raises StoreError for what is no number."""
    try:
        return tuple(
            (float(row.pop("t_s")), {k: float(v) if v else None for k, v in row.items()})
            for row in csv.DictReader(io.StringIO(text))
        )
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise StoreError(f"{path} cannot be read back: {error}", remedy="scale verify names what was changed") from None
