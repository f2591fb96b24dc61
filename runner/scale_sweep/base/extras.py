"""Parts of the installation that are optional, by the names that pyproject.toml gives them (its extras)."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import UsageError

MODULES: Mapping[str, tuple[str, ...]] = {
    "dask": ("dask", "distributed"),
    "pandas": ("pandas",),
    "parquet": ("pyarrow",),
    "png": ("matplotlib",),
    "sql": ("sqlalchemy", "pymysql"),
}


def install_command(packages: Sequence[str]) -> str:
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx inject {Path(sys.prefix).name} {' '.join(packages)}"
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.join(packages)}"


def require_extra(extra: str, feature: str) -> None:
    """Does nothing if the extra is installed. feature: what needs it, for the message.

    Raises UsageError that names the missing packages and the command that installs them. The command names the packages
    and not the extra, so that it works whether scale came from a checkout, a wheel or PyPI.
    """
    missing = [name for name in MODULES[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{feature} needs {' and '.join(missing)}, of the optional part [{extra}] of scale",
            remedy=install_command(missing),
        )
