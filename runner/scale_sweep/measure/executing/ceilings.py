"""The load generator's own ceilings for a run. Trials with the same ceiling share one measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scale_sweep.base.units import format_cpus
from scale_sweep.loadgen.ceiling import NONE_FOR_READS, CeilingKey, Means, ceiling_key, means_of, measure_ceiling
from scale_sweep.model import Trial
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.planned import planned_spec


class Ceilings:
    """client_homes: where the load generator finds the client library, by `Subject.server`."""

    def __init__(self, program: str, client_homes: Mapping[tuple[str, ...], str]) -> None:
        self._program, self._homes = program, client_homes
        self._rates: dict[CeilingKey, float | None] = {}
        self._means: dict[tuple[str, str], Means] = {}

    def measure(self, trials: Iterable[Trial]) -> None:
        """Measures each ceiling that is not known yet. Raises LoadError."""
        for trial in trials:
            key = self._key(trial)
            if key not in self._rates:
                self._rates[key] = measure_ceiling(self._program, key)

    def of(self, trial: Trial) -> float | None:
        """The ceiling in rows/s; None if there is no such ceiling, or it was not measured."""
        return self._rates.get(self._key(trial))

    def described(self) -> dict[str, float | str]:
        """Each ceiling for people: the rate, or why there is none."""
        return {_words(key): rate if rate is not None else key.means.value for key, rate in self._rates.items()}

    def _key(self, trial: Trial) -> CeilingKey:
        if trial.work.counts_requests:
            return NONE_FOR_READS
        target = load_target(trial.subject.target)
        spec = planned_spec(trial, target, self._homes[trial.subject.server])
        method = spec["driver"], spec.get("method", "")
        if method not in self._means:
            self._means[method] = means_of(self._program, spec)
        cpus, threads = trial.placement.generator_cpus, target.facts.threads_per_process
        return ceiling_key(spec, cpus, threads, self._means[method])


def _words(key: CeilingKey) -> str:
    if key is NONE_FOR_READS:
        return "a load that reads"
    spec = dict(key.spec)
    interlaced = f", {spec['interlace_rows']} of a table in turn" if spec.get("interlace_rows", "0") != "0" else ""
    if spec.get("requests_per_table", "1") != "1":
        interlaced = f", {spec['requests_per_table']} requests of a table in a row"
    driver = f", driver {spec['driver']} with {key.means.value}" if key.means is Means.STUBBED else ""
    return (
        f"{spec['threads']} threads, {spec['rows_per_request']} rows a request{interlaced}, {spec['tables']} tables, "
        f"on CPU {format_cpus(key.cpus)}{driver}"
    )
