"""What the fit says in words: one sentence, and the cautions without which the sentence would mislead.

Refuses adjectives: every statement is a number with its error, or says that there is none. ± is one standard error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.stats import f as fisher

from runner.fit.models import ModelName
from runner.fit.points import Noise, Usable
from runner.fit.regression import Solution, two_sided
from runner.model import Confound, ModelFit, PointSummary
from runner.units import format_number

SYMBOLS = {"gamma": "γ", "alpha": "α", "beta": "β"}
NAMES = {"linear": "Linear", "amdahl": "Amdahl", "usl": "USL"}
_UNIT = {"cores": "core", "disks": "disk"}
_SUPERLINEAR_UNPROVEN = 1.05
_MISFIT_P = 0.01
_NEAR_AICC = 2.0
_DEGREES_FEW = 4


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Everything the words are made of. peak: level, standard error, whether it is beyond the levels measured."""

    data: Usable
    noise: Noise | None
    points: tuple[PointSummary, ...]
    solutions: Mapping[ModelName, Solution]
    models: Mapping[ModelName, ModelFit]
    chosen: ModelName | None
    axis: str
    confounds: tuple[Confound, ...]
    peak: tuple[float, float, bool] | None
    knee: float | None

    @property
    def unit(self) -> str:
        """One step of the axis: core, disk."""
        return _UNIT.get(self.axis, self.axis)

    def count(self, level: float) -> str:
        """A level with its unit: "1 core", "4 cores"."""
        return f"{format_number(level)} {self.unit if level == 1 else self.axis}"

    @property
    def trials(self) -> str:
        """How many trials are fitted."""
        n = len(self.data.rates)
        return f"{n} valid trial{'' if n == 1 else 's'}"


def sentence(f: Findings) -> str:
    """The answer in one sentence, as sure as the points are and no surer."""
    if not f.points:
        what = ", ".join(f"{n} {kind}" for kind, n in f.data.left_out.items())
        return f"No valid trial, so nothing to fit{f' ({what})' if what else ''}."
    if len(f.points) == 1:
        said = _one_level(f)
    elif f.chosen is None:
        said = _few_levels(f)
    else:
        said = _curve(f)
    moved = [c.knob for c in f.confounds]
    if len(f.points) > 1 and moved:
        verb = "moves" if len(moved) == 1 else "move"
        said += f"; but {' and '.join(moved)} {verb} along the axis, so this is not the {f.axis}' doing alone"
    return said + "."


def _one_level(f: Findings) -> str:
    p = f.points[0]
    spread = p.rows_per_s_std
    return (
        f"{f.count(p.level)} only: {quantity(p.rows_per_s_mean, spread)} rows/s"
        f"{' (± standard deviation)' if spread else ''}, {f.trials}; one level says nothing about scaling"
    )


def _few_levels(f: Findings) -> str:
    few = "two levels are" if len(f.points) == 2 else f"{f.trials} at {len(f.points)} levels are"
    return f"{_speedup(f)}; {few} too few to tell a model"


def _speedup(f: Findings) -> str:
    first, last = f.points[0], f.points[-1]
    error = last.speedup_std_err
    ratio = pair(last.speedup or 0.0, error) if error else f"{last.speedup:.2f}"
    linear = f.solutions["linear"]
    said = (
        f"{format_number(first.level)} → {f.count(last.level)}: speed-up {ratio} "
        f"(efficiency {100 * (last.efficiency or 0):.0f} %), {f.trials}"
    )
    return said + f"; a line through the origin gives {_gamma(f, linear)}"


def _gamma(f: Findings, solution: Solution) -> str:
    return f"{quantity(solution.gamma, solution.std_err('gamma'))} rows/s per {f.unit}"


def _curve(f: Findings) -> str:
    assert f.chosen is not None
    solution = f.solutions[f.chosen]
    span = f"{format_number(f.points[0].level)} → {f.count(f.points[-1].level)}, {f.trials}"
    if f.chosen == "linear":
        fits = "Linear within noise" if f.noise and not _misfit(f) else "Linear fits best"
        said = f"{fits}: {_gamma(f, solution)}, {span}; contention {_told(f.solutions['amdahl'], 'alpha')}"
        above = max((p.efficiency or 0.0 for p in f.points[1:]), default=0.0)
        high = bool(_superlinear(f))
        return said + (f"; superlinear against the first level (efficiency up to {above:.2f})" if high else "")
    last = f.points[-1]
    parts = [f"contention {_told(solution, 'alpha')}"]
    if f.chosen == "usl":
        parts.append(f"coherency {_told(solution, 'beta')}")
    if f.knee is not None:
        parts.append(f"but a hard limit at {f.knee:.1f} {f.axis} fits better")
    elif f.chosen == "usl":
        parts.append(_peak(f))
    best = "fits best" if f.knee is None else "is the best smooth curve"
    return (
        f"{NAMES[f.chosen]} {best}: {_gamma(f, solution)} at first, {span}; {', '.join(parts)}; "
        f"speed-up {last.speedup:.2f} at {f.count(last.level)} (efficiency {100 * (last.efficiency or 0):.0f} %)"
    )


def _peak(f: Findings) -> str:
    if f.peak is None:
        return "no peak can be located"
    level, error, beyond = f.peak
    where = f"peak at {level:.1f} ± {error:.1f} {f.axis}"
    return f"{where}, extrapolated beyond the {f.count(f.points[-1].level)} measured" if beyond else where


