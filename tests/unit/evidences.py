"""Evidence from a Measurement, for tests that say what was measured and not how."""

from __future__ import annotations

from scale_sweep.experiment.work import miscounted
from scale_sweep.judge.verdict import Evidence, Integrity, ResourceUse, TrialResources
from scale_sweep.model import Measurement, Trial


def evidence_of(
    trial: Trial,
    m: Measurement,
    *,
    rate: float = 0.0,
    quota: bool = False,
    commits_in_window: int | None = None,
    **integrity,
) -> Evidence:
    """The window's use is what the measurement says; rate: offered rows/s, 0 for a closed loop."""
    placement, clients = trial.placement, m.generator_cpu_cores
    given = TrialResources(
        cores=trial.cores,
        quota=quota,
        generator_cpus=len(placement.generator_cpus),
        shared_cpus=placement.shared,
        threads=4,
        ceiling_per_s=m.ceiling_rows_per_s,
        offered_per_s=rate or None,
        prepared_disks=trial.resources.disks,
    )
    window = ResourceUse(
        seconds=m.window_s or 10.0,
        rate_per_s=m.rows_per_s,
        server_cores=part(m.server_cpu_percent, trial.cores),
        generator_cores=part(m.generator_cpu_percent, given.generator_cpus) if clients is None else clients,
        throttled=m.throttled_s / m.window_s if m.throttled_s is not None and m.window_s else None,
        load_disks=m.disks if given.prepared_disks else None,
    )
    return Evidence(
        resources=given,
        measurement=m,
        window=window,
        integrity=Integrity(miscounted=miscounted(trial.work, m.rows_acked, m.rows_counted), **integrity),
        commits_in_window=commits_in_window,
    )


def part(percent: float | None, of: float) -> float | None:
    return percent / 100 * of if percent is not None else None
