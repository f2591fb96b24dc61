"""Columns and tags that a target cannot have side by side: one name twice, or the name of its own column. Pure."""

from __future__ import annotations

from scale_sweep.model import Workload
from scale_sweep.server.targets import Facts


def column_mistakes(data: Workload, facts: Facts) -> list[str]:
    """Each mistake by its flag. Upper and lower case are one name, as in most databases."""
    columns = [(name, "--columns") for name in map(_name, data.columns)]
    tags = [(name, "--tag-columns") for name in map(_name, data.tags)] if facts.stores_tags else []
    own = {name.lower(): name for name in facts.own_columns}
    seen: dict[str, str] = {}
    found = []
    for name, flag in (*columns, *tags):
        low = name.lower()
        if low in own:
            found.append(
                f"{flag}: {name!r} is the name of a column that {facts.title} tables have already ({own[low]})"
            )
        elif low in seen:
            found.append(f"{flag}: {name!r} is there twice; columns and tags are named apart, also in lower case")
        seen[low] = name
    return found


def _name(column: str) -> str:
    return column.partition(":")[0]
