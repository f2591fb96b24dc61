"""Whether a stored run is one that this user began here, and what a command may do with it if it is not."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.experiment.setting.readers import endpoint
from scale_sweep.machine.state import remember_run, remembers_run
from scale_sweep.model import Event, Plan, PlanGrew, StoredRun
from scale_sweep.plan.named import digest_of, named, of_hosts

_SHOWN = 120  # characters of a value
_SHOWN_VALUES = 5


def remember(run: str, plan: Plan, hosts: Mapping[str, Any]) -> None:
    """Notes that this user begins the run here. run: its name. hosts: of its manifest. Raises PreflightError."""
    remember_run(run, [digest_of(plan, hosts)])


def growing(run: str, plan: Plan, hosts: Mapping[str, Any]) -> Callable[[Event], None]:
    known = [digest_of(plan, hosts)]

    def note(event: Event) -> None:
        if isinstance(event, PlanGrew) and remembers_run(run, known[-1]):
            known[:] = [known[-1], digest_of(event.plan, hosts)]
            remember_run(run, known)

    return note


def is_own(run: StoredRun) -> bool:
    """Whether this user began the run here, and nothing that it starts or reaches changed since."""
    return remembers_run(str(run.manifest.get("run", "")), digest_of(run.plan, of_hosts(run.manifest)))


def refuse_strange(run: StoredRun, confirmed: Mapping[str, Sequence[str]]) -> None:
    """Raises UsageError for a run of somebody else that would start or reach something that is not `confirmed`, by its
    flag; and for a confirmed value that the run does not name. Raises StoreError for a run whose parts disagree."""
    for address in confirmed.get("--endpoint", ()):
        try:
            endpoint(address)
        except ValueError as error:
            raise UsageError(f"--endpoint: {error}") from None
    _refuse_other_servers(run)
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


def _refuse_other_servers(run: StoredRun) -> None:
    """Raises StoreError for a result of another server than the plan has for its trial."""
    planned = {trial.trial_id: trial.subject for trial in run.plan.trials}
    for result in run.results:
        if planned.get(result.trial.trial_id) != result.trial.subject:
            raise StoreError(
                f"{run.path}: {result.trial.trial_id} was measured on another server than plan.json names",
                remedy="scale verify names the changed files; start a new sweep",
            )


def _shown(value: str) -> str:
    return shlex.quote(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
