"""Defines a setting of a sweep. Refuses to know any: the tables are in the packages sweep and axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting. `read` turns text into the value, and raises ValueError with one sentence.

    default: text as a user would write it; "" means that the target or the machine decides later. switch: a flag
    without a value; its text is "1".
    """

    key: str
    flag: str
    read: Callable[[str], object]
    default: str
    help: str
    metavar: str = "TEXT"
    many: bool = False
    switch: bool = False


def setting(
    key: str,
    flag: str,
    read: Callable[[str], object],
    default: str,
    help_text: str,
    metavar: str = "TEXT",
    *,
    many: bool = False,
    switch: bool = False,
) -> Setting:
    """One row of a table of settings."""
    return Setting(
        key=key,
        flag=flag,
        read=read,
        default=default,
        help=help_text,
        metavar=metavar,
        many=many,
        switch=switch,
    )
