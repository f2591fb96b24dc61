"""Whether this user began a stored run here, and what a command may do with it if not."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.texts import command_text
from scale_sweep.experiment.setting.readers import endpoint
from scale_sweep.machine.state.runs import remember_run, remembers_run
from scale_sweep.model.declared import Subject, Sweep
from scale_sweep.model.events import Event, PlanGrew
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.server.targets import TARGETS, load_facts

_SHOWN = 120  # characters of a value
_SHOWN_VALUES = 5
_OF_HOSTS = ("inventory", "server", "load")  # the rest of the manifest's entry is measured


def named(run: StoredRun) -> Mapping[str, tuple[str, ...]]:
    """By flag. --knob: settings that the target does not declare."""
    sweep, trials = run.plan.sweep, run.plan.trials
    subjects: list[Sweep | Subject] = [sweep, *(trial.subject for trial in trials)]
    works = [sweep.work, *(trial.work for trial in trials)]
    texts = (operation.parameters.get("text", "") for work in works for operation in work.operations)
    every: Mapping[str, Iterable[str]] = {
        "--home": (subject.home for subject in subjects if not subject.image),  # else it is in the image
        "--image": (subject.image for subject in subjects),
        "--endpoint": (subject.endpoint for subject in subjects),
        "--sslrootcert": (subject.tls.sslrootcert for subject in subjects if subject.tls),
        "--data-dir": [sweep.data_dir],
        "--dir": sweep.disks.dirs if sweep.disks else (),
        "--device": sweep.disks.devices if sweep.disks else (),
        "--hosts": [str(of_hosts(run.manifest).get("inventory", ""))],
        "--knob": (knob for trial in trials for knob in _free_knobs(trial)),
        "--text": texts,
        "--server": (subject.command for subject in subjects),
        "--ready": (subject.ready for subject in subjects),
        **{f"--{flag}": (command_text(words) for words in commands) for flag, commands in _commands(run).items()},
    }
    once = {flag: tuple(dict.fromkeys(filter(None, values))) for flag, values in every.items()}
    return {flag: values for flag, values in once.items() if values}


def _commands(run: StoredRun) -> Mapping[str, Sequence[Sequence[str]]]:
    loads = [run.plan.sweep.load.command, *(trial.load.command for trial in run.plan.trials)]
    there = [load for load in loads if load is not None]
    return {
        "load": [load.argv for load in there],
        "prepare": [load.prepare for load in there],
        "count": [load.count for load in there],
    }


def _free_knobs(trial: Trial) -> Sequence[str]:
    target = trial.subject.target
    declared = {knob.name for knob in load_facts(target).knobs} if target in TARGETS else set()
    return [f"{name}={value}" for name, value in trial.knobs.items() if name not in declared]


def of_hosts(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Empty without hosts."""
    entry = manifest.get("hosts")
    return entry if isinstance(entry, Mapping) else {}


def digest_of(plan: Plan, hosts: Mapping[str, Any]) -> str:
    """Everything that trials get. Defaults are left out: a later version with one more field has the same digest."""
    plain = replace(plan, sweep=replace(plan.sweep, predict=(), need=()))  # `scale report` replaces the questions
    document = [_plain(plain), {name: hosts.get(name) for name in _OF_HOSTS}]
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        own = {}
        for field in fields(value):
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if (has := getattr(value, field.name)) != default:
                own[field.name] = _plain(has)
        return own
    if isinstance(value, Mapping):
        return {str(_plain(name)): _plain(has) for name, has in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def remember(run: str, plan: Plan, hosts: Mapping[str, Any]) -> None:
    remember_run(run, [digest_of(plan, hosts)])


def growing(run: str, plan: Plan, hosts: Mapping[str, Any]) -> Callable[[Event], None]:
    known = [digest_of(plan, hosts)]

    def note(event: Event) -> None:
        if isinstance(event, PlanGrew) and remembers_run(run, known[-1]):
            known[:] = [known[-1], digest_of(event.plan, hosts)]
            remember_run(run, known)

    return note


def is_own(run: StoredRun) -> bool:
    """Nothing that it starts or reaches changed since."""
    return remembers_run(str(run.manifest.get("run", "")), digest_of(run.plan, of_hosts(run.manifest)))


def refuse_strange(run: StoredRun, confirmed: Mapping[str, Sequence[str]]) -> None:
    """Raises UsageError for a run of somebody else that would start or reach something not `confirmed`, and for a
    confirmed value that it does not name; StoreError if its parts disagree."""
    for address in confirmed.get("--endpoint", ()):
        try:
            endpoint(address)
        except ValueError as error:
            raise UsageError(f"--endpoint: {error}") from None
    planned = {trial.trial_id: trial.subject for trial in run.plan.trials}
    for result in run.results:
        if planned.get(result.trial.trial_id) != result.trial.subject:
            raise StoreError(
                f"{run.path}: {result.trial.trial_id} was measured on another server than plan.json names",
                remedy="scale verify names the changed files; start a new sweep",
            )
    has = named(run)
    for flag, values in confirmed.items():
        if other := [value for value in values if value not in has.get(flag, ())]:
            names = ", ".join(map(_shown, has.get(flag, ()))) or "none"
            raise UsageError(
                f"{flag} {_shown(other[0])}: the run names {names}",
                remedy="trials of two servers do not make one curve; start a new sweep",
            )
    lacking = {flag: [v for v in values if v not in confirmed.get(flag, ())] for flag, values in has.items()}
    words = [f"{flag} {_shown(v)}" for flag, values in lacking.items() for v in values[:_SHOWN_VALUES]]
    if words and not is_own(run):
        raise UsageError(
            f"{run.path} was not begun here by this user, or was changed since, and it would start or reach "
            f"{', '.join(words)}",
            remedy="if you would start and reach these yourself, give them again: "
            f"scale resume {shlex.quote(run.path)} {' '.join(words)}",
        )


def _shown(value: str) -> str:
    return shlex.quote(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
