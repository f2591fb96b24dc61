"""The three models of scaling as formulas, and nothing about how they are fitted.

Gunther, "Guerrilla Capacity Planning" (Springer, 2007), chapters 4 to 6, in the absolute form X(n) = γ C(n):

    linear   X(n) = γ n
    Amdahl   X(n) = γ n / (1 + α (n − 1))                    after Amdahl, AFIPS 1967
    USL      X(n) = γ n / (1 + α (n − 1) + β n (n − 1))      the universal scalability law

γ: the ideal rate of one unit of the axis; α: contention, the share that must take turns; β: coherency, the cost of each
pair's agreement. Each model is the next one with a parameter at 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ModelName = Literal["linear", "amdahl", "usl"]
Floats = NDArray[np.float64]

PARAMETERS: Mapping[ModelName, tuple[str, ...]] = {
    "linear": ("gamma",),
    "amdahl": ("gamma", "alpha"),
    "usl": ("gamma", "alpha", "beta"),
}
UPPER = 1.0  # α is a share, and β cannot pass 1 where it means anything: a second unit would bring less than nothing
_DENOMINATOR_MIN = 1e-9


def rate_at(level: float, parameters: Mapping[str, float]) -> float:
    """X(n). Absent parameters are 0."""
    return float(
        rates(np.array([level]), parameters["gamma"], parameters.get("alpha", 0), parameters.get("beta", 0))[0]
    )


def rates(levels: Floats, gamma: float, alpha: float, beta: float) -> Floats:
    """X(n) of every level."""
    return gamma * levels / denominator(levels, alpha, beta)


def denominator(levels: Floats, alpha: float, beta: float) -> Floats:
    """1 + α(n−1) + βn(n−1); kept above 0 for levels below 1."""
    found: Floats = np.maximum(1 + alpha * (levels - 1) + beta * levels * (levels - 1), _DENOMINATOR_MIN)
    return found


def log_gradient(levels: Floats, alpha: float, beta: float, free: Sequence[str]) -> Floats:
    """∂ ln X / ∂ (ln γ, α, β) for the free parameters, one row per level. γ is differentiated as ln γ."""
    below = denominator(levels, alpha, beta)
    columns = {
        "gamma": np.ones_like(levels),
        "alpha": -(levels - 1) / below,
        "beta": -levels * (levels - 1) / below,
    }
    return np.column_stack([columns[name] for name in free])


def usl_peak(alpha: float, beta: float) -> float | None:
    """n* = √((1 − α) / β), where the USL has its maximum; None where the curve has none."""
    return math.sqrt((1 - alpha) / beta) if beta > 0 and alpha < 1 else None
