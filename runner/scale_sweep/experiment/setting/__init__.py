"""Defines a setting of a sweep. Refuses to know any: the tables are in the packages sweep and axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any


class Takes(Enum):
    """The values of a flag: one value, a value each time that the flag is repeated, or no value."""

    VALUE = "value"
    VALUES = "values"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting. `read` turns text into the value, and raises ValueError with one sentence."""

    key: str
    flag: str
    read: Callable[[str], object]
    # text as a user would write it; "" means that the target or the machine decides later. The text of a flag that
    # takes nothing is "1"
    default: str
    help: str
    metavar: str = "TEXT"
    takes: Takes = Takes.VALUE
    usual: bool = False  # whether the short help shows it, for every axis, or for the axis that has it

    @property
    def many(self) -> bool:
        """Whether the flag can be repeated."""
        return self.takes is Takes.VALUES

    @property
    def switch(self) -> bool:
        """Whether the flag has no value."""
        return self.takes is Takes.NOTHING


def setting(
    key: str,
    flag: str,
    read: Callable[[str], object],
    default: str,
    help_text: str,
    metavar: str = "TEXT",
    takes: Takes = Takes.VALUE,
) -> Setting:
    return Setting(key=key, flag=flag, read=read, default=default, help=help_text, metavar=metavar, takes=takes)


def usual(*row: Any, **named: Any) -> Setting:
    return replace(setting(*row, **named), usual=True)
