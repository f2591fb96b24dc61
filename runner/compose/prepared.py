"""From a sweep, or a stored run, to a plan for this machine, with what was found before anything starts."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from runner.choose import Choice, choose
from runner.errors import PreflightError
from runner.host import Host, read_host
from runner.model import Finding, Plan, StoredRun, Sweep
from runner.plan import complete, make_plan
from runner.preflight import preflight
from runner.store.reference import read_reference
from runner.targets import Installation


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan for this machine, and what was found before anything starts."""

    plan: Plan
    choice: Choice
    host: Host
    data_dir: Path
    results: Path
    findings: tuple[Finding, ...]


def prepare(sweep: Sweep, results: Path) -> Prepared:
    """Chooses, plans and looks; starts nothing. Raises UsageError or PreflightError."""
    host = read_host()
    read_reference(sweep.reference)
    choice = choose(sweep)
    chosen = replace(sweep, target=choice.target.facts.name, runtime=choice.runtime, image=choice.image, home=choice.home)
    plan = make_plan(complete(chosen, choice.target.facts), host, choice.target.facts)
    data_dir = Path(sweep.data_dir) if sweep.data_dir else default_data_dir()
    return Prepared(
        plan=plan,
        choice=choice,
        host=host,
        data_dir=data_dir,
        results=results,
        findings=preflight(plan, host, choice.target, _installed(choice), data_dir, results),
    )


def _installed(choice: Choice) -> Installation:
    return Installation(home=choice.home, version=choice.version, found="")


def default_data_dir() -> Path:
    """On a disk, not in memory: /var/tmp/scale-<uid>, where TMPDIR may be a tmpfs."""
    base = Path("/var/tmp") if os.access("/var/tmp", os.W_OK) else Path(tempfile.gettempdir())
    return base / f"scale-{os.getuid()}"


def prepare_again(stored: StoredRun, results: Path) -> Prepared:
    """A stored run's plan on this machine, for `resume`. Raises PreflightError when the machine is another one."""
    host = read_host()
    sweep = stored.plan.sweep
    recorded = stored.manifest.get("host")
    before = recorded if isinstance(recorded, dict) else {}
    for name in ("hostname", "cpu_model", "kernel"):
        if name in before and before[name] != asdict(host)[name]:
            raise PreflightError(
                f"the run was begun on another machine: {name} was {before[name]}, is {asdict(host)[name]}",
                remedy="trials of two machines do not make one curve; sweep anew",
            )
    choice = choose(sweep)
    data_dir = Path(sweep.data_dir) if sweep.data_dir else default_data_dir()
    return Prepared(
        plan=stored.plan,
        choice=choice,
        host=host,
        data_dir=data_dir,
        results=results,
        findings=preflight(stored.plan, host, choice.target, _installed(choice), data_dir, results),
    )
