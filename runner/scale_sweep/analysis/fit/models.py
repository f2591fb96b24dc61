"""The models of scaling as formulas.

    linear   X(n) = γ n
    affine   X(n) = intercept + slope n
    amdahl   X(n) = γ n / (1 + α (m − 1))                    after Amdahl, AFIPS 1967
    usl      X(n) = γ n / (1 + α (m − 1) + β m (m − 1))      the universal scalability law
    knee     X(n) = min(λ n, C)                              another resource is full from n = C/λ on
    power    X(n) = γ n^p
    linear_break, amdahl_break    linear and Amdahl at min(n, b) + s max(n − b, 0), where b is a known level

Amdahl and the USL in the absolute form of Gunther, "Guerrilla Capacity Planning" (Springer, 2007), chapters 4 to 6.
m = n / u counts in units of the smallest level u where that is below 1, so that m begins at 1; else u = 1 and m = n.
With levels 0.25..1 and u = 1 the terms (n − 1) would be negative, and α ≤ 1 could not describe a flat curve.
γ, λ: the ideal rate of one unit of the axis; α: contention, the share that must take turns; β: coherency, the cost of
each pair's agreement; C: the capacity of what is full. α, β ≥ 0. b, s: beyond the level b, a unit of the axis is worth
s of one before. b is known before the measurement (the CPU placement), and is not fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

ModelName = Literal["linear", "affine", "amdahl", "usl", "knee", "power", "linear_break", "amdahl_break"]
Floats = NDArray[np.float64]

# In order of preference among equally supported models: laws before descriptions.
PARAMETERS: Mapping[ModelName, tuple[str, ...]] = {
    "linear": ("gamma",),
    "amdahl": ("gamma", "alpha"),
    "usl": ("gamma", "alpha", "beta"),
    "knee": ("lambda", "capacity"),
    "affine": ("intercept", "slope"),
    "power": ("gamma", "exponent"),
    "linear_break": ("gamma", "share", "break"),
    "amdahl_break": ("gamma", "alpha", "share", "break"),
}
WITH_BREAK: tuple[ModelName, ...] = ("linear_break", "amdahl_break")
MODELS: tuple[ModelName, ...] = tuple(model for model in PARAMETERS if model not in WITH_BREAK)
# Fitted parameters: the level of a break is known.
COUNTS: Mapping[ModelName, int] = {model: len(names) - (model in WITH_BREAK) for model, names in PARAMETERS.items()}
NAMES: Mapping[str, str] = {
    "linear": "Linear",
    "amdahl": "Amdahl",
    "usl": "USL",
    "knee": "Knee",
    "affine": "Affine",
    "power": "Power",
    "linear_break": "Linear with a break",
    "amdahl_break": "Amdahl with a break",
}
SYMBOLS: Mapping[str, str] = {
    "gamma": "γ",
    "alpha": "α",
    "beta": "β",
    "lambda": "λ",
    "capacity": "C",
    "intercept": "a",
    "slope": "b",
    "exponent": "p",
    "share": "s",
    "break": "b",
}
BOUNDED = ("alpha", "beta")  # not below 0: a negative share would mean that waiting does work
_DENOMINATOR_MIN = 1e-12
LOG_MOST = 150.0  # of a factor, so that squares of products are still finite


def rate_at(level: float, parameters: Mapping[str, float], unit: float = 1.0) -> float:
    """X(n); an α or β that is not given is 0. unit: u of the formulas."""
    p = parameters
    if "slope" in p:
        return p["intercept"] + p["slope"] * level
    if "capacity" in p:
        return min(p["lambda"] * level, p["capacity"])
    if "exponent" in p:
        return float(p["gamma"] * _powers(np.array(level), p["exponent"]))
    if "break" in p:
        level = float(_equivalent(np.array(level), p["share"], p["break"]))
    m = level / unit
    below = 1 + p.get("alpha", 0.0) * (m - 1) + p.get("beta", 0.0) * m * (m - 1)
    return p["gamma"] * level / max(below, _DENOMINATOR_MIN)


def rates(model: ModelName, parameters: Floats, levels: Floats, unit: float = 1.0) -> Floats:
    """X(n) for many parameter sets: (sets, parameters) and (levels,) give (sets, levels)."""
    columns = [parameters[:, i, None] for i in range(parameters.shape[1])]
    if model == "affine":
        curves: Floats = columns[0] + columns[1] * levels
    elif model == "knee":
        curves = np.minimum(columns[0] * levels, columns[1])
    elif model == "power":
        curves = columns[0] * _powers(levels, columns[1])
    elif model in WITH_BREAK:
        worth = _equivalent(levels, columns[-2], columns[-1])
        curves = columns[0] * worth / _below(columns[1:-2], worth / unit)
    else:
        curves = columns[0] * levels / _below(columns[1:], levels / unit)
    return curves


def _powers(levels: Floats, exponent: Any) -> Floats:
    return np.asarray(np.exp(np.clip(exponent * np.log(levels), -LOG_MOST, LOG_MOST)))


def _equivalent(levels: Floats, share: Any, at: Any) -> Floats:
    """min(n, b) + s max(n − b, 0): levels in units of those before the break."""
    return np.asarray(np.maximum(np.minimum(levels, at) + share * np.maximum(levels - at, 0.0), 0.0))


def _jacobian_with_break(p: Floats, levels: Floats, unit: float) -> Floats:
    """That of b is 0: it is not fitted."""
    worth, over = _equivalent(levels, p[-2], p[-1]), np.maximum(levels - p[-1], 0.0)
    alpha = float(p[1]) if len(p) == len(PARAMETERS["amdahl_break"]) else 0.0
    below = _below([np.array([alpha])], worth / unit)
    slopes = [worth / below, p[0] * over * (1 - alpha) / below**2, np.zeros_like(levels)]
    if len(p) == len(PARAMETERS["amdahl_break"]):
        slopes.insert(1, -p[0] * worth * (worth / unit - 1) / below**2)
    return np.column_stack(slopes)


def _below(shares: list[Floats], levels: Floats) -> Floats:
    """1 + α(m−1) + βm(m−1), kept above 0."""
    below = np.ones_like(levels)
    for share, basis in zip(shares, (levels - 1, levels * (levels - 1)), strict=False):
        below = below + share * basis
    return np.maximum(below, _DENOMINATOR_MIN)


def jacobian(model: ModelName, parameters: Floats, levels: Floats, unit: float = 1.0) -> Floats:
    """∂X/∂parameters at one parameter set: (levels, parameters)."""
    p = parameters
    if model == "affine":
        return np.column_stack([np.ones_like(levels), levels])
    if model == "knee":
        rising = p[0] * levels <= p[1]
        return np.column_stack([np.where(rising, levels, 0.0), np.where(rising, 0.0, 1.0)])
    if model == "power":
        powers = _powers(levels, p[1])
        return np.column_stack([powers, p[0] * powers * np.log(levels)])
    if model in WITH_BREAK:
        return _jacobian_with_break(p, levels, unit)
    many = levels / unit
    below = _below([np.array([v]) for v in p[1:]], many)
    ideal = levels / below
    steep = -p[0] * levels / below**2
    return np.column_stack([ideal, steep * (many - 1), steep * many * (many - 1)])[:, : len(p)]


def usl_peak(alpha: float, beta: float, unit: float = 1.0) -> float | None:
    """n* = u √((1 − α) / β); None without a maximum."""
    return unit * math.sqrt((1 - alpha) / beta) if beta > 0 and alpha < 1 else None
