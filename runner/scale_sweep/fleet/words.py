"""A sweep as the words of a command line, for an engine that starts `scale` on the host. Reads a sweep file only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.input_file import read_input_text
from scale_sweep.base.units import format_levels
from scale_sweep.experiment.axes import axis_of
from scale_sweep.fleet.engine import FleetOrder
from scale_sweep.machine.host import Host
from scale_sweep.sweep.settings import BY_KEY

BYTES_MAX = 1 << 20


def words_of(order: FleetOrder, host: Host) -> tuple[str, ...]:
    """The sweep as this host measures it, without the place of its results."""
    sweep = order.resolve(host)
    own = {axis_of(sweep.axis).key: format_levels(sweep.levels), "method.order_seed": str(sweep.seed_of_order)}
    words = [Path(order.what).name if os.path.isfile(order.what) else order.what]
    for key, value in {**order.flags, **own}.items():
        setting = BY_KEY[key]
        if setting.switch:
            words.append(setting.flag)
        else:
            words += [f"{setting.flag}={one}" for one in ([value] if isinstance(value, str) else value)]
    return tuple(words)


def files_of(order: FleetOrder) -> Mapping[str, str]:
    """The text of the sweep file by its name, if the sweep is in a file here. Raises UsageError."""
    if not os.path.isfile(order.what):
        return {}
    return {Path(order.what).name: read_input_text(Path(order.what), "the sweep file", BYTES_MAX)}
