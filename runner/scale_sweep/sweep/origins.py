"""Where the value of a setting comes from, in words for a plan."""

from __future__ import annotations

from scale_sweep.model import Sweep
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.quick import QUICK_DEFAULTS
from scale_sweep.sweep.settings import BY_KEY

_BY_TARGET = ("load.method", "workload.rows_per_request")  # besides the knobs
_BY_FLAG = {
    "load.slo": ("load.duration", "knobs.connections", "method.connections_check"),
    "load.soak": ("load.duration", "method.replicates", "method.drift_check"),
    "load.quick": ("load.duration", "load.window_max", *QUICK_DEFAULTS),
}
_BY_OTHER = {"load.window_max": "--duration", "method.order_seed": "new for each run"}
_WORDS = {"host": "this machine", "detect": "--detect", "time": "--quick"}  # of the origins that a plan sets


def origin_words(sweep: Sweep, key: str, value: str) -> str:
    """The origin of a setting with this value, as the plan shows it: "flag", "default", "--slo"."""
    origin = sweep.origin.get(key, "default")
    if origin != "default":
        return _WORDS.get(origin, origin)
    if key == "workload.tables" and value != _text_of(sweep, key):
        return "the connections"
    if by := _decided_by(sweep, key):
        return by
    if key.startswith("knobs.") or key in _BY_TARGET:
        return "default (target)"
    return _BY_OTHER.get(key, "default" if key in BY_KEY and BY_KEY[key].default else "this machine")


def _text_of(sweep: Sweep, key: str) -> str | list[str]:
    """The default of a setting: that of the named workload, else its own."""
    return NAMED.get(sweep.workload, {}).get(key, BY_KEY[key].default)


def _decided_by(sweep: Sweep, key: str) -> str:
    """The flag that gives this setting another default; "" if none does."""
    for by, keys in _BY_FLAG.items():
        if key in keys and sweep.origin.get(by, "default") != "default":
            return BY_KEY[by].flag
    return f"--workload {sweep.workload}" if key in NAMED.get(sweep.workload, {}) else ""
