"""The figures of each operation of a load, and its offered rate, over the whole window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.base.units import counted
from scale_sweep.experiment.work import units_of_request
from scale_sweep.judge.figures.counts_per_second import divided
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.verdict.evidence import OfferedOperation
from scale_sweep.judge.verdict.thresholds import COMPARED_LEAST
from scale_sweep.model.loads import Latency, LoadSummary, OperationSummary
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import AnswersChecked, OperationFigures

_QUANTILES = ("min", "mean", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")


def operation_figures(summary: LoadSummary, answers: Sequence[AnswersChecked] = ()) -> Mapping[str, OperationFigures]:
    checked = {one.operation: one for one in answers if one.devices}
    return {one.name: _checked(_of(one), checked.get(one.name)) for one in summary.operations}


def _checked(figures: OperationFigures, answers: AnswersChecked | None) -> OperationFigures:
    if answers is None:
        return figures
    return replace(
        figures,
        checked_before=answers.whole,
        checked_within=answers.compared,
        checked_rows=answers.counted - answers.compared,
        checked_devices=answers.devices,
        check_s=answers.seconds,
        passed_percent=100 * answers.passed_rows / answers.tested_rows if answers.tested_rows else None,
    )


def hidden(facts: TrialFacts) -> tuple[str, ...]:
    """Operations of whose answers so few were compared that many wrong ones may be unseen."""
    known = {one.operation: one.within for one in facts.answers if one.within is not None}
    return tuple(
        f"{name}: {counted(count, 'answer')} in the window compared: "
        f"up to {100 * hidden_share(count):.0f} % of all may be wrong (95 %)"
        if count
        else f"{name}: no content of an answer in the window was compared, so all of them may be wrong"
        for name, count in known.items()
        if count < COMPARED_LEAST
    )


def hidden_share(count: int) -> float:
    """The share of wrong answers of which so many drawn ones are all right in 5 of 100 trials."""
    return float(1 - 0.05 ** (1 / count))


def offered_of(trial: Trial, summary: LoadSummary) -> tuple[OfferedOperation, ...]:
    """Achieved rates of operations with a rate of their own."""
    known = {one.name: one for one in summary.operations if one.window_s}
    return tuple(
        OfferedOperation(
            name=operation.name,
            unit=operation.unit,
            offered_per_s=operation.rate,
            achieved_per_s=known[operation.name].units_window / seconds,
            units_of_request=units_of_request(trial.work, operation),
            connections=operation.connections or trial.load.connections,
            seconds=seconds,
            is_poisson=trial.load.arrival == "poisson",
        )
        for operation in trial.work.operations
        if operation.rate and operation.name in known and (seconds := float(known[operation.name].window_s or 0.0))
    )


def _of(one: OperationSummary) -> OperationFigures:
    seconds = float(one.window_s or 0.0)  # a whole number of seconds has no decimals
    answered = one.service.count if one.service is not None else None

    def rate(count: int | None) -> float | None:
        return count / seconds if count is not None and seconds > 0 else None

    return OperationFigures(
        weight=float(one.weight),
        window_s=seconds or None,
        requests=answered,
        requests_per_s=rate(answered),
        rows_per_s=rate(one.units_window) if one.unit != "requests" else None,
        read_rows_per_s=rate(one.rows_window),
        read_values_per_s=rate(one.values_window),
        read_mb_per_s=divided(rate(one.bytes_window), 1e6),
        errors=one.errors,
        empty=one.empty_window,
        check_cpu_s=one.check_cpu_s,
        response_ms=milliseconds(one.response, _QUANTILES),
        service_ms=milliseconds(one.service, _QUANTILES),
    )


def milliseconds(latency: Latency | None, quantiles: Sequence[str]) -> dict[str, float | None]:
    """By quantile; empty if there are none."""
    if latency is None:
        return {}
    return {name: divided(getattr(latency, f"{name}_us"), 1000) for name in quantiles}
