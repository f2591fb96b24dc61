"""Computes one function of values, and the size of the numbers by which its error is judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from scale_sweep.experiment.work.columns import DOUBLE_ERROR, FLOAT_ERROR, WHOLE_MAX, Array
from scale_sweep.model.questions import percent_of

# A standard deviation is computed from differences, which have the error of the values and not their own: a server that
# keeps 15 digits of a double, or the 24 bits of a float, changes each value by up to so much of it.
_DIGITS_15, _BITS_24 = 1e-14, 1.2e-7


def value_of(function: str, times: Array, values: Array) -> tuple[Any, float]:
    """The aggregate, and the size of the numbers from which it was computed; 0: it is exact. None: it has no value."""
    if function == "count":
        return len(values), 0.0
    if function == "count_distinct":
        return len(set(values) if values.dtype == object else np.unique(values)), 0.0
    if function in ("first", "last"):
        return _single(values[np.argmin(times) if function == "first" else np.argmax(times)])
    if function in ("max", "min"):
        return _single(values.max() if function == "max" else values.min())
    if function == "spread":
        high, low = _plain(values.max()), _plain(values.min())
        return high - low, abs(float(high)) + abs(float(low))
    if function == "rate":
        return _rate(times, values)
    if function in ("stddev", "stddev_samp"):
        return _deviation(values, less=int(function == "stddev_samp"))
    percent = percent_of(function)
    return _total(function, values) if percent is None else _percentile(values, percent)


def _total(function: str, values: Array) -> tuple[Any, float]:
    is_whole = values.dtype.kind != "f"
    wide = np.abs(values.astype(np.float64))
    if function == "avg":
        total = _whole_sum(values) if is_whole else float(values.astype(np.float64).sum())
        return total / len(values), float(wide.mean())
    size = float(wide.sum())
    if is_whole:
        return _whole_sum(values), size if size <= WHOLE_MAX else size * len(values)
    return float(values.astype(np.float64).sum()), size


def _percentile(values: Array, percent: int) -> tuple[float, float]:
    wide = np.sort(values.astype(np.float64))
    rank, rest = divmod(percent * (len(wide) - 1), 100)
    low, high = float(wide[rank]), float(wide[min(rank + 1, len(wide) - 1)])
    return low + (high - low) * rest / 100, max(abs(low), abs(high))


def _deviation(values: Array, less: int) -> tuple[float | None, float]:
    if len(values) <= less:
        return None, 0.0
    wide = values.astype(np.float64)
    deviation, is_float = float(wide.std(ddof=less)), values.dtype == np.float32
    part = _BITS_24 / FLOAT_ERROR if is_float else _DIGITS_15 / DOUBLE_ERROR
    return deviation, deviation + part * float(np.abs(wide).max())


def _rate(times: Array, values: Array) -> tuple[float | None, float]:
    oldest, newest = np.argmin(times), np.argmax(times)
    seconds = float(times[newest] - times[oldest]) / 1000
    if not seconds:
        return None, 0.0
    first, last = float(values[oldest]), float(values[newest])
    return (last - first) / seconds, (abs(first) + abs(last)) / seconds


def _single(value: Any) -> tuple[Any, float]:
    plain = _plain(value)
    return plain, abs(plain) if isinstance(plain, float) else 0.0


def _whole_sum(values: Array) -> int:
    """Exact, also beyond 64 bits: the upper and the lower halves are added apart."""
    if values.dtype == object:
        return sum(int(value) for value in values)
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
