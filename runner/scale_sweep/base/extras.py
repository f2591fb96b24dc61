"""Parts of the installation that are optional, by the names that pyproject.toml gives them (its extras).

Refuses to import anything: whether a module is there is looked up without running it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping

from scale_sweep.base.errors import UsageError

MODULES: Mapping[str, tuple[str, ...]] = {
    "parquet": ("pyarrow",),
    "png": ("matplotlib",),
    "sql": ("sqlalchemy", "pymysql"),
}


def require_extra(extra: str, feature: str) -> None:
    """Does nothing if the extra is installed. feature: what needs it, for the message.

    Raises UsageError that names the extra and the command that installs it.
    """
    missing = [name for name in MODULES[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{feature} needs {' and '.join(missing)}, which the optional part [{extra}] of scale installs",
            remedy=f"{sys.executable} -m pip install 'scale-sweep[{extra}]'",
        )
