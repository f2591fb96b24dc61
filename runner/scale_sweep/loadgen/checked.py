"""Asks the load generator whether it would refuse a spec. It connects to nothing and opens no client library."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.loadgen.spec import spec_text

CHECK_S = 10.0
_MISTAKE = re.compile(r"scale-loadgen: spec: ([\w.-]+): (.*)")
_RIGHT, _WRONG = 0, 2


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """The first mistake of a spec."""

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
    """Raises UsageError with the first mistake. source: what the spec was made from, for people."""
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
