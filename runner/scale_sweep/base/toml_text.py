"""Reads TOML of a file that a user names."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from scale_sweep.base.errors import UsageError

PARTS_MAX = 100
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{PARTS_MAX}}}")


def toml_document(text: str, where: str) -> dict[str, Any]:
    """The document. where: how the message names the file, like "sweep file mine.toml". Raises UsageError."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise UsageError(f"{where}: line {line} has a key of more than {PARTS_MAX} parts")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise UsageError(f"{where} is not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{where} is not valid TOML: its values are nested too deeply") from None
