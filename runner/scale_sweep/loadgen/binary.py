"""The program `scale-loadgen`: where it is, its features, its exit codes, and its check of a spec."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import LoadError, PreflightError, UsageError
from scale_sweep.loadgen.spec import spec_text

LOOPBACK = "libscale-loopback.so"


def loadgen_path() -> str:
    named = os.environ.get("SCALE_LOADGEN")
    beside = Path(sys.executable).parent / "scale-loadgen"
    path = named or (str(beside) if beside.exists() else shutil.which("scale-loadgen"))
    if not path or not os.access(path, os.X_OK):
        raise PreflightError(
            f"the load generator scale-loadgen was not found ({path or 'not beside Python, not on PATH'})",
            remedy="install the project (make setup), or set SCALE_LOADGEN to the program",
        )
    return path


def loopback_path() -> str:
    """Preloaded, it keeps a server that listens on all addresses on loopback. Raises PreflightError."""
    path = Path(loadgen_path()).resolve().parent / LOOPBACK
    if not path.is_file():
        raise PreflightError(f"{path} is not there", remedy="build the load generator again: both are made together")
    return str(path)


EXIT_MEANINGS = {
    2: "refused its spec",
    3: "found no driver or client library",
    4: "could not connect",
    5: "met a fatal error",
    7: "has an internal error",
    8: "was not ready when all were to begin",
}


class GeneratorDied(LoadError):
    usual_remedy = "dmesg names a process that the kernel killed, for example because memory was short"


def ended(name: str, code: int, words: str) -> LoadError:
    """code: a negative one for a signal. words: its own, or ""."""
    more = f": {words}" if words else ""
    if code >= 0:
        return LoadError(f"{name} {EXIT_MEANINGS.get(code, f'ended with code {code}')}{more}")
    known = {one.value: f" ({one.name})" for one in signal.Signals}
    return GeneratorDied(f"{name} died of signal {-code}{known.get(-code, '')}{more}")


DRIVERS_S = 20.0
DEADLINE = "deadline"
SEPARABLE = "separable"

Features = Mapping[str, Mapping[str, frozenset[str]]]


def features_of(program: str) -> Features:
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
    return kept_with(features_of(program), spec) if "request_timeout_s" in spec else dict(spec)


def kept_with(features: Features, spec: Mapping[str, str]) -> dict[str, str]:
    if "request_timeout_s" not in spec or can(features, spec, DEADLINE):
        return dict(spec)
    return {key: value for key, value in spec.items() if key != "request_timeout_s"}


CHECK_S = 10.0
_MISTAKE = re.compile(r"scale-loadgen: spec: ([\w.-]+): (.*)")
_RIGHT, _WRONG = 0, 2


@dataclass(frozen=True, kw_only=True)
class Mistake:
    key: str
    sentence: str
    more: int  # how many others there are


def mistake_of(program: str, spec: Mapping[str, str]) -> Mistake | None:
    """Raises PreflightError if the program cannot check a spec, or lacks the driver."""
    try:
        done = subprocess.run(
            [program, "--check", "-"],
            input=spec_text(spec),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=CHECK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unable(program, str(error)) from None
    if done.returncode == _RIGHT:
        return None
    mistakes = _MISTAKE.findall(done.stderr)
    if done.returncode != _WRONG or not mistakes:
        raise _unable(program, (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[0])
    key, sentence = mistakes[0]
    return Mistake(key=key, sentence=sentence, more=len(mistakes) - 1)


def refuse_wrong(program: str, spec: Mapping[str, str], source: str) -> None:
    if mistake := mistake_of(program, spec):
        others = f" (and {mistake.more} more)" if mistake.more else ""
        raise UsageError(
            f"{source}: the load generator refuses {mistake.key}: {mistake.sentence}{others}",
            remedy="docs/loadgen.md lists the keys and values of a load",
        )


def _unable(program: str, why: str) -> PreflightError:
    return PreflightError(
        f"the load generator {program} does not check a spec: {why}",
        remedy="install the load generator of this version (make setup), or correct SCALE_LOADGEN",
    )
