"""Evidence from a Measurement, for tests that say what was measured and not how."""

from __future__ import annotations

from scale_sweep.experiment.work import miscounted
from scale_sweep.judge.verdict.evidence import Evidence, Integrity, ResourceUse, TrialResources
from scale_sweep.model.measured import Measurement
from scale_sweep.model.planned import Trial


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
    cpus = trial.placement.generator_cpus
    given = TrialResources(
        cores=trial.cores,
        quota=quota,
        generator_cpus=len(cpus),
        shared_cpus=trial.placement.shared,
        threads=4,
        ceiling_per_s=m.ceiling_rows_per_s,
        offered_per_s=rate or None,
        prepared_disks=trial.resources.disks,
    )
    clients = m.generator_cpu_cores
    window = ResourceUse(
        seconds=m.window_s or 10.0,
        rate_per_s=m.rows_per_s,
        server_cpu_cores=part(m.server_cpu_percent, trial.cores),
        generator_cpu_cores=part(m.generator_cpu_percent, len(cpus)) if clients is None else clients,
        throttled=m.throttled_s / m.window_s if m.throttled_s is not None and m.window_s else None,
        load_disks=m.disks if given.prepared_disks else None,
    )
    checks = Integrity(miscounted=miscounted(trial.work, m.rows_acked, m.rows_counted), **integrity)
    commits = {"commits_in_window": commits_in_window}
    return Evidence(resources=given, measurement=m, window=window, integrity=checks, **commits)


def part(percent: float | None, of: float) -> float | None:
    return percent / 100 * of if percent is not None else None
