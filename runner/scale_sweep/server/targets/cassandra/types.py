"""Types of CQL for those of columns and tags. Pure. Types that are not here have none."""

from __future__ import annotations

from collections.abc import Sequence

TYPES = {
    "bool": "boolean",
    "tinyint": "tinyint",
    "smallint": "smallint",
    "int": "int",
    "bigint": "bigint",
    "utinyint": "smallint",
    "usmallint": "int",
    "uint": "bigint",
    "float": "float",
    "double": "double",
    "timestamp": "bigint",
    "binary": "text",
    "nchar": "text",
}


def stored_tags(tags: Sequence[str]) -> dict[str, str]:
    split = ((name, kind.partition("(")[0]) for name, _, kind in (tag.partition(":") for tag in tags))
    return {name: TYPES[kind] for name, kind in split if kind in TYPES}
