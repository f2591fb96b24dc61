"""Makes everything derived from the trials again: points.csv, series, timeseries.csv, fits and reports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.base.errors import StoreError
from scale_sweep.judge import method
from scale_sweep.model import StoredRun
from scale_sweep.report.documents import documents
from scale_sweep.results.store.codec import to_json
from scale_sweep.results.store.outside import read_reference
from scale_sweep.results.store.reader import read_fit
from scale_sweep.results.store.stored import Folder, read_text
from scale_sweep.results.store.texts import OPERATIONS, TIMESERIES_HEADER, operations_text, points_text, timeseries_part
from scale_sweep.verify.result import Disagreement, OtherMethod, differences, leaves, show
from scale_sweep.verify.trial import TrialAgain

POINTS = "points.csv"


@dataclass(frozen=True, kw_only=True)
class DerivedCheck:
    """figures: the number compared. other_method: fits and texts of a report that another method made. notes: columns
    that the version of the run does not have."""

    figures: int
    disagreements: tuple[Disagreement, ...]
    other_method: OtherMethod
    notes: tuple[str, ...] = ()


def check_derived(folder: Folder, run: StoredRun, again: Mapping[str, TrialAgain]) -> DerivedCheck:
    """run: the run with recomputed trials. again: the same by trial, with their series."""
    points = points_text(run.plan, run.results)
    apart = _columns_of_one(folder, run, points)
    notes = _columns_words(run, apart)
    disagreements = [*_points(folder, points, apart), *_series(folder, again)]
    if run.plan.sweep.work.counts_requests:
        disagreements += _text(folder, OPERATIONS, operations_text(run.results))
    figures = sum(map(len, csv.reader(io.StringIO(points))))
    if not run.results:
        wrong = tuple(disagreements)
        return DerivedCheck(figures=figures, disagreements=wrong, other_method=OtherMethod(), notes=notes)
    made = _documents(folder, run)
    if _reported_by(run) == method.METHOD:
        figures += made.figures
        differing, other = made.missing + made.differing, OtherMethod()
    else:
        differing = made.missing
        other = OtherMethod(compared=made.compared, differ=len({d.file for d in made.differing}))
    wrong = (*disagreements, *differing)
    return DerivedCheck(figures=figures, disagreements=wrong, other_method=other, notes=notes)


def _reported_by(run: StoredRun) -> object:
    by = run.manifest.get("reported_by")
    return by.get("method") if isinstance(by, Mapping) else run.manifest.get("method")


def _columns_of_one(folder: Folder, run: StoredRun, made: str) -> tuple[str, ...]:
    if run.manifest.get("method") == method.METHOD:
        return ()
    try:
        stored = next(csv.reader(io.StringIO(read_text(folder, POINTS))), [])
    except StoreError:  # found again where the rows are compared
        return ()
    both = (stored, next(csv.reader(io.StringIO(made))))
    return tuple(name for names, others in (both, both[::-1]) for name in names if name not in others)


def _columns_words(run: StoredRun, apart: Sequence[str]) -> tuple[str, ...]:
    if not apart:
        return ()
    by = f"scale {run.manifest.get('tool_version')} (method {run.manifest.get('method')})"
    return (f"{POINTS} was written by {by}: compared without {', '.join(apart)}, which one version lacks",)


def _points(folder: Folder, made: str, apart: Sequence[str]) -> Iterator[Disagreement]:
    name = POINTS
    try:
        stored = _rows(read_text(folder, name), apart)
    except StoreError as error:
        yield Disagreement(file=name, sentence=error.message.replace(f"{folder}/", ""))
        return
    wanted = _rows(made, apart)
    for trial_id in dict.fromkeys([*wanted, *stored]):
        if trial_id not in stored or trial_id not in wanted:
            yield Disagreement(
                file=name,
                figure=trial_id,
                sentence=f"the row of {trial_id} is "
                + ("missing" if trial_id not in stored else "of no trial that can be made again"),
            )
            continue
        for figure, old, new in differences(stored[trial_id], wanted[trial_id]):
            if old != new:
                yield Disagreement(
                    file=name,
                    figure=f"{trial_id}.{figure}",
                    stored=old,
                    recomputed=new,
                    sentence=f"{figure} of {trial_id} is {old}, the raw files give {new}",
                )


def _rows(text: str, apart: Sequence[str]) -> dict[str, dict[str, object]]:
    return {
        row.get("trial_id") or "": {k: _value(v) for k, v in row.items() if k and k not in apart}
        for row in csv.DictReader(io.StringIO(text))
    }


def _value(cell: object) -> object:
    """A cell as a number if it is one, so that rounding is not a difference."""
    try:
        return float(str(cell))
    except ValueError:
        return cell


def _series(folder: Folder, again: Mapping[str, TrialAgain]) -> Iterator[Disagreement]:
    for trial_id, trial in again.items():
        yield from _text(folder, f"trials/{trial_id}/series.csv", trial.series)
    name = "timeseries.csv"
    try:
        stored = read_text(folder, name)
    except StoreError as error:
        yield Disagreement(file=name, sentence=error.message.replace(f"{folder}/", ""))
        return
    parts = _by_trial(stored)
    for trial_id, trial in again.items():
        wanted = timeseries_part(trial_id, trial.series)
        if (held := parts.get(trial_id, "")) != wanted:
            yield _first_difference(name, held, wanted, f"of {trial_id} ")
    if not stored.startswith(TIMESERIES_HEADER):
        yield Disagreement(file=name, sentence="its header is not that of a time series")


def _by_trial(timeseries: str) -> dict[str, str]:
    parts: dict[str, list[str]] = {}
    for line in timeseries.splitlines(keepends=True)[1:]:
        parts.setdefault(line.partition(",")[0], []).append(line)
    return {trial_id: "".join(lines) for trial_id, lines in parts.items()}


@dataclass(frozen=True, kw_only=True)
class _Documents:
    """Fits and pages made again: figures in the fits, compared files, files that cannot be compared, differences."""

    figures: int
    compared: int
    missing: tuple[Disagreement, ...]
    differing: tuple[Disagreement, ...]


def _documents(folder: Folder, run: StoredRun) -> _Documents:
    made = documents(run, read_reference(run.plan.sweep.reference))
    missing: list[Disagreement] = []
    differing: list[Disagreement] = []
    figures = 0
    for name, fit in made.fits.items():
        wanted = json.loads(to_json(fit))
        figures += leaves(wanted)
        try:
            stored = read_fit(folder, name)
        except StoreError as error:
            missing.append(Disagreement(file=name, sentence=f"cannot be read: {error}"))
            continue
        differing += [
            Disagreement(
                file=name,
                figure=figure,
                stored=old,
                recomputed=new,
                sentence=f"{figure} is {old}, the raw files give {new}",
            )
            for figure, old, new in differences(stored, wanted)
        ]
    for name, text in made.pages.items():
        of_page = [*_text(folder, name, text)]
        (differing if all(d.figure for d in of_page) else missing).extend(of_page)
    compared = len(made.fits) + len(made.pages) - len(missing)
    return _Documents(figures=figures, compared=compared, missing=tuple(missing), differing=tuple(differing))


def _text(folder: Folder, name: str, wanted: str) -> Iterator[Disagreement]:
    try:
        stored = read_text(folder, name)
    except StoreError as error:
        yield Disagreement(file=name, sentence=error.message.replace(f"{folder}/", ""))
        return
    if stored != wanted:
        yield _first_difference(name, stored, wanted)


def _first_difference(name: str, stored: str, wanted: str, what: str = "") -> Disagreement:
    """The first line that differs, with the text from just before the difference."""
    old, new = stored.splitlines(), wanted.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    a, b = (old[at] if at < len(old) else "(its end)"), (new[at] if at < len(new) else "(its end)")
    start = max(next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0) - 40, 0)
    held, made = show(a[start:]), show(b[start:])
    return Disagreement(
        file=name,
        figure=f"line {at + 1}",
        stored=held,
        recomputed=made,
        sentence=f"line {at + 1} {what}differs from the raw files",
    )
