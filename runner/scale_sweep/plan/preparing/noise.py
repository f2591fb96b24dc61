"""The noise that a plan assumes: from the last run of the same target on this machine, else a guess."""

from __future__ import annotations

from pathlib import Path

from scale_sweep.base.errors import StoreError
from scale_sweep.machine.host import Host
from scale_sweep.plan.power import GUESS, AssumedNoise
from scale_sweep.results.store.reader import read_fit, read_manifest, run_paths
from scale_sweep.results.store.stored import FIT

LOOKED_AT = 30  # runs, the newest first


def assumed_noise(results: Path, host: Host, target: str) -> AssumedNoise:
    """The noise floor of the newest run of this machine and target that has one."""
    for path in list(reversed(run_paths(results)))[:LOOKED_AT]:
        try:
            percent = _noise(path, host, target)
        except (StoreError, OSError, ValueError):
            continue
        if percent:
            return AssumedNoise(percent=percent, source=f"that of {path.name}")
    return GUESS


def _noise(path: Path, host: Host, target: str) -> float | None:
    manifest = read_manifest(path)
    of, sweep = manifest.get("host") or {}, manifest.get("sweep") or {}
    if of.get("hostname") != host.hostname or of.get("cpu_model") != host.cpu_model or sweep.get("target") != target:
        return None
    found = read_fit(path, FIT).get("noise_percent")
    return float(found) if found else None
