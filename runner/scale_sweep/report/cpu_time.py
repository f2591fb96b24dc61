"""The server's CPUs in the report: the rate for each CPU-second, and whether the CPUs were equally fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.equal_speed import equal_speed
from scale_sweep.analysis.fit.summaries import cpu_points
from scale_sweep.analysis.noise.drift_test import without_drift
from scale_sweep.analysis.observations import cpu_observations
from scale_sweep.base.units import EXPLAINED, format_number, format_rate, with_interval
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.derived import is_taken, rate_alone_per_s, rate_per_cpu_s, taken_cores
from scale_sweep.model.fitted import CpuPoint, FitReport, StoredRun
from scale_sweep.model.measured import BottleneckKind, Standing, TrialResult
from scale_sweep.report.table import Table, mean

ASSUMPTION = "it assumes that the server would have used the CPU time that other programs took"


def heading_of(rate_words: str) -> str:
    return f"{rate_words.capitalize().removesuffix('/s')} per CPU-second"


def with_cpu_points(fit: FitReport, run: StoredRun) -> FitReport:
    axis = load_axis(run.plan.sweep.axis)
    if axis.standings[BottleneckKind.SERVER_CPU].standing is not Standing.SWEPT:
        return fit
    per_cpu_s, alone = (
        without_drift(cpu_observations(run.results, rate)) for rate in (rate_per_cpu_s, rate_alone_per_s)
    )
    return replace(fit, per_cpu=cpu_points(per_cpu_s, alone), sentence=_taken_words(run.on_curve) or fit.sentence)


def _taken_words(trials: Sequence[TrialResult]) -> str:
    """ "" for a run that has a valid trial, or none for other reasons."""
    if not trials or not all(is_taken(r) and not r.verdict.kind.is_fitted for r in trials):
        return ""
    percent = sorted(100 * (taken_cores(r) or 0.0) / r.trial.cores for r in trials)
    least, most = f"{percent[0]:.0f}", f"{percent[-1]:.0f}"
    span = most if least == most else f"{least} to {most}"
    by_programs = any(
        r.verdict.bottleneck is not None and r.verdict.bottleneck.kind is BottleneckKind.OTHER_PROCESSES for r in trials
    )
    who, remedy = ("other programs", "Stop them") if by_programs else ("the hypervisor", "Wait until it is quiet")
    taken = f"{who} took {span} % of the server's cores"
    return f"No VALID trial: {taken}. No speedup was measured. {remedy}, and sweep again."


def speedup_words(point: CpuPoint) -> str:
    if point.low is None or point.high is None:
        return f"{point.speedup:.2f}"
    return f"{point.speedup:.2f} ({point.low:.2f} to {point.high:.2f})"


def cpu_table(fit: FitReport, run: StoredRun) -> Table:
    """Without rows if no trial has such a rate."""
    speedups = ["1", *map(speedup_words, fit.per_cpu[1:])]
    rows = tuple(
        (format_number(p.level), str(p.n), format_rate(p.rate_per_cpu_s), speedup)
        for p, speedup in zip(fit.per_cpu, speedups, strict=False)
    )
    note = f"An estimate: {ASSUMPTION}. {EXPLAINED}."
    headers = (load_axis(run.plan.sweep.axis).title, "Trials", heading_of(run.plan.sweep.work.rate_words), "Speedup")
    return Table(title="Per CPU-second", headers=headers, rows=rows, notes=(note,) if rows else ())


def cpu_rate_cell(trials: Sequence[TrialResult]) -> str:
    return format_rate(mean(rate_per_cpu_s(r) for r in trials))


APART = 1.15  # of the same CPUs at rest; two measurements on a quiet machine differ by 1.05


def speed_cautions(run: StoredRun, rate: str) -> tuple[str, ...]:
    """The speedup at an equal speed of the CPUs, the slower level, or that some trials took more CPU time than
    others."""
    known = [speed for result in run.results if (speed := result.measurement.cpu_speed) is not None]
    second = equal_speed(run.on_curve, rate)
    if second is not None and second.speedup is None:
        at = load_axis(run.plan.sweep.axis).count(format_number(second.level))
        than = "slower" if second.slower > 0 else "faster"
        return (
            f"the CPUs were {100 * abs(second.slower):.1f} % {than} at {at}; the rates are those that were measured",
        )
    if second is not None and second.speedup is not None:
        speedup = with_interval(second.speedup, second.low, second.high)
        return (f"{_span(known)} (other virtual machines share them): at an equal speed the speedup is {speedup}",)
    if not known or max(known) < APART * min(known):
        return ()
    return (f"{_span(known)}; probably other virtual machines share them",)


def _span(known: Sequence[float]) -> str:
    faster = f"up to {100 * (max(known) / min(known) - 1):.0f} % " if min(known) else ""
    return f"the CPUs ran {faster}faster in some trials than in others"
