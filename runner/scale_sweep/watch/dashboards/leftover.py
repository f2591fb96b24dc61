"""What `scale clean` finds of the dashboards after a power cut: records of services that do not run, stopped
containers, addresses of sweeps that have ended, and their empty folders. Refuses to touch what runs, and the data:
`down --purge` removes the data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scale_sweep.watch.dashboards import containers
from scale_sweep.watch.dashboards.services import lives
from scale_sweep.watch.dashboards.state_directory import Started, StateDirectory
from scale_sweep.watch.dashboards.targets import remove_empty, stale


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """One thing to remove. kind: always dashboards. name: for people. At most one of the other fields is set; without
    one, it is the empty folders."""

    kind: str
    name: str
    record: Started | None = None
    container: str = ""
    file: Path | None = None


def find_leftovers(state: StateDirectory) -> tuple[Leftover, ...]:
    """Everything in the state directory that no running program uses."""
    dead = [s for s in state.started().values() if not lives(s)]
    recorded = {s.container for s in dead}
    return (
        *(Leftover(kind="dashboards", name=f"{s.name}, which does not run", record=s) for s in dead),
        *(
            Leftover(kind="dashboards", name=f"container {one[:12]}", container=one)
            for one in containers.stopped_ids(str(state.path))
            if one not in recorded
        ),
        *(Leftover(kind="dashboards", name=f"address of a dead sweep, {f.name}", file=f) for f in stale(state)),
        *_empty(state),
    )


def _empty(state: StateDirectory) -> list[Leftover]:
    """The folders, if only sweeps that have ended were announced there."""
    names = {path.name for path in state.path.glob("*")}
    if names - {state.targets.name} or not state.path.is_dir() or set(state.targets.glob("*")) - set(stale(state)):
        return []
    return [Leftover(kind="dashboards", name=f"empty folders, {state.path}")]


def remove(state: StateDirectory, found: Leftover) -> None:
    """Removes it. No error if it does not exist any more."""
    if found.file is not None:
        found.file.unlink(missing_ok=True)
    if found == Leftover(kind=found.kind, name=found.name):
        remove_empty(state)
    if found.container:
        containers.stop(Started(name="", how="docker", port=0, container=found.container))
    if found.record is not None:
        if found.record.container:
            containers.stop(found.record)
        state.remember({name: s for name, s in state.started().items() if s != found.record})
