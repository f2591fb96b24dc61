"""Implementations by name: those of this project, and those that other packages register by entry points."""

from __future__ import annotations

import functools
import importlib
from collections import defaultdict
from collections.abc import Mapping
from importlib.metadata import distributions
from typing import Any


@functools.cache
def _places_of_others() -> Mapping[str, Mapping[str, str]]:
    """The objects that all packages of this Python register, by group and name. Read once: that takes as long as
    importing a large module."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for distribution in distributions():
        for point in distribution.entry_points:
            places[point.group].setdefault(
                point.name, point.value
            )  # the first on the path hides others, as in an import
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
        """Imports and returns the implementation. Raises KeyError for a name that is not registered."""
        module, _, attribute = (self._ours.get(name) or self._places[name]).partition(":")
        loaded = importlib.import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
