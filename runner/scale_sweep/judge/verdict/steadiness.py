"""Was the rate of a trial steady? The verdict's third step, and the cautions about a steady number.

Refuses to compute: the figures are the measurement's.
"""

from __future__ import annotations

from scale_sweep.base.units import format_rate
from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.judge.verdict.new_pages import new_pages
from scale_sweep.judge.verdict.steady import Steadiness, troubles
from scale_sweep.model import Measurement, is_buffered


def steadiness_of(evidence: Evidence) -> tuple[str, ...]:
    """Why the rate was not steady, as reasons of the verdict; empty if it was, or if that cannot be decided.

    Where nothing is answered, a rate of which that cannot be decided counts as unsteady: for a few seconds rows are
    handed over as fast as the buffers of the network take them.
    """
    m = evidence.measurement
    if m.rows_sent is not None and m.rate_drift_percent is None:
        too_short = f"the window of {m.window_s or 0:.3g} s is too short for a method without answers"
        return (f"{too_short}: its rate may be that of the network's buffers",)
    found = troubles(_figures(m), claims=evidence.claims)
    named = new_pages(evidence) if found else ""
    return (named, *found) if named else found


def _figures(m: Measurement) -> Steadiness:
    return Steadiness(
        intervals=round(m.window_s or 0.0),
        cv_percent=m.rate_cv_percent,
        drift_percent=m.rate_drift_percent,
        drift_error_percent=m.rate_drift_error_percent,
        correlation=m.rate_correlation,
        error_percent=m.rate_error_percent,
        halves_percent=m.rate_halves_percent,
    )


def cautions(evidence: Evidence) -> tuple[str, ...]:
    """Cautions about a steady rate: buffers that were not emptied, two values instead of one, dearer pages."""
    m, told = evidence.measurement, []
    if is_buffered(evidence.commits_in_window):
        cycles = "only one" if evidence.commits_in_window else "no full"
        told.append(f"{cycles} commit cycle (checkpoint) fell in the window: see the rate to the end of the flush")
    if m.rate_low is not None and m.rate_high is not None:
        told.append(
            f"the rate jumped between {format_rate(m.rate_low)} and {format_rate(m.rate_high)} {evidence.given.unit}: "
            "their mean is right, and no second has it"
        )
    if m.steady_at_equal_speed:
        told.append(
            "the rate followed the speed of the CPUs, which other machines changed (by "
            f"{m.cpu_speed_cv_percent or 0:.0f} % from second to second); at an equal speed it was steady"
        )
    named = new_pages(evidence)
    if named and named not in steadiness_of(evidence):
        told.append(named)
    return tuple(told)
