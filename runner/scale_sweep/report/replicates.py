"""Words on replicates: how many ran, whether they agree, and where the noise comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from scale_sweep.analysis.noise.parts import PLACES
from scale_sweep.base.units import counted, format_number
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.observed import Agreement, LevelAgreement, NoiseParts, PartName
from scale_sweep.report.table import Table
from scale_sweep.sweep.vary import slug

DISAGREE = "replicates disagree"  # beside the verdicts of a level
SMALLEST_P = 0.0001
# What reduces a part of the noise, in a table.
REDUCED: Mapping[PartName, str] = {
    "seconds": "longer windows, more replicates",
    "window": "a longer warm-up, longer windows, more replicates",
    "start": "more replicates",
    "start or block": "more replicates",
    "block": "more replicates; a speedup does not contain it",
    "session": "more sessions",
}


def agreement_words(agreement: Agreement | None, axis: AxisFacts) -> tuple[str, ...]:
    if agreement is None or not (agreement.disagrees or agreement.apart):
        return ()
    if agreement.disagrees:
        differ = _differ(agreement)
    else:
        places = [(axis.count(format_number(one.level)), one) for one in agreement.apart]
        differ = "; ".join(f"at {at}{f' {one.variant}' if one.variant else ''} {_differ(one)}" for at, one in places)
    return (f"{DISAGREE}: {differ}. Something changes between server starts, or too slowly for a window to show it",)


def _differ(one: Agreement | LevelAgreement) -> str:
    p = f"p < {SMALLEST_P}" if one.p_value < SMALLEST_P else f"p = {one.p_value:.4f}"
    return (
        f"they differ by {one.spread_percent:.1f} % (standard deviation), of which their windows explain "
        f"{one.windows_percent:.1f} % ({p})"
    )


def reasons_of(result: TrialResult, agreement: Agreement | None) -> tuple[str, ...]:
    trial, reasons = result.trial, result.verdict.reasons
    point = (trial.level, slug(trial.variant))
    is_counted = trial.role == "point" and result.verdict.kind.is_fitted
    if agreement is None or not is_counted or not agreement.disagrees_at(*point):
        return reasons
    here = next(one for one in agreement.levels if (one.level, one.variant) == point)
    words = (
        f"{DISAGREE}: the trials of this level differ by {here.spread_percent:.1f} %, of which their windows explain "
        f"{here.windows_percent:.1f} %"
    )
    return (*reasons, words)


def beside_verdicts(agreement: Agreement | None, results: Sequence[TrialResult]) -> str:
    points = {(result.trial.level, slug(result.trial.variant)) for result in results}
    is_apart = agreement is not None and any(agreement.disagrees_at(*point) for point in points)
    return f", {DISAGREE}" if is_apart else ""


def parts_table(parts: NoiseParts | None) -> Table:
    """Each with the standard deviation that it alone gives to the rate of one trial."""
    rows: Sequence[tuple[str, ...]] = ()
    if parts is not None and parts.largest is not None:
        rows = [
            (PLACES[one.name], f"{one.percent:.1f}", f"{100 * parts.share(one):.0f}", REDUCED[one.name])
            for one in parts.parts
        ]
    return Table(
        title="Sources of the noise",
        headers=("Part", "Standard deviation of one trial's rate (%)", "Share of the variance (%)", "Remedy"),
        rows=tuple(rows),
        words=(0, 3),
        notes=_notes(parts) if rows else (),
    )


def _notes(parts: NoiseParts | None) -> tuple[str, ...]:
    if parts is None:
        return ()
    note = (
        f"The parts come from {counted(parts.trials, 'trial')} with windows of {parts.window_s:.0f} s. A part of 0 is "
        "too small to see."
    )
    if not any(part.name == "window" for part in parts.parts):
        note += " Windows under 10 s do not show their drift, which is then among the server starts."
    if not any(part.name == "session" for part in parts.parts):
        note += " One run does not show how sessions differ."
    return (note,)


def replicates_words(run: StoredRun) -> str:
    """ "5 of each level (3 planned, 2 added because there was time)": those of the trials that ran."""
    sweep = run.plan.sweep
    ran = sorted(Counter(r.trial.point_id for r in run.on_curve).values())
    if not ran or ran[-1] <= sweep.replicates:
        return f"{sweep.replicates} of each level"
    span = f"{ran[0]}" if ran[0] == ran[-1] else f"{ran[0]} to {ran[-1]}"
    why = "for narrow intervals" if sweep.until_ci_percent is not None else "because there was time"
    added = f"{ran[-1] - sweep.replicates}" if ran[0] == ran[-1] else "others"
    return f"{span} of each level ({sweep.replicates} planned, {added} added {why})"
