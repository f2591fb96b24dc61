"""Refuses commands of a plan before anything starts: a placeholder without a value, a program that is not there."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from scale_sweep.base.errors import UsageError
from scale_sweep.loadgen.placeholders import mistake, values_of
from scale_sweep.loadgen.readers import program_at
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import ServerSource
from scale_sweep.plan.preparing.choice import ServerChoice, subject_key

_READY = "command:"


def refuse_wrong_commands(plan: Plan, choices: Mapping[str, ServerChoice]) -> None:
    """Raises UsageError for the first mistake."""
    seen = set()
    for trial in plan.trials:
        in_image = choices[subject_key(trial.subject)].can.source is ServerSource.IMAGE
        values = values_of(trial, disks=["disk"] * trial.resources.disks)
        for flag, words in _commands(trial):
            if (flag, words, known := frozenset(values)) in seen:
                continue
            seen.add((flag, words, known))
            sentence, remedy = mistake(words, values)
            if sentence:
                raise UsageError(f"{flag}: {sentence}", remedy=remedy)
            if not (in_image and flag == "--server"):
                _refuse_missing(flag, words)


def _commands(trial: Trial) -> Iterator[tuple[str, tuple[str, ...]]]:
    subject, load = trial.subject, trial.load.command
    if load is None:
        return
    ready = subject.ready.removeprefix(_READY) if subject.ready.startswith(_READY) else ""
    servers = {"--server": shlex.split(subject.command), "--ready": shlex.split(ready)}
    for flag, words in {**servers, "--load": load.argv, "--prepare": load.prepare, "--count": load.count}.items():
        if words:
            yield flag, tuple(words)


def _refuse_missing(flag: str, words: Sequence[str]) -> None:
    at = program_at(words)
    is_script = any(PurePath(word).name.startswith("python") for word in words[:at])  # or `-m MODULE`: no program
    for program in (words[0], *(() if is_script else words[at : at + 1])):
        if "{" not in program and shutil.which(program) is None:
            raise UsageError(f"{flag}: there is no program {program}", remedy="install it, or give its path")
