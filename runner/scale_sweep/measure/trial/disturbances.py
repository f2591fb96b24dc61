"""The places of a trial's resources, and when each is disturbed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from scale_sweep.analysis.proof import schedule
from scale_sweep.machine.host.disturbing import SHARE, DisturbedPlace, Disturbing
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.model.planned import Trial
from scale_sweep.model.proof import DISTURBED_S, Disturbance, ProofPhase

LEAD_S = 1.0  # after the window's begin; whole seconds, as the intervals of the load
CLIENTS = "clients"


class TrialDisturbing:
    """Call `start`, `begin`, and always `stop`; `rows` then has what was taken."""

    def __init__(self, order: TrialOrder) -> None:
        self._trial, self._phases = order.trial, _phases(order.trial)
        self._inner = Disturbing(tuple(_places(order)))
        self.start = self._inner.start
        self.rows: tuple[Disturbance, ...] = ()

    @property
    def trouble(self) -> str:
        return self._inner.trouble

    def begin(self, window_ns: int) -> None:
        self._inner.begin(self._phases, window_ns + round(LEAD_S * 1e9), window_ns)

    def stop(self) -> None:
        """May be called twice."""
        self.rows = self.rows or self._with_clients(self._inner.rows())
        self._inner.stop()

    def _with_clients(self, rows: tuple[Disturbance, ...]) -> tuple[Disturbance, ...]:
        """The load generator holds its connections back itself, as its spec requires."""
        phases = [phase for phase in self._phases if CLIENTS in phase.on]
        done_s, of = max((row.end_s for row in rows), default=0.0), float(self._trial.load.connections)
        held = [
            Disturbance(
                block=phase.block,
                start_s=LEAD_S + phase.start_s,
                end_s=LEAD_S + phase.start_s + phase.seconds,
                resource=CLIENTS,
                place="connections",
                of=of,
                asked_s=_held(self._trial) * phase.seconds,
                taken_s=_held(self._trial) * phase.seconds,
            )
            for phase in phases
        ]
        return tuple(sorted((*rows, *(h for h in held if h.end_s <= done_s)), key=lambda row: row.start_s))


def held_lines(trial: Trial) -> dict[str, str]:
    """Lines of the load generator's spec that hold connections back."""
    if CLIENTS not in trial.disturbed:
        return {}
    starts = [(LEAD_S + phase.start_s, phase.seconds) for phase in _phases(trial) if CLIENTS in phase.on]
    return {
        "held": str(_held(trial)),
        "held_s": ",".join(f"{start:g}-{start + seconds:g}" for start, seconds in starts),
    }


def _held(trial: Trial) -> int:
    return max(1, round(SHARE * trial.load.connections))


def _phases(trial: Trial) -> tuple[ProofPhase, ...]:
    return schedule(trial.disturbed, DISTURBED_S)


def _places(order: TrialOrder) -> Iterator[DisturbedPlace]:
    placement, disturbed = order.trial.placement, order.trial.disturbed
    for resource, cpus in (("cpu", placement.server_cpus), ("load", placement.generator_cpus)):
        for cpu in cpus if resource in disturbed else ():
            yield DisturbedPlace(resource=resource, name=f"CPU {cpu}", cpus=(cpu,))
    anywhere = tuple(sorted(os.sched_getaffinity(0)))
    for disk in order.disks if "disk" in disturbed else ():
        yield DisturbedPlace(resource="disk", name=disk.name, cpus=anywhere, folder=disk.path)
