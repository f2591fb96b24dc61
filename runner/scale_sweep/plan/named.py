"""The servers, devices and programs that a stored run names, by the flag for each, and the digest of its plan. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from scale_sweep.model import Plan, StoredRun, Subject, Sweep, Trial
from scale_sweep.server.targets import TARGETS, load_facts

_OF_HOSTS = ("inventory", "server", "load")  # the rest of the manifest's entry is measured


def named(run: StoredRun) -> Mapping[str, tuple[str, ...]]:
    """The values of each flag that has some, each value once. --knob: settings of the server that its target does not
    declare. --text: statements of the user's own."""
    sweep, trials = run.plan.sweep, run.plan.trials
    subjects: list[Sweep | Subject] = [sweep, *(trial.subject for trial in trials)]
    works = [sweep.work, *(trial.work for trial in trials)]
    texts = (operation.parameters.get("text", "") for work in works for operation in work.operations)
    every: Mapping[str, Iterable[str]] = {
        "--home": (subject.home for subject in subjects if not subject.image),  # else it is in the image
        "--image": (subject.image for subject in subjects),
        "--endpoint": (subject.endpoint for subject in subjects),
        "--data-dir": [sweep.data_dir],
        "--dir": sweep.disks.dirs if sweep.disks else (),
        "--device": sweep.disks.devices if sweep.disks else (),
        "--hosts": [str(of_hosts(run.manifest).get("inventory", ""))],
        "--knob": (knob for trial in trials for knob in _free_knobs(trial)),
        "--text": texts,
    }
    once = {flag: tuple(dict.fromkeys(filter(None, values))) for flag, values in every.items()}
    return {flag: values for flag, values in once.items() if values}


def of_hosts(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest's entry about its hosts; empty without one."""
    entry = manifest.get("hosts")
    return entry if isinstance(entry, Mapping) else {}


def digest_of(plan: Plan, hosts: Mapping[str, Any]) -> str:
    """The SHA-256 of everything that trials of the plan get, and of its hosts, as the manifest has them. Fields with
    their default are left out: a later version of `scale` that adds one gets the same digest."""
    plain = replace(plan, sweep=replace(plan.sweep, predict=(), need=()))  # `scale report` replaces the questions
    document = [_plain(plain), {name: hosts.get(name) for name in _OF_HOSTS}]
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def _free_knobs(trial: Trial) -> Sequence[str]:
    target = trial.subject.target
    declared = {knob.name for knob in load_facts(target).knobs} if target in TARGETS else set()
    return [f"{name}={value}" for name, value in trial.knobs.items() if name not in declared]


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        got = {field.name: (getattr(value, field.name), _default(field)) for field in fields(value)}
        return {name: _plain(has) for name, (has, default) in got.items() if has != default}
    if isinstance(value, Mapping):
        return {str(_plain(name)): _plain(has) for name, has in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
