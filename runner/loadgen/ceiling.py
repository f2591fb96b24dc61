"""The generator's own ceiling: the trial's rows and threads on the trial's CPUs, thrown away by the null driver.

Measured once for each different combination before the sweep; a rate near it is the generator's, not the server's.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.errors import LoadError
from runner.loadgen.process import LoadProcesses
from runner.loadgen.spec import ceiling_spec
from runner.model import Trial

SECONDS = 1.5

CeilingKey = tuple[int, int, tuple[int, ...]]


def ceiling_key(trial: Trial) -> CeilingKey:
    """Trials with the same key have the same ceiling: same threads and requests on the same CPUs."""
    return trial.load.connections, trial.work.data.rows_per_request, trial.placement.client_cpus


def measure_ceiling(program: str, spec: Mapping[str, str], cpus: tuple[int, ...]) -> float:
    """Rows per second that the generator makes when nothing takes them. Raises LoadError."""
    with LoadProcesses(program, [ceiling_spec(spec, SECONDS)], cpus, secret="") as load:
        for _ in load.lines(limit_s=30.0):
            pass
        summary = load.summary()
    if summary is None or not summary.rows_per_s or summary.outcome != "ok":
        raise LoadError(
            "the generator's own ceiling could not be measured: the null driver did not come to its end",
            remedy="scale doctor",
        )
    return summary.rows_per_s
