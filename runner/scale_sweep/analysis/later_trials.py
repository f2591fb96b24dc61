"""Changes of earlier trials by checks and confirmations."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan


def with_later_trials(plan: Plan, results: Sequence[TrialResult]) -> tuple[TrialResult, ...]:
    """The results, updated by the checks and confirmations of their points. Idempotent."""
    if all(result.trial.role not in ("check", "confirm") for result in results):
        return tuple(results)
    # their imports take longer than a list of a hundred runs, which rarely have such trials
    from scale_sweep.analysis.confirmation import with_confirmations
    from scale_sweep.analysis.connections_check import with_checks

    return with_confirmations(plan, with_checks(plan, results))
