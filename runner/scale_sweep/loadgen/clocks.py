"""Converts the times of a load to another clock: of a spec before it is sent, of a line where it arrives. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

START = "start_at_ns"
_TIMED = ('{"event":"phase"', '{"event":"interval"', '{"event":"summary"')
_TIME = re.compile(r'"(monotonic_ns|window_start_ns|window_end_ns|last_ack_ns)":(\d+)')


def shifted_line(text: str, by_ns: int) -> str:
    """The line with its times moved by so many nanoseconds. Everything else stays as it was written."""
    if not text.startswith(_TIMED):
        return text
    return _TIME.sub(lambda match: f'"{match[1]}":{int(match[2]) + by_ns}', text)


def shifted_spec(spec: Mapping[str, str], by_ns: int) -> dict[str, str]:
    """The spec with its start moved by so many nanoseconds."""
    return {**spec, START: str(int(spec[START]) + by_ns)} if START in spec else dict(spec)
