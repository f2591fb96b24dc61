"""The six models of scaling as formulas, and nothing about how they are fitted.

    linear   X(n) = γ n
    affine   X(n) = intercept + slope n
    amdahl   X(n) = γ n / (1 + α (m − 1))                    after Amdahl, AFIPS 1967
    usl      X(n) = γ n / (1 + α (m − 1) + β m (m − 1))      the universal scalability law
    knee     X(n) = min(λ n, C)                              another resource is full from n = C/λ on
    power    X(n) = γ n^p

Amdahl and the USL in the absolute form of Gunther, "Guerrilla Capacity Planning" (Springer, 2007), chapters 4 to 6.
m = n / u counts in units of the smallest level u where that is below 1, so that m begins at 1; else u = 1 and m = n.
With levels 0.25..1 and u = 1 the terms (n − 1) would be negative, and α ≤ 1 could not describe a flat curve.
γ, λ: the ideal rate of one unit of the axis; α: contention, the share that must take turns; β: coherency, the cost of
each pair's agreement; C: the capacity of what is full. α, β ≥ 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

ModelName = Literal["linear", "affine", "amdahl", "usl", "knee", "power"]
Floats = NDArray[np.float64]

# In order of preference among equally supported models: laws before descriptions.
PARAMETERS: Mapping[ModelName, tuple[str, ...]] = {
    "linear": ("gamma",),
    "amdahl": ("gamma", "alpha"),
    "usl": ("gamma", "alpha", "beta"),
    "knee": ("lambda", "capacity"),
    "affine": ("intercept", "slope"),
    "power": ("gamma", "exponent"),
}
MODELS: tuple[ModelName, ...] = tuple(PARAMETERS)
NAMES: Mapping[str, str] = {
    "linear": "Linear",
    "amdahl": "Amdahl",
    "usl": "USL",
    "knee": "Knee",
    "affine": "Affine",
    "power": "Power",
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
}
BOUNDED = ("alpha", "beta")  # not below 0: a negative share would mean that waiting does work
_DENOMINATOR_MIN = 1e-12
LOG_MOST = 150.0  # of a factor, so that squares of products are still finite


def rate_at(level: float, parameters: Mapping[str, float], unit: float = 1.0) -> float:
    """X(n) of the model with these parameters; an α or β that is not given is 0. unit: u of the formulas."""
    p = parameters
    if "slope" in p:
        return p["intercept"] + p["slope"] * level
    if "capacity" in p:
        return min(p["lambda"] * level, p["capacity"])
    if "exponent" in p:
        return float(p["gamma"] * _powers(np.array(level), p["exponent"]))
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
    else:
        curves = columns[0] * levels / _below(columns[1:], levels / unit)
    return curves


def _powers(levels: Floats, exponent: Any) -> Floats:
    """n^p within the range of a float: a sample of inexact points may have any exponent."""
    powers: Floats = np.exp(np.clip(exponent * np.log(levels), -LOG_MOST, LOG_MOST))
    return powers


def _below(shares: list[Floats], levels: Floats) -> Floats:
    """1 + α(m−1) + βm(m−1), kept above 0 for levels below the unit."""
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
    many = levels / unit
    below = _below([np.array([v]) for v in p[1:]], many)
    ideal = levels / below
    steep = -p[0] * levels / below**2
    return np.column_stack([ideal, steep * (many - 1), steep * many * (many - 1)])[:, : len(p)]


def usl_peak(alpha: float, beta: float, unit: float = 1.0) -> float | None:
    """n* = u √((1 − α) / β), the level of the USL's maximum; None if the curve has none."""
    return unit * math.sqrt((1 - alpha) / beta) if beta > 0 and alpha < 1 else None
