"""The features of the load generator for a driver and a method, as it reports them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping

from scale_sweep.base.errors import LoadError

DRIVERS_S = 20.0
DEADLINE = "deadline"
SEPARABLE = "separable"

Features = Mapping[str, Mapping[str, frozenset[str]]]


def features_of(program: str) -> Features:
    """The features of each method of each driver, by name. Raises LoadError if the load generator does not report
    them."""
    try:
        done = subprocess.run([program, "drivers"], capture_output=True, timeout=DRIVERS_S, check=True)
        features = {one["driver"]: one.get("features") or {} for one in json.loads(done.stdout)}
        return {
            driver: {method: frozenset(can) for method, can in methods.items()} for driver, methods in features.items()
        }
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(f"{program} does not list its drivers: {error}", remedy="scale doctor") from None


def can(features: Features, spec: Mapping[str, str], feature: str) -> bool:
    return feature in features.get(spec["driver"], {}).get(spec.get("method", ""), ())


def kept_by(program: str, spec: Mapping[str, str]) -> dict[str, str]:
    """The spec, without a time limit for requests if the method does not support one. Raises LoadError."""
    return kept_with(features_of(program), spec) if "request_timeout_s" in spec else dict(spec)


def kept_with(features: Features, spec: Mapping[str, str]) -> dict[str, str]:
    """The same, if the features are known."""
    if "request_timeout_s" not in spec or can(features, spec, DEADLINE):
        return dict(spec)
    return {key: value for key, value in spec.items() if key != "request_timeout_s"}
