"""Whether the server has the settings that the plan gives it. Refuses a setting that the server does not report."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.texts import is_same_value


def mismatches(expected: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each setting that differs from the plan's."""
    return tuple(
        f"{name} was to be {value}, {_reported(effective.get(name, ''))}"
        for name, value in expected.items()
        if not is_same_value(value, effective.get(name, ""))
    )


def _reported(value: str) -> str:
    return f"the server reports {value}" if value else "the server does not report it"
