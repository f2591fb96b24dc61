"""Estimates how long disks take. The plan uses it only to state a sweep's duration. Pure."""

from __future__ import annotations

from scale_sweep.experiment.work import logical_bytes
from scale_sweep.model import CEILING_S, Sweep, Trial

_MAKE_S, _VERIFY_S = 4.0, 5.0  # measured with 1 to 3 loop devices
_AMPLIFICATION, _BYTES_PER_S = 3.5, 1e8  # an estimate: TDengine with small buffers, on a disk without a cap


def write_seconds(sweep: Sweep, trial: Trial) -> float:
    """Seconds that the disks need for fixed work."""
    capped = sweep.disks.cap_bytes_per_s if sweep.disks else None
    written = (trial.load.rows or 0) * logical_bytes(sweep.work) * _AMPLIFICATION
    return written / (trial.disks * (capped or _BYTES_PER_S))


def preparation_seconds(sweep: Sweep) -> float:
    """Seconds before the first trial: to make the disks, verify their limits, and measure their ceilings."""
    if sweep.disks is None:
        return 0.0
    made = 0.0 if sweep.disks.kind == "dir" else _MAKE_S
    verified = _VERIFY_S if sweep.disks.cap_bytes_per_s or sweep.disks.cap_iops else 0.0
    count = int(max(sweep.levels))
    return made + verified + 1.5 * CEILING_S * (count + (count > 1))
