"""The whole check: digests, trials from raw files, all that is derived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.analysis.later_trials import with_later_trials
from scale_sweep.base.errors import LoadError, StoreError
from scale_sweep.base.units import part_of
from scale_sweep.model.declared import Sweep
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.proof import Disturbance
from scale_sweep.results.identity import identity
from scale_sweep.results.store.codec import from_plain
from scale_sweep.results.store.reader import (
    done_of,
    extra_files,
    read_manifest,
    read_plan,
    read_result,
    series_from_text,
)
from scale_sweep.results.store.run_lock import status_of
from scale_sweep.results.store.stored import Folder, is_there
from scale_sweep.verify.derived import check_derived
from scale_sweep.verify.digests import (
    DigestCheck,
    Disagreement,
    Verification,
    as_json,
    check_digests,
    differences,
    figure_differs,
    unread,
)
from scale_sweep.verify.trial import TrialAgain, trial_again

RAW = ("facts.json", "loadgen.jsonl", "samples.jsonl", "server.log", "trial.json")
WRITTEN_EACH_TRIAL = ("points.csv", "timeseries.csv")
NOT_COMPARED = (
    "facts in one file only (host, times of start, counted rows, ceiling) are checked by their checksum alone"
)


def verify_run(run: Folder | Path) -> Verification:
    """StoreError for a list of digests that cannot be read."""
    run = run if isinstance(run, Folder) else Folder(run)
    digests = check_digests(run)
    try:
        manifest, plan = read_manifest(run), read_plan(run)
    except StoreError as error:
        return _without_plan(run, digests, error)
    status = status_of(run, manifest)
    again, disagreements, notes = _trials(run, plan, status)
    profiles, disturbances = _extra_files(run, [a.result.trial for a in again], disagreements)
    disagreements += _manifest(run, manifest, plan)
    made = StoredRun(
        path=str(run),
        manifest=manifest,
        plan=plan,
        results=with_later_trials(plan, [a.result for a in again]),
        timeseries={a.result.trial.trial_id: series_from_text(a.series) for a in again},
        profiles=profiles,
        disturbances=disturbances,
    )
    derived = check_derived(run, made, {a.result.trial.trial_id: a for a in again})
    notes += _versions(manifest)
    other = sum((a.other_method for a in again), derived.other_method)
    if other.compared:
        notes.append(f"judged by another method: {other.differ} of {other.compared} differ")
    wrong, listed = {d.file for d in derived.disagreements}, {d.file for d in digests.disagreements}
    # What a killed run left is altered; tables that were never written, because no trial has ended, are not missing.
    altered = [
        d for d in digests.disagreements if status == "complete" or d.file not in WRITTEN_EACH_TRIAL or d.file in wrong
    ]
    remade = [d for d in derived.disagreements if again or d.file in listed or is_there(run, d.file)]
    return Verification(
        run=run.path.name or str(run),
        fingerprint=digests.fingerprint,
        files=digests.files,
        trials=len(again),
        figures=sum(a.figures for a in again) + derived.figures,
        disagreements=(*altered, *disagreements, *remade),
        notes=(*digests.notes, *notes, *derived.notes, NOT_COMPARED),
    )


def _extra_files(
    run: Folder, trials: Sequence[Trial], disagreements: list[Disagreement]
) -> tuple[dict[str, str], dict[str, tuple[Disturbance, ...]]]:
    try:
        return extra_files(run, trials)
    except StoreError as error:
        disagreements.append(unread(run, "trials", error))
        return {}, {}


def _without_plan(run: Folder, digests: DigestCheck, error: StoreError) -> Verification:
    """Nothing can be made again."""
    file = "plan.json" if "plan.json" in error.message else "manifest.json"
    return Verification(
        run=run.path.name or str(run),
        fingerprint=digests.fingerprint,
        files=digests.files,
        trials=0,
        figures=0,
        disagreements=(*digests.disagreements, unread(run, file, error)),
        notes=(*digests.notes, "nothing was made again"),
    )


def _trials(run: Folder, plan: Plan, status: str) -> tuple[list[TrialAgain], list[Disagreement], list[str]]:
    again: list[TrialAgain] = []
    disagreements: list[Disagreement] = []
    absent = 0
    for trial in plan.trials:
        name = done_of(trial)
        if not is_there(run, name):
            absent += 1
            if status == "complete":
                disagreements.append(
                    Disagreement(file=name, sentence="is missing, although the run is marked as complete")
                )
            continue
        try:
            stored = read_result(run, name)
            made = trial_again(run, plan, stored)
        except (StoreError, LoadError) as error:
            folder = Path(name).parent
            raw = (str(folder / file) for file in RAW if str(run.path / folder / file) in error.message)
            disagreements.append(unread(run, next(raw, name), error))
            continue
        if stored.trial != trial:
            disagreements.append(
                Disagreement(file=name, figure="trial", sentence="belongs to another trial than in plan.json")
            )
        again.append(made)
        disagreements += made.disagreements
    notes = [f"the run is {status}: {part_of(absent, len(plan.trials), 'trial')} not run"]
    return again, disagreements, notes if absent and status != "complete" else []


def _manifest(run: Folder, manifest: Any, plan: Plan) -> list[Disagreement]:
    file = run / "manifest.json"
    try:
        known = as_json(from_plain(manifest.get("sweep"), Sweep, file))
    except StoreError as error:
        return [replace(unread(run, file.name, error), figure="sweep")]
    differing = differences(_filled(manifest["sweep"], known), as_json(plan.sweep))
    return [figure_differs(file.name, one, "sweep.", "plan.json has") for one in differing]


def _filled(stored: Any, known: Any) -> Any:
    if isinstance(stored, list) and isinstance(known, list) and len(stored) == len(known):
        return [_filled(*pair) for pair in zip(stored, known, strict=True)]
    if not (isinstance(stored, dict) and isinstance(known, dict)):
        return stored
    return {**known, **{name: _filled(value, known.get(name)) for name, value in stored.items()}}


def _versions(manifest: Any) -> list[str]:
    """Whether another state of the tool made the run: a difference may come from it."""
    ours, by = identity(), manifest.get("reported_by")
    makers = (("measured and judged", manifest), ("fitted and reported", by if isinstance(by, dict) else {}))
    return [
        f"the run was {what} by another state of this tool ({maker.get('tool_version')}, code {maker.get('code')}; "
        f"this is {ours['tool_version']}, code {ours['code']}): differences may come from the tool"
        for what, maker in makers
        if maker and maker.get("code") != ours["code"]
    ]
