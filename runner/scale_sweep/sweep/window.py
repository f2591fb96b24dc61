"""The length of a trial's window, from the settings (--duration, --quick, --soak, ...)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.units import counted
from scale_sweep.model import CLAIM_S, Origin

QUICK_S = 5.0  # the window of --quick
QUICK_GROWS = 2.0  # times the duration of --quick, while the rate is not steady
SHORT_GROWS = 3.0  # of another short window
CLAIM_GROWS = 1.5  # times the duration
WINDOW_GROWS_FROM_S = 4.0  # of a shorter one, steadiness cannot be decided

Values = Mapping[str, Any]
Origins = Mapping[str, Origin]


@dataclass(frozen=True, kw_only=True)
class Window:
    """The fields of Load with these names, in seconds."""

    duration_s: float
    window_max_s: float | None
    soak: bool
    carries_claim: bool


def window_of(v: Values, origins: Origins) -> Window:
    """The window from the values of all settings by key, which must have no mistakes."""
    if v["load.soak"] is not None:
        return Window(duration_s=v["load.soak"], window_max_s=None, soak=True, carries_claim=True)
    duration_s, most_given = _duration_s(v), v["load.window_max"]
    is_long = duration_s >= CLAIM_S
    times = CLAIM_GROWS if is_long else QUICK_GROWS if v["load.quick"] else SHORT_GROWS
    most = times * duration_s if most_given is None else most_given
    grows = most > duration_s >= WINDOW_GROWS_FROM_S
    return Window(duration_s=duration_s, window_max_s=most if grows else None, soak=False, carries_claim=is_long)


def _duration_s(v: Values) -> float:
    return QUICK_S if v["load.quick"] and v["load.duration"] >= CLAIM_S else v["load.duration"]


def mistakes(v: Values, origins: Origins, levels: int) -> list[str]:
    """Contradictions between settings, each with its flag. levels: of the swept axis; 0 if they could not be read."""
    duration_s, most, soak = v["load.duration"], v["load.window_max"], v["load.soak"]
    contradictions = []
    if duration_s is not None and most is not None and 0 < most < _duration_s(v) and soak is None:
        limit = f"{_duration_s(v):g} s, the --duration that it may grow from"
        contradictions.append(f"--window-max: is less than {limit}; give a shorter --duration, or --quick")
    if v["load.quick"] and origins["load.duration"] == "flag" and duration_s is not None and duration_s >= CLAIM_S:
        contradictions.append(
            f"--quick and --duration {duration_s:g}s exclude each other: a window of {CLAIM_S:g} s is not quick"
        )
    return contradictions + (_mistakes_of_soak(v, origins, levels) if soak is not None else [])


def _mistakes_of_soak(v: Values, origins: Origins, levels: int) -> list[str]:
    contradictions = []
    if levels > 1:
        contradictions.append(f"--soak: is one long trial at one level, and {counted(levels, 'level')} are given")
    with_soak = {
        "load.rows": "--rows",
        "load.rows_per_level": "--rows-per-level",
        "load.duration": "--duration",
        "load.quick": "--quick",
    }
    contradictions += [
        f"--soak and {flag} exclude each other" for key, flag in with_soak.items() if origins[key] == "flag"
    ]
    if origins["method.replicates"] == "flag" and (v["method.replicates"] or 1) > 1:
        contradictions.append("--soak: is one long trial; leave out --replicates")
    if v["load.soak"] < CLAIM_S:
        contradictions.append(f"--soak: at least {CLAIM_S:g} s, the length of a window that it is compared with")
    return contradictions
