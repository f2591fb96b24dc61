"""Answers requests about the memory of the server's host, and holds the data directory, the disks and the memory of a
run while their request runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.agent.trials import RUNNING
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host.cpu_work import speed_now
from scale_sweep.machine.host.new_pages import measure_new_pages
from scale_sweep.measure.disk_placement import supports_tiers
from scale_sweep.measure.machine_setup import MachineSetup, machine_ready
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.plan.preparing.data_place import data_place
from scale_sweep.results.store.codec import from_plain

TRIAL_END_S = 60.0  # a server's clean stop, and the removal of its data
_CONTROLLER = Path("controller")  # the source of values, for messages


def data(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    """The place for data, for a --data-dir and the bytes that the data takes."""
    return asdict(data_place(str(line["data_dir"]), int(line["least"]), int(line["most"])))


def new_pages(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any] | None:
    """The cost of this host's new memory pages, for a trial of so many bytes."""
    pages = measure_new_pages(int(line["bytes"]))
    return asdict(pages) if pages else None


def speed(talk: Talk, line: Mapping[str, Any]) -> float:
    """Measures this host's CPUs, in pieces per ms."""
    return speed_now()


def set_up(talk: Talk, line: Mapping[str, Any]) -> None:
    """Makes the shared parts of a run's trials, and removes them when the controller ends the request.

    A line with "take" holds memory again; it is answered when that is done.
    """
    setup = from_plain(line["setup"], MachineSetup, _CONTROLLER)
    with machine_ready(setup, lambda sentence: talk.put(event={"say": sentence})) as ready:
        talk.put(event={"disks": asdict(ready.disks)})
        while "closed" not in (heard := talk.heard.get()):
            if "take" in heard:
                ready.before_trial()
                talk.put(event={"taken": True})
        deadline = time.monotonic() + TRIAL_END_S
        while RUNNING and time.monotonic() < deadline:  # the end of the controller ends both requests at once
            time.sleep(0.05)


def tiers(talk: Talk, line: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the server of an order supports several data directories, and the observation in words."""
    order = from_plain(line["order"], TrialOrder, _CONTROLLER)
    return supports_tiers(replace(order, program=loadgen_path()), talk.stop)


REQUESTS = {"data": data, "new_pages": new_pages, "speed": speed, "set_up": set_up, "tiers": tiers}
