"""Finds the program `scale-loadgen`, and the library that is built beside it. Refuses to build them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from scale_sweep.base.errors import PreflightError

LOOPBACK = "libscale-loopback.so"


def loadgen_path() -> str:
    """SCALE_LOADGEN, else beside this Python, else on PATH. Raises PreflightError with how to build it."""
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
    """The library that, preloaded, keeps a server on loopback that listens on all addresses whatever it is told.

    Raises PreflightError with how to build it.
    """
    path = Path(loadgen_path()).resolve().parent / LOOPBACK
    if not path.is_file():
        raise PreflightError(f"{path} is not there", remedy="build the load generator again: both are made together")
    return str(path)
