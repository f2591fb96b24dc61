"""Which resource a rate depends on: when to disturb each, and what the rates then say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.confidence import Floats, student
from scale_sweep.base.units import counted
from scale_sweep.model.proof import Elasticity, Proof, ProofInterval, ProofPhase

PHASE_S = 2.0
LOST_MIN = 0.02  # ln: smaller disturbances give no elasticity
OUTLYING, OF_MAD, ROUNDS = 4.0, 1.4826, 10
LATE = (0.0, 0.15, 0.3)  # of an interval: how long the rate may follow the phase before
PHIS = tuple(at / 10 for at in range(10))  # of the autoregression of the intervals
TINY = 1e-9
# With these, at most 2 % of the namings in bench/method_prove.py are false. One resource is the cause from PROVED on if
# its interval is above PART and those of the others below it; several share if their intervals are above SHARED; none
# is the cause if no interval is above SHARED and all are below PART.
PROVED, PART, SHARED = 0.8, 0.5, 0.15
HALF_WIDE = 0.2  # half of an interval that decides
SMOOTH = 0.75  # weight of a smooth change of the limit in `more`, that of a sudden one is the rest


def schedule(resources: Sequence[str], seconds: float) -> tuple[ProofPhase, ...]:
    """As many whole blocks as fit, without gaps. In each, every resource is on in half of the phases, its order
    independent of those of the others and of a linear drift (off on on off and its relatives); every second block is
    the mirror of the one before, with on for off."""
    bits = 3 if len(resources) <= 4 else 4
    orders = [order for order in range(2**bits) if order.bit_count() >= 2]
    if not 0 < len(resources) <= len(orders):
        raise ValueError(f"{len(resources)} resources cannot be disturbed in one trial: 1 to {len(orders)} can")

    def sign(order: int, at: int) -> int:
        return (order & at).bit_count() % 2

    def changes(order: int) -> int:
        return sum(sign(order, at) != sign(order, at + 1) for at in range(2**bits - 1))

    fastest = sorted(orders, key=changes, reverse=True)  # slow noise hides the least in them
    of = dict(zip(resources, fastest, strict=False))
    blocks = int(seconds / (PHASE_S * 2**bits))
    return tuple(
        ProofPhase(
            start_s=PHASE_S * (2**bits * block + at),
            seconds=PHASE_S,
            block=block,
            on=frozenset(name for name, order in of.items() if sign(order, at) != block % 2),
        )
        for block in range(blocks)
        for at in range(2**bits)
    )


def proof_of(intervals: Sequence[ProofInterval], resources: Sequence[str]) -> Proof:
    """From the intervals of one trial, in the order of time."""
    used = [one for one in intervals if one.rate > 0]
    left = np.array([[one.left.get(name, 0.0) for name in resources] for one in used]).reshape(
        len(used), len(resources)
    )
    sizes = 2 * left.std(axis=0) if used else np.zeros(len(resources))  # each is on in half of the time
    still = [name for name, size in zip(resources, sizes, strict=True) if size < LOST_MIN]
    if still:
        return Proof(reason=f"{' and '.join(still)}: the disturbances took too little; stop other programs")
    blocks = sorted({one.block for one in used})
    fit = _fit_of(used, left, blocks)
    if fit is None:
        return Proof(reason=f"{counted(len(used), 'interval')} are too few; run the load for a minute")
    half = student(fit.degrees / 2) * fit.errors  # half: the intervals' correlation is estimated too
    low, high = fit.values - half, fit.values + half
    table = np.column_stack([fit.values, low, high, sizes]).tolist()
    elasticities = tuple(
        with_more(Elasticity(resource=name, value=value, low=least, high=most, size=size))
        for name, (value, least, most, size) in zip(resources, table, strict=True)
    )
    for at, name in enumerate(resources):
        if fit.values[at] >= PROVED and low[at] > PART and (np.delete(high, at) < PART).all():
            return Proof(elasticities=elasticities, causes=(name,))
    sharing = tuple(name for name, least in zip(resources, low, strict=True) if least > SHARED)
    if len(sharing) > 1 or (not sharing and (high < PART).all()):
        return Proof(elasticities=elasticities, causes=sharing)
    if float(half.max()) > HALF_WIDE:
        return Proof(elasticities=elasticities, reason="the rate varies too much; stop other programs")
    return Proof(elasticities=elasticities, reason="a resource that was not disturbed limits too; disturb others")


def more(one: Elasticity, factor: float) -> tuple[float, float, float]:
    """The ratio of the rates with this many times as much of the resource, and its 95 %: between a limit that moves to
    another resource smoothly, and one that moves suddenly. It holds if nothing that was not disturbed becomes the limit
    before."""
    step = math.log(factor)

    def smooth(e: float) -> float:
        return min(e, 1.0) * step

    def sudden(e: float, known: float) -> float:
        """Between e = 1 and 1/2, the others came to limit only while they were disturbed: they have a reserve."""
        return min(step, max(0.0, (2 * e - 1) * known))

    low, high = (one.value if end is None else end for end in (one.low, one.high))
    value = SMOOTH * smooth(one.value) + (1 - SMOOTH) * sudden(one.value, max(one.size, step))
    least = min(smooth(low), sudden(low, one.size))
    return math.exp(value), math.exp(least), math.exp(max(smooth(high), sudden(high, one.size)))


def with_more(one: Elasticity) -> Elasticity:
    percent, low, high = (100 * (ratio - 1) for ratio in more(one, 1.1))
    return replace(one, more_percent=percent, more_low=low, more_high=high)


@dataclass(frozen=True, kw_only=True)
class _Estimate:
    values: Floats  # e of each resource
    errors: Floats  # their standard errors
    degrees: int


@dataclass(frozen=True, kw_only=True)
class _Least:
    values: Floats
    kept: NDArray[np.bool_]  # the intervals that do not outlie
    loss: float  # sum of the squared residuals, those of the others cut


def _fit_of(used: Sequence[ProofInterval], left: Floats, blocks: Sequence[int]) -> _Estimate | None:
    """ln(rate) by what was left, with a mean and a drift of each block. A rate follows a phase by an unknown part of an
    interval: the best of LATE, and a column that corrects it and adds what is unknown about it to the errors."""
    at_s, logs = np.array([one.at_s for one in used]), np.log([one.rate for one in used])
    apart = np.diff(at_s, prepend=at_s[0])
    step = float(np.median(apart[1:])) if len(used) > 1 else 1.0
    before = np.vstack([left[:1], left[:-1]])
    moved = np.where((apart < 1.5 * step)[:, None], before - left, 0.0)
    own = [np.array([float(one.block == block) for one in used]) for block in blocks]
    rest = np.column_stack([*own, *(mine * (at_s - at_s[mine > 0].mean()) for mine in own)])
    rest = rest[:, rest.any(axis=0)]  # one interval of a block has no drift
    tried = [(late, _least(logs, np.column_stack([left + late * moved, rest]))) for late in LATE]
    late, least = min(((late, one) for late, one in tried if one), key=lambda pair: pair[1].loss, default=(0.0, None))
    if least is None:
        return None
    count = left.shape[1]
    columns, correction = np.column_stack([left + late * moved, rest]), moved @ least.values[:count]
    corrected = _fit(logs, np.column_stack([columns, correction]), at_s / step, count)
    return corrected or _fit(logs, columns, at_s / step, count)  # without any effect there is nothing to correct


def _fit(logs: Floats, columns: Floats, at: Floats, count: int) -> _Estimate | None:
    """The first coefficients, if the errors are an autoregression of order one: its restricted maximum likelihood. at:
    in units of an interval."""
    least = _least(logs, columns)
    if least is None:
        return None
    logs, columns, at = logs[least.kept], columns[least.kept], at[least.kept]
    degrees = len(logs) - columns.shape[1]
    fits = []
    for phi in PHIS:
        correlated = phi ** np.abs(at[:, None] - at)
        inverse = np.linalg.inv(correlated)
        spread = np.linalg.inv(columns.T @ inverse @ columns)
        values = spread @ columns.T @ inverse @ logs
        off = logs - columns @ values
        variance = max(float(off @ inverse @ off) / degrees, TINY**2)
        surprise = degrees * math.log(variance) + np.linalg.slogdet(correlated)[1] - np.linalg.slogdet(spread)[1]
        fits.append((float(surprise), values[:count], np.sqrt(variance * np.diag(spread))[:count]))
    _, values, errors = min(fits, key=lambda one: one[0])
    return _Estimate(values=values, errors=errors, degrees=degrees)


def _least(logs: Floats, columns: Floats) -> _Least | None:
    """Least squares without outlying intervals; None: too few for these columns."""
    used = columns.shape[1]
    if len(logs) - used < 2 or np.linalg.matrix_rank(columns) < used:
        return None
    weights, kept = np.ones(len(logs)), np.ones(len(logs), dtype=bool)
    for _ in range(ROUNDS):  # least absolute deviations: a stall does not draw its block's mean
        values = _solved(columns * weights[:, None], logs * weights)
        sizes = np.abs(logs - columns @ values)
        weights = np.maximum(sizes, max(float(np.median(sizes)) / 10, TINY)) ** -0.5
    for _ in range(2):
        usual = OF_MAD * float(np.median(sizes[kept])) * math.sqrt(kept.sum() / (kept.sum() - used))
        most = max(OUTLYING * usual, TINY)
        kept = sizes <= most
        if kept.sum() - used < 2 or np.linalg.matrix_rank(columns[kept]) < used:
            return None
        values = _solved(columns[kept], logs[kept])
        sizes = np.abs(logs - columns @ values)
    return _Least(values=values, kept=kept, loss=float((np.minimum(sizes, most) ** 2).sum()))


def _solved(columns: Floats, logs: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(columns, logs, rcond=None)[0], dtype=np.float64)
