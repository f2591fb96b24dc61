"""The speed of the CPUs before each trial, for the manifest: rates of trials on faster and slower CPUs do not compare.

Refuses to correct a rate by it.
"""

from __future__ import annotations

from runner.host.cpu_speed import work_us
from runner.model import Trial


class CpuSpeeds:
    """by_trial: the CPU time of the same work, in microseconds, with what an earlier part of the run measured."""

    def __init__(self, before: object) -> None:
        self.by_trial: dict[str, float] = dict(before) if isinstance(before, dict) else {}

    def measure(self, trial: Trial) -> None:
        """Of the trial's server CPUs, now. A server that runs elsewhere has none here."""
        if not trial.subject.endpoint and (found := work_us(trial.placement.server_cpus)) is not None:
            self.by_trial[trial.trial_id] = round(found, 1)
