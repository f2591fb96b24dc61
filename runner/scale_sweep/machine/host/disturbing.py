"""Makes CPUs and disks busier for some seconds, by child programs that end with this one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.machine.host import busy_work
from scale_sweep.machine.host.child_programs import LineChild
from scale_sweep.model.proof import Disturbance, ProofPhase

SHARE = 0.2  # of a CPU or of a disk's time
_READY_S = 30.0  # for a child's start, and for the first writes to a disk
_BEGIN_S = 900.0  # the longest warm-up: a child without its times ends by itself
_REPORT_S = 1.0
_END_S = 5.0


def disk_obstacle(folder: str) -> str:
    """Why the disk of a folder cannot be disturbed, found by trying it; "" if it can."""
    try:
        os.close(os.open(folder, busy_work.OPEN, 0o600))
    except OSError as error:
        return f"{folder} refuses direct writes into an unnamed file: {error.strerror}"
    return ""


@dataclass(frozen=True, kw_only=True)
class DisturbedPlace:
    """One CPU, or one disk by a folder on it."""

    resource: str
    name: str
    cpus: tuple[int, ...]  # of the program
    folder: str = ""


class Disturbing:
    """Call `start`, `begin`, `rows`, and always `stop`. Needs nothing of a trial."""

    def __init__(self, places: Sequence[DisturbedPlace]) -> None:
        self._phases: Sequence[ProofPhase] = ()
        self._begin_ns = self._from_ns = 0
        program = Path(busy_work.__file__)
        self._children = [(p, LineChild(program, (SHARE, _BEGIN_S, p.folder), p.cpus)) for p in places]
        self.trouble = ""  # why a place cannot be disturbed

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(child.pid for _, child in self._children if child.pid)

    def start(self) -> None:
        """Returns when all are ready, or late. A disk is measured idle, so before the load."""
        for _, child in self._children:
            child.start()
        for place, child in self._children:
            answer = next(child.lines(time.monotonic() + _READY_S), b"it did not start").decode()
            if answer != "ready":
                self.trouble = f"{place.name} was not disturbed: {answer.removeprefix('failed ')}"

    def begin(self, phases: Sequence[ProofPhase], at_ns: int, from_ns: int) -> None:
        """at_ns: when the first phase starts. from_ns: when the times of the rows do."""
        self._phases, self._begin_ns, self._from_ns = phases, at_ns, from_ns
        for place, child in self._children:
            ends = [end for phase in self._phases if place.resource in phase.on for end in self._ends_ns(phase)]
            child.write(" ".join(map(str, ends)))

    def _ends_ns(self, phase: ProofPhase) -> tuple[int, int]:
        start_ns = self._begin_ns + round(phase.start_s * 1e9)
        return start_ns, start_ns + round(phase.seconds * 1e9)

    def rows(self) -> tuple[Disturbance, ...]:
        """Rows of the phases so far: of each disturbed place, or one without a place."""
        if not self._begin_ns:
            return ()
        taken = [(place, self._taken_ns(child)) for place, child in self._children]
        made = []
        for phase in self._phases:
            start_ns, end_ns = self._ends_ns(phase)
            if end_ns > time.monotonic_ns():
                break
            rows = [
                Disturbance(
                    block=phase.block,
                    start_s=(start_ns - self._from_ns) / 1e9,
                    end_s=(end_ns - self._from_ns) / 1e9,
                    resource=place.resource,
                    place=place.name,
                    asked_s=SHARE * phase.seconds,
                    taken_s=by_start[start_ns] / 1e9 if start_ns in by_start else None,
                )
                for place, by_start in taken
                if place.resource in phase.on
            ]
            start_s, end_s = ((ns - self._from_ns) / 1e9 for ns in (start_ns, end_ns))
            made += rows or [Disturbance(block=phase.block, start_s=start_s, end_s=end_s)]
        return tuple(made)

    def _taken_ns(self, child: LineChild) -> dict[int, int]:
        """By the start of the phase."""
        words = (line.split() for line in child.lines(time.monotonic() + _REPORT_S))
        return {int(start): int(taken) for start, _, taken in words}

    def stop(self) -> None:
        for _, child in self._children:
            child.stop(_END_S)
