"""Implementations by name, also of other packages by entry points; optional parts of the installation (extras)."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shlex
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import UsageError


@functools.cache
def _places_of_others() -> Mapping[str, Mapping[str, str]]:
    """The objects that all packages of this Python register, by group and name."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for distribution in distributions():
        for point in distribution.entry_points:
            # The first on the path hides others, as in an import.
            places[point.group].setdefault(point.name, point.value)
    return places


class Registry:
    """The implementations of one kind. group: of the entry points, like "scale_sweep.axes"."""

    def __init__(self, group: str, ours: Mapping[str, str]) -> None:
        self._group, self._ours = group, dict(ours)

    @functools.cached_property
    def _places(self) -> dict[str, str]:
        theirs = _places_of_others().get(self._group, {})
        return {**self._ours, **{name: place for name, place in theirs.items() if name not in self._ours}}

    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._places

    def load(self, name: str) -> Any:
        """Raises KeyError for a name that is not registered."""
        module, _, attribute = (self._ours.get(name) or self._places[name]).partition(":")
        loaded = importlib.import_module(module)
        return getattr(loaded, attribute) if attribute else loaded


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
    """Raises UsageError with the command for missing packages of an extra. feature: what needs it."""
    missing = [name for name in MODULES[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{feature} needs {' and '.join(missing)}, of the optional part [{extra}] of scale",
            remedy=install_command(missing),
        )
