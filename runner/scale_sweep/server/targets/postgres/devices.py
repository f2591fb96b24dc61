"""The table of devices: the tags of each, by which reads choose devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.verbs import tables_of
from scale_sweep.model import Trial, Work
from scale_sweep.server.targets.device_table import DEVICES

_WITHOUT = ("json", "geometry", "varbinary")


def device_table(tags: Sequence[str], sql_type: Callable[[str], str]) -> str:
    columns = "".join(f', "{name}" {sql_type(kind)}' for name, kind in _kept(tags))
    return f"CREATE TABLE {DEVICES} (device_id integer PRIMARY KEY{columns})"


def device_rows(trial: Trial, from_target: Mapping[str, str], secret: str) -> Iterator[tuple[str, ...]]:
    """Its rows, as the load generator's driver numbers the tables. Raises LoadError or TargetError."""
    writing = replace(trial, work=Work(data=trial.work.data))
    tables = tables_of(loadgen_path(), trial_spec(writing, from_target), secret)
    kept = [tables.tags[name] for name, _ in _kept(trial.work.data.tags)]
    return zip(tables.names, *kept, strict=True)


def _kept(tags: Sequence[str]) -> list[tuple[str, str]]:
    split = [(name, kind) for name, _, kind in (tag.partition(":") for tag in tags)]
    return [(name, kind) for name, kind in split if kind.partition("(")[0] not in _WITHOUT]
