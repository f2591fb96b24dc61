"""The picture of a search: the offered rates against the response times that were seen at them."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.declared_parts import ERRORS, Clause, Objective
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Step, TrialResult, VerdictKind
from scale_sweep.report.forms import figure_html
from scale_sweep.report.markup import escape
from scale_sweep.report.svg import (
    LogFrame,
    across,
    axes,
    clipped,
    drawing,
    legend,
    marker,
    rate_scale,
    swatch,
    text,
    ticks,
    upright,
)
from scale_sweep.report.table import short

WIDTH, HEIGHT, NARROW, NARROW_HEIGHT = 640, 340, 400, 330
CURVES = (("p50", "p50", "s2"), ("p99", "p99", "s0"), ("p999", "p99.9", "s3"))  # percentile, its name, its colour
ROOM = 0.04  # of the range of rates, on both sides
SPAN_LEAST = 0.1  # of the highest rate: less would show differences that nobody offered
TALLEST = 30.0  # times the limit: beyond that a step only says that the rate was over capacity
DOT = 3.0
MARK, LETTER, LINE = 6.0, 7.0, 16.0  # pixels: half of a mark, of a letter, of a line of text


def searches_html(run: StoredRun) -> str:
    objective = run.plan.sweep.load.objective
    searched = [r for r in run.results if r.trial.load.searches and r.measurement.steps]
    if objective is None or not searched:
        return ""
    return "<h3>Each search</h3>" + "".join(_one(run, objective, result) for result in searched)


def _one(run: StoredRun, objective: Objective, result: TrialResult) -> str:
    wide = search_svg(run, objective, result, WIDTH, HEIGHT)
    narrow = search_svg(run, objective, result, NARROW, NARROW_HEIGHT)
    name = f"search-{result.trial.trial_id}"
    return figure_html(name, wide, _caption(run, objective, result), search_rows(run, result), narrow=narrow, width=760)


def search_svg(run: StoredRun, objective: Objective, result: TrialResult, width: int, height: int) -> str:
    """Filled circles held the objective, triangles did not, other shapes were left out."""
    steps, own = result.measurement.steps, percentile_of(objective)
    divisor, unit = rate_scale(max(step.rate for step in steps), run.plan.sweep.work.rate_words)
    keys, keys_height = legend(_keys(objective, result, own), width, 8, 14)
    frame = _frame(objective, steps, divisor, (width, height + keys_height), keys_height)
    places = _places(frame, steps, divisor)
    inner = [
        keys,
        clipped(frame, _interval(frame, result, divisor)),
        axes(frame, ticks(frame.x_min, frame.x_max, max(3, width // 110)), f"offered {unit}", "response time (ms)"),
        clipped(frame, _answer(frame, result, divisor)),
        *(_limit(frame, clause, places) for clause in objective.clauses if clause.quantity != ERRORS),
        *(_dots(frame, steps, name, css, divisor) for name, _, css in CURVES if name != own),
        *(_mark(frame, step, own, divisor) for step in steps),
    ]
    where = load_axis(run.plan.sweep.axis).count(format_number(result.trial.level))
    label = f"Offered rate against response time, {where}, {result.trial.trial_id}"
    return drawing(width, height + keys_height, label, "".join(inner))


def percentile_of(objective: Objective) -> str:
    """That of the first limit of a time that is drawn; else p99. Its steps have the shapes."""
    drawn = [name for name, *_ in CURVES]
    return next((c.quantity for c in objective.clauses if c.quantity in drawn and not c.operation), "p99")


def _frame(
    objective: Objective, steps: Sequence[Step], divisor: float, size: tuple[int, int], keys_height: int
) -> LogFrame:
    limits = [c.limit for c in objective.clauses if c.quantity != ERRORS] or [1.0]
    times = [ms for step in steps for name, *_ in CURVES if (ms := step.response_ms.get(name)) is not None and ms > 0]
    rates = [step.rate / divisor for step in steps]
    low, high = min(rates), max(rates)
    margin = max(ROOM * (high - low), (SPAN_LEAST * high - (high - low)) / 2)
    highest = min(TALLEST * max(limits), 1.4 * max((*times, *limits)))
    return LogFrame.within(
        size,
        (60, 24, 38 + keys_height, 48),
        (max(0.0, low - margin), high + margin),
        (0.7 * min((*times, *limits)), highest),
    )


def _interval(frame: LogFrame, result: TrialResult, divisor: float) -> str:
    low, high = result.measurement.capacity_low_per_s, result.measurement.capacity_high_per_s
    if result.measurement.capacity_per_s is None or low is None or high is None:
        return ""
    x, end, height = frame.x(low / divisor), frame.x(high / divisor), frame.height - frame.top - frame.bottom
    return f'<rect x="{x:.1f}" y="{frame.top}" width="{end - x:.1f}" height="{height}" class="band"/>'


def _answer(frame: LogFrame, result: TrialResult, divisor: float) -> str:
    rate = result.measurement.capacity_per_s
    return upright(frame, rate / divisor, "fit") if rate is not None else ""


def _places(frame: LogFrame, steps: Sequence[Step], divisor: float) -> list[tuple[float, float]]:
    return [
        (frame.x(step.rate / divisor), _y(frame, ms))
        for step in steps
        for name, *_ in CURVES
        if (ms := step.response_ms.get(name)) is not None
    ]


def _limit(frame: LogFrame, clause: Clause, places: Sequence[tuple[float, float]]) -> str:
    """With its words at the end that has the fewest points. places: of the points."""
    y, left, right = _y(frame, clause.limit), frame.left, frame.width - frame.right
    drawn = across(frame, min(clause.limit, frame.y_max), "limit")
    wide = LETTER * len(clause.words) + 2 * MARK

    def covered(end: tuple[bool, bool]) -> int:
        at_right, below = end
        first = right - wide if at_right else left
        top = y if below else y - LINE
        return sum(first <= x <= first + wide and top - MARK <= at <= top + LINE + MARK for x, at in places)

    at_right, below = min(((False, False), (True, True), (False, True), (True, False)), key=covered)
    x, anchor = (right - 6, "end") if at_right else (left + 6, "start")
    return drawn + text(x, y + 14 if below else y - 5, clause.words, "dim", anchor)


def _dots(frame: LogFrame, steps: Sequence[Step], name: str, css: str, divisor: float) -> str:
    known = [(step, ms) for step in steps if (ms := step.response_ms.get(name)) is not None]
    return "".join(
        f'<circle cx="{frame.x(step.rate / divisor):.1f}" cy="{_y(frame, ms):.1f}" r="{DOT}" class="subject {css}">'
        f"<title>{escape(f'{name} {short(ms)} ms')}</title></circle>"
        for step, ms in known
    )


def _y(frame: LogFrame, ms: float) -> float:
    return frame.y(min(ms, frame.y_max))


def shape_of(step: Step) -> VerdictKind:
    """A step that was left out has the shape of its own verdict."""
    if step.usable:
        return VerdictKind.VALID if step.holds else VerdictKind.OFFERED_NOT_MET
    return step.verdict if not step.verdict.is_fitted else VerdictKind.UNSTEADY


def _mark(frame: LogFrame, step: Step, own: str, divisor: float) -> str:
    ms = step.response_ms.get(own)
    y = _y(frame, ms) if ms is not None else float(frame.top)
    seen = f"{own} {short(ms)} ms" if ms is not None else f"no {own}"
    return marker(frame.x(step.rate / divisor), y, shape_of(step), f"{format_rate(step.rate)}/s offered, {seen}")


def _keys(objective: Objective, result: TrialResult, own: str) -> list[tuple[str, str]]:
    steps, name = result.measurement.steps, next(words for key, words, _ in CURVES if key == own)
    words = {VerdictKind.VALID: f"{name}, holds", VerdictKind.OFFERED_NOT_MET: f"{name}, does not hold"}
    shapes = dict.fromkeys(shape_of(step) for step in sorted(steps, key=lambda step: (not step.usable, not step.holds)))
    keys = [(marker(8, 0, kind), words.get(kind, f"{name}, left out: {kind.value}")) for kind in shapes]
    keys += [
        (f'<circle cx="8" cy="0" r="{DOT}" class="subject {css}"/>', called)
        for key, called, css in CURVES
        if key != own and any(step.response_ms.get(key) is not None for step in steps)
    ]
    if result.measurement.capacity_per_s is not None:
        keys.append((swatch("fit"), "capacity with its interval"))
    has_line = any(clause.quantity != ERRORS for clause in objective.clauses)
    return [*keys, (swatch("limit"), "objective")] if has_line else keys


def _caption(run: StoredRun, objective: Objective, result: TrialResult) -> str:
    m, trial, unit = result.measurement, result.trial, run.plan.sweep.work.rate_words
    where = load_axis(run.plan.sweep.axis).count(format_number(trial.level))
    capacity = "no capacity"
    if m.capacity_per_s is not None:
        capacity = f"{format_rate(m.capacity_per_s, m.capacity_low_per_s, m.capacity_high_per_s)} {unit}"
    many = counted(trial.load.connections, "connection")
    return (
        f"{trial.trial_id}, {where}, {many}, {objective.words}: {capacity}. Each point is a step at one offered rate; "
        "the response time runs from the intended start of a request"
    )


def search_rows(run: StoredRun, result: TrialResult) -> list[Sequence[object]]:
    unit = run.plan.sweep.work.rate_counts
    headers = ("step", f"offered_{unit}_per_s", "achieved", *(f"response_ms_{name}" for name, *_ in CURVES), "came")
    return [
        headers,
        *(
            (at, step.rate, step.achieved_per_s, *(step.response_ms.get(name) for name, *_ in CURVES), came_of(step))
            for at, step in enumerate(result.measurement.steps, 1)
        ),
    ]


def came_of(step: Step) -> str:
    if not step.usable:
        return f"left out: {step.why}"
    return "holds" if step.holds else "over capacity" if step.excess is None else "does not hold"
