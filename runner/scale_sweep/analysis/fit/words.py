"""The fit in words: one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.analysis.fit.candidates import Candidate
from scale_sweep.analysis.fit.choice import ModelChoice
from scale_sweep.analysis.fit.models import NAMES, SYMBOLS, WITH_BREAK, ModelName
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.analysis.fit.summaries import Noise, Usable
from scale_sweep.base.units import counted, format_number, format_rate, with_interval
from scale_sweep.model.fitted import Estimate, KnownBreak, PointSummary, RejectedLevel, is_off_linear
from scale_sweep.model.planned import Confound

_HEADS: Mapping[str, str] = {"falls": "Falls; one row a level"}
_ERROR_MIN, _ERROR_LEAST = 1e-5, 1e-9  # a smaller interval does not justify more digits

RATE_UNITS = {"rows_per_s": "rows/s", "requests_per_s": "requests/s", "durable_rows_per_s": "durable rows/s"}


@dataclass(frozen=True, kw_only=True)
class Terms:
    axis: str = "cores"
    rate: str = "rows/s"
    row: str = "valid trial"
    one: str = ""

    @property
    def unit(self) -> str:
        """One step of the axis, by default from its plural."""
        if self.one:
            return self.one
        plural = self.axis.endswith("s") and not self.axis.endswith("ss") and len(self.axis) > 3
        return self.axis[:-1] if plural else self.axis

    def count(self, level: float) -> str:
        """ "1 core", "4 cores"."""
        return self.named(format_number(level))

    def named(self, levels: str) -> str:
        """ "1 core", "2, 3 cores"."""
        return f"{levels} {self.unit if levels == '1' else self.axis}"

    @property
    def whole(self) -> str:
        """ "this run", "these rows"."""
        return "these rows" if self.row == "row" else "this run"

    def rows(self, number: int) -> str:
        """ "12 valid trials"."""
        return counted(number, self.row)


@dataclass(frozen=True, kw_only=True)
class FitFindings:
    terms: Terms
    data: Usable
    rows: Rows
    noise: Noise | None
    points: tuple[PointSummary, ...]
    candidates: Mapping[ModelName, Candidate]
    choice: ModelChoice
    superlinear: tuple[str, ...]
    breaks: tuple[KnownBreak, ...]
    wider: Sequence[Candidate]  # see `wider_curves`
    confounds: tuple[Confound, ...] = ()
    peak: Estimate | None = None
    knee: Estimate | None = None
    maximum: Estimate | None = None

    @property
    def chosen(self) -> Candidate | None:
        return self.candidates[self.choice.model] if self.choice.model else None

    @property
    def known_break(self) -> KnownBreak | None:
        if self.chosen is None or self.chosen.model not in WITH_BREAK:
            return None
        return next((one for one in self.breaks if one.after == self.chosen.value("break")), None)

    @property
    def span(self) -> str:
        first, last = self.points[0].level, self.points[-1].level
        return f"{format_number(first)} → {self.terms.count(last)}, {self.trials}"

    @property
    def trials(self) -> str:
        return self.terms.rows(len(self.data.rates))


def sentence(f: FitFindings) -> str:
    """The answer in one sentence, as certain as the points allow."""
    if not f.points:
        what = ", ".join(f"{n} {kind}" for kind, n in f.data.left_out.items())
        return f"No {f.terms.row}, so nothing to fit{f' ({what})' if what else ''}."
    if len(f.points) == 1:
        p = f.points[0]
        alone = "" if p.mean_low is not None else " without an interval"
        rate = f"{format_rate(p.rate_mean, p.mean_low, p.mean_high)} {f.terms.rate}{alone}"
        words = f"{f.terms.count(p.level)} only: {rate}, {f.trials}; one level does not show scaling"
    elif f.chosen is None:
        words = _few_levels(f)
    else:
        words = _curve(f, f.chosen)
    moved = [c.knob for c in f.confounds if f.known_break is None or c.knob != f.known_break.knob]
    if len(f.points) > 1 and moved:
        verb = "moves" if len(moved) == 1 else "move"
        words += f"; but {' and '.join(moved)} {verb} along the axis, so this is not the {f.terms.axis}' effect alone"
    if beyond := [r for r in f.data.lost if r.level > f.points[-1].level]:
        most = max(beyond, key=lambda r: r.rate or 0.0)
        where = f.terms.named(level_words([r.level for r in beyond]))
        at = f" at {format_number(most.level)}" if len(beyond) > 1 else ""
        measured = f"measured: {rejected_words(most, f.terms)}{at}"
        words += f"; the curve ends there: every trial at {where} was rejected; {measured}"
    if not (doubted := [r for r in f.data.rejected if r.is_doubted]):
        return f"{words}."
    where, kept = f.terms.named(level_words([r.level for r in doubted])), sum(r.kept for r in doubted)
    trials = counted(kept + sum(r.rejected for r in doubted), "trial")
    return f"{words}. In doubt: at {where} only {kept} of {trials} {'is' if kept == 1 else 'are'} valid."


def level_words(levels: Sequence[float]) -> str:
    names = [format_number(v) for v in levels]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]}"


def rejected_words(lost: RejectedLevel, terms: Terms) -> str:
    """ "6.2 M rows/s (2 UNSTEADY)"."""
    marks = ", ".join(f"{n} {kind}" for kind, n in lost.marks.items())
    return f"{format_rate(lost.rate)} {terms.rate} ({marks})" if lost.rate is not None else f"no rate ({marks})"


def _few_levels(f: FitFindings) -> str:
    if f.choice.falls and len(f.points) > 3:
        head = f"{_verdict(f)}: {format_number(f.points[0].level)} → {speedup(f)}, {f.trials}"
        return f"{head}; no model that falls describes the points"
    few = "two levels are" if len(f.points) == 2 else f"{f.trials} at {counted(len(f.points), 'level')} are"
    first = f.points[0].level
    line = f"a line through the origin gives {slope(f, f.candidates['linear'], 'gamma')}"
    if is_off_linear(f.points):
        line = f"linear scaling, a speedup of {format_number(f.points[1].level / first)}, is outside the interval"
    fall = ", and the rate falls after its peak, beyond the noise" if f.choice.falls else ""
    return f"{format_number(first)} → {speedup(f)}, {f.trials}{fall}; {line} ({few} too few to choose a model)"


def speedup(f: FitFindings) -> str:
    last = f.points[-1]
    efficiency = f"efficiency {100 * (last.efficiency or 0):.0f} %"
    return f"{f.terms.count(last.level)}: speedup {speedup_words(last)}, {efficiency}"


def speedup_words(point: PointSummary) -> str:
    """ "1.84 (1.51 to 2.27)"."""
    value, low, high = point.speedup or 0.0, point.speedup_low, point.speedup_high
    if len(point.pairs) > 1:
        return f"{value:.2f} ({point.pairs[0]:.2f} to {point.pairs[-1]:.2f})"
    if low is None or high is None or (point.speedup_std_err or 0.0) < _ERROR_MIN * value:
        return f"{value:.2f}"
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def slope(f: FitFindings, c: Candidate, name: str) -> str:
    """In rows/s per core; a run of short windows has no interval."""
    interval = (None, None) if f.data.is_quick else c.interval(name)
    return f"{format_rate(c.value(name), *interval)} {f.terms.rate} per {f.terms.unit}"


def _curve(f: FitFindings, c: Candidate) -> str:
    verdict, name, best = f.choice.verdict, _verdict(f), f"{NAMES[c.model]} fits best"
    head = f"Undecided, {best}" if verdict == "undecided" else name if verdict == c.model else f"{name} ({best})"
    tail = f"; {f.choice.doubts[0]}" if verdict == "undecided" and f.choice.doubts else ""
    if verdict == "superlinear":
        most = round(max(100 * (p.efficiency or 0.0) for p in f.points[1:]))
        tail = "; faster than linear" + (f": efficiency up to {most} %" if most > 100 else "")
    return f"{head}: {_BODIES.get(c.model, _break)(f, c)}{tail}"


def _verdict(f: FitFindings) -> str:
    return _HEADS.get(f.choice.verdict, f.choice.verdict.capitalize())


def _linear(f: FitFindings, c: Candidate) -> str:
    amdahl = f.candidates.get("amdahl")
    words = f"{slope(f, c, 'gamma')}, {f.span}"
    return words + (f"; contention {parameter_words(amdahl, 'alpha')}" if amdahl else "")


def _law(f: FitFindings, c: Candidate) -> str:
    parts = [f"contention {parameter_words(c, 'alpha')}"]
    if c.model == "usl":
        parts.append(f"coherency {parameter_words(c, 'beta')}")
    parts.append(_peak(f))
    return f"{slope(f, c, 'gamma')} at first, {f.span}, {', '.join(parts)}; at {speedup(f)}"


def _peak(f: FitFindings) -> str:
    if f.peak is not None:
        return f"peak at {f.terms.named(ranged(f.peak))}"
    if f.choice.falls:
        return "no peak can be located"
    if f.maximum is None:
        return f"no maximum up to {f.terms.count(f.points[-1].level)}"
    return f"maximum {ranged(f.maximum, rate=True)} {f.terms.rate}"


def _knee(f: FitFindings, c: Candidate) -> str:
    where = ranged(f.knee) if f.knee else f"{c.value('capacity') / c.value('lambda'):.1f}"
    return (
        f"{slope(f, c, 'lambda')} up to a hard limit at {f.terms.named(where)}, "
        f"{format_rate(c.value('capacity'), *c.interval('capacity'))} {f.terms.rate} beyond, {f.span}; at {speedup(f)}"
    )


def _break(f: FitFindings, c: Candidate) -> str:
    plain = f"{slope(f, c, 'gamma')}, {f.span}", f"; at {speedup(f)}"
    first, at = plain if c.model == "linear_break" else (_law(f, c), "")
    kind = f.known_break.words if f.known_break else "the added units differ in kind"
    low, high = (None if end is None else 100 * end for end in c.interval("share"))
    worth = f"each worth {with_interval(100 * c.value('share'), low, high, ' %')} of one before"
    return f"{first}; beyond {f.terms.count(c.value('break'))} {kind}, {worth}{at}"


def _affine(f: FitFindings, c: Candidate) -> str:
    first = format_rate(c.value("intercept"), *c.interval("intercept"))
    return f"{first} {f.terms.rate} and {slope(f, c, 'slope')}, {f.span}; at {speedup(f)}"


def _power(f: FitFindings, c: Candidate) -> str:
    exponent = parameter_words(c, "exponent", against=1.0)
    first = format_rate(c.value("gamma"), *c.interval("gamma"))
    return f"{first} {f.terms.rate} × n^p, {exponent}, {f.span}; at {speedup(f)}"


_BODIES = {"linear": _linear, "amdahl": _law, "usl": _law, "knee": _knee, "affine": _affine, "power": _power}


def parameter_words(c: Candidate, name: str, against: float = 0.0) -> str:
    """With its interval, and whether that includes the value that means linear."""
    value, (low, high) = c.value(name), c.interval(name)
    value = value if abs(value) > _ERROR_LEAST else 0.0
    symbol = SYMBOLS[name]
    if name not in c.free:
        least = low if low is not None and low > _ERROR_LEAST else 0.0
        ends = f", {least:.2g} to {high:.2g}" if high and high > _ERROR_LEAST else ""
        return f"{symbol} = {value:.3g} (at its bound{ends})"
    if low is None or high is None:
        return f"{symbol} = {value:.3g} without an interval"
    words = f"{symbol} = {with_interval(value, low, high)}"
    return words if not low <= against <= high else f"{words}, which includes {against:g}"


def ranged(estimate: Estimate, *, rate: bool = False) -> str:
    """ "4.0 (3.8 to 4.3)"."""
    if rate:
        return format_rate(estimate.value, estimate.low, estimate.high)
    if estimate.low is None:
        return f"{estimate.value:.1f}"
    return with_interval(estimate.value, estimate.low, estimate.high)
