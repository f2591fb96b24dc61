"""Earlier runs on this machine: the noise of their trials, and the speedups of the same sweep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import StoreError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.experiment.work import rate_of
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.observed import NoiseParts
from scale_sweep.plan.power import GUESS, AssumedNoise, with_parts
from scale_sweep.plan.preparing.choice import ChosenArm
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.reader import read_fit, read_manifest, run_paths
from scale_sweep.results.store.stored import FIT, Folder

REPETITIONS_OF = 200  # runs, the newest, among which repetitions are looked for
_NOTES = {"origin", "name", "question", "tags", "seed", "order_seed", "replicates", "predict", "need"}
LOOKED_AT = 30  # runs, the newest first
PARTS_OF = 5  # runs, the newest of them, whose parts of the noise are pooled


def noise_of(results: Path, host: Host, arm: ChosenArm) -> AssumedNoise:
    axis = load_axis(arm.sweep.axis)
    rate = rate_of(arm.sweep.work, durable=axis.is_durable, objective=arm.sweep.load.objective)
    return assumed_noise(results, host, arm.choice.facts.name, axis.name, rate.field)


def assumed_noise(results: Path, host: Host, target: str, axis: str, rate: str) -> AssumedNoise:
    """The spread of the newest run of this machine, target, axis and rate, with the parts of the newest ones. rate: the
    field of a measurement."""
    newest = GUESS
    parts: list[NoiseParts] = []
    for path in list(reversed(run_paths(results)))[:LOOKED_AT]:
        try:
            fit = _fit(Folder(path), host, {"target": target, "axis": axis}, rate)
            percent = float(fit.get("noise_percent") or 0)
            known = fit.get("noise_parts")
            of_run = from_plain(known, NoiseParts, path / FIT) if known else None
        except (StoreError, OSError, ValueError, TypeError):
            continue
        if percent and newest is GUESS:
            newest = AssumedNoise(percent=percent, source=f"that of {path.name}")
        if of_run is not None and of_run.degrees > 0 and of_run.window_s > 0 and len(parts) < PARTS_OF:
            parts.append(of_run)
    return with_parts(newest, parts)


def repetitions_of(results: Path, manifest: Mapping[str, Any]) -> list[float]:
    """The speedups of complete runs of the same sweep on this machine, oldest first."""
    wanted, made = _identity(manifest), []
    for path in run_paths(results)[-REPETITIONS_OF:]:
        try:
            stored = read_manifest(Folder(path))
            is_same = _identity(stored) == wanted and stored.get("status") == "complete"
            points = read_fit(Folder(path), FIT).get("points") or [] if is_same else []
            speedup = points[-1].get("speedup") if len(points) == len(manifest["sweep"]["levels"]) else None
        except (StoreError, OSError, ValueError, TypeError, AttributeError, KeyError):
            continue
        if isinstance(speedup, float) and speedup > 0:
            made.append(speedup)
    return made


def _identity(manifest: Mapping[str, Any]) -> Any:
    host, sweep = manifest.get("host") or {}, dict(manifest.get("sweep") or {})
    load = {key: value for key, value in dict(sweep.pop("load", {})).items() if key != "warmup_s"}
    kept = {key: value for key, value in sweep.items() if key not in _NOTES}
    parts = [host.get("hostname"), host.get("cpu_model"), manifest.get("choice"), manifest.get("method"), load, kept]
    return json.loads(json.dumps(parts, default=str))


def _fit(run: Folder, host: Host, wanted: Mapping[str, str], rate: str) -> dict[str, Any]:
    manifest = read_manifest(run)
    of, sweep = manifest.get("host") or {}, manifest.get("sweep") or {}
    if of.get("hostname") != host.hostname or of.get("cpu_model") != host.cpu_model:
        return {}
    if any(sweep.get(key) != value for key, value in wanted.items()):
        return {}
    fit = read_fit(run, FIT)
    return fit if fit.get("rate") == rate else {}