def _told(solution: Solution, name: str) -> str:
    """A parameter, and whether it can be told from 0 (95 %)."""
    value, error = solution.value(name), solution.std_err(name)
    if error is None:
        at = "at its bound" if name not in solution.free else "with unknown error"
        return f"{SYMBOLS[name]} = {value:.3g} ({at})" if value else f"{SYMBOLS[name]} = 0 (at its bound)"
    said = f"{SYMBOLS[name]} = {pair(value, error)}"
    return said if value > two_sided(solution.degrees) * error else f"{said} cannot be told from 0"


def all_cautions(f: Findings) -> tuple[str, ...]:
    """What a reader must know before believing the sentence, most important first."""
    found = [c.sentence for c in f.confounds]
    found += _left_out(f)
    if len(f.points) < 2:
        return tuple(found)
    found += [*_superlinear(f), *_limits(f), *_model_doubts(f), *_noise(f)]
    return tuple(found)


def _left_out(f: Findings) -> list[str]:
    total = sum(f.data.left_out.values())
    if not total or not f.points:
        return []
    kinds = ", ".join(f"{n} {kind}" for kind, n in f.data.left_out.items())
    all_trials = total + len(f.data.rates)
    found = [f"{total} of {all_trials} trials {'is' if total == 1 else 'are'} not fitted: {kinds}"]
    if f.data.levels_lost:
        lost = ", ".join(format_number(v) for v in f.data.levels_lost)
        found.append(f"no valid trial at {lost} {f.axis}: the curve says nothing there")
    return found


def _superlinear(f: Findings) -> list[str]:
    proven, seen = [], []
    for p in f.points[1:]:
        efficiency = p.efficiency or 0.0
        if f.noise and p.speedup and p.speedup_std_err is not None:
            error = efficiency * p.speedup_std_err / p.speedup
            if efficiency > 1 + two_sided(f.noise.degrees) * error:
                proven.append(f"{efficiency:.2f} at {format_number(p.level)}")
        elif efficiency > _SUPERLINEAR_UNPROVEN:
            seen.append(f"{efficiency:.2f} at {format_number(p.level)}")
    found = []
    if proven:
        found.append(
            f"superlinear beyond noise: efficiency {', '.join(proven)} {f.axis}; no model here rises faster "
            "than linear, so look at what else changed, and at the first level"
        )
    if seen:
        found.append(f"superlinear: efficiency {', '.join(seen)} {f.axis}; without replicates noise cannot be excluded")
    return found


def _limits(f: Findings) -> list[str]:
    if f.knee is None:
        return []
    where = f"a hard limit at {f.knee:.1f} {f.axis} explains the points better than every smooth model"
    return [f"{where}: look for another resource that is full from there on"]


def _model_doubts(f: Findings) -> list[str]:
    if f.chosen is None:
        return []
    found = []
    if _misfit(f):
        found.append(f"the levels lie off the {NAMES[f.chosen]} curve by more than the replicates' spread explains")
    if 3 <= len(f.points) <= 5:
        found.append(f"USL is weakly determined by {len(f.points)} levels (3 parameters; 6 levels or more tell)")
    best = f.models[f.chosen].aicc
    near = [NAMES[n] for n, m in f.models.items() if n != f.chosen and m.aicc is not None and best is not None
            and m.aicc - best < _NEAR_AICC]  # fmt: skip
    if near:
        found.append(f"{' and '.join(near)} explain{'s' if len(near) == 1 else ''} the points about as well as "
                     f"{NAMES[f.chosen]} (AICc within {_NEAR_AICC:.0f})")  # fmt: skip
    return found


def _noise(f: Findings) -> list[str]:
    if f.noise is None:
        return ["one trial per level: the noise is not known, so small differences mean nothing"]
    floor = f"noise floor {100 * f.noise.std:.1f} % (spread of replicates); differences below it mean nothing"
    few = f", and it is itself poorly known ({f.noise.degrees} degree{'s' * (f.noise.degrees > 1)} of freedom)"
    return [floor + (few if f.noise.degrees < _DEGREES_FEW else "")]


def _misfit(f: Findings) -> bool:
    """Lack-of-fit F test: do the level means lie off the chosen curve by more than the replicates' spread? (1 %)"""
    if f.noise is None or f.chosen is None:
        return False
    solution = f.solutions[f.chosen]
    pure = f.noise.std**2 * f.noise.degrees
    degrees = len(f.points) - len(solution.free)
    if degrees <= 0 or pure <= 0:
        return False
    ratio = max(solution.rss - pure, 0.0) / degrees / (pure / f.noise.degrees)
    return bool(fisher.sf(ratio, degrees, f.noise.degrees) < _MISFIT_P)


def pair(value: float, error: float) -> str:
    """0.0123, 0.004 → "0.012 ± 0.004": the error's first digit (two if it is 1) decides the decimals."""
    if error <= 0 or not math.isfinite(error):
        return f"{value:.3g}"
    places = -math.floor(math.log10(error))
    if error * 10**places < 2:
        places += 1
    places = min(max(places, 0), 12)
    return f"{value:.{places}f} ± {error:.{places}f}"


def quantity(rate: float, error: float | None) -> str:
    """A rate with its error in one unit: "1.02 ± 0.03 M"."""
    scale, unit = next(((s, u) for s, u in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if rate >= 0.9995 * s), (1.0, ""))
    return (pair(rate / scale, error / scale) if error else f"{rate / scale:.3g}") + unit
