"""Were the CPUs of all trials equally fast, and which rates does the fit have if they were not? Pure."""

from __future__ import annotations

from scale_sweep.analysis.noise.equal_speed import SpeedCorrection, speed_correction
from scale_sweep.model import StoredRun

_CAUSE = "Other machines that share the cores cause it, and steal time does not show it"
APART = 1.15  # of the same CPUs at rest; two measurements on a quiet machine differ by 1.05


def speed_cautions(run: StoredRun) -> tuple[str, ...]:
    """What was corrected; else a sentence if the same work took clearly more CPU time in one trial than in another."""
    correction = speed_correction(run.results)
    if correction is not None:
        return (_corrected(correction),)
    known = [speed for result in run.results if (speed := result.measurement.cpu_speed) is not None]
    if not known or max(known) < APART * min(known):
        return ()
    return (f"the speed of the CPUs changed: {_span(min(known), max(known))}. {_CAUSE}",)


def _corrected(correction: SpeedCorrection) -> str:
    return (
        f"the speed of the CPUs changed: {_span(correction.slowest, correction.fastest)}. {_CAUSE}. The rates of "
        f"the fit are those at {correction.speed:.2f}: within the trials the rate rose by "
        f"{correction.slope:.2f} ± {correction.slope_error:.2f} % where the speed rose by 1 %"
    )


def _span(slowest: float, fastest: float) -> str:
    return (
        f"in the windows of the trials they did the same work {slowest:.2f} to {fastest:.2f} times in a millisecond of "
        "CPU time"
    )
