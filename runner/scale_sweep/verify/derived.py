"""Makes everything derived from the trials again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.base.errors import StoreError
from scale_sweep.judge import method
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report.documents import documents
from scale_sweep.results.store.codec import to_json
from scale_sweep.results.store.outside import read_reference
from scale_sweep.results.store.reader import read_fit
from scale_sweep.results.store.stored import Folder, read_text
from scale_sweep.results.store.texts import OPERATIONS, TIMESERIES_HEADER, operations_text, points_text, timeseries_part
from scale_sweep.verify.digests import Disagreement, OtherMethod, differences, figure_differs, leaves, show, unread
from scale_sweep.verify.trial import TrialAgain

POINTS = "points.csv"
_GONE = set(  # columns that earlier versions with today's method wrote
    "late_ms_p50 late_ms_p95 late_ms_p999 late_ms_max generator_cpu_mhz psi_cpu_percent psi_io_percent "
    "server_instructions_per_cycle".split()
)


@dataclass(frozen=True, kw_only=True)
class DerivedCheck:
    figures: int
    disagreements: tuple[Disagreement, ...]
    other_method: OtherMethod  # fits and texts of a report that another method made
    notes: tuple[str, ...] = ()  # on columns that the version of the run does not have


def check_derived(folder: Folder, run: StoredRun, again: Mapping[str, TrialAgain]) -> DerivedCheck:
    """run: with recomputed trials. again: those by trial, with their series."""
    points = points_text(run.plan, run.results)
    apart = _columns_of_one(folder, run, points)
    notes: tuple[str, ...] = ()
    if apart:
        version = f"scale {run.manifest.get('tool_version')} (method {run.manifest.get('method')})"
        notes = (f"{POINTS} was written by {version}: compared without {', '.join(apart)}, which one version lacks",)
    disagreements = [*_points(folder, points, apart), *_series(folder, again)]
    if run.plan.sweep.work.counts_requests:
        disagreements += _text(folder, OPERATIONS, operations_text(run.results))
    figures, other = sum(map(len, csv.reader(io.StringIO(points)))), OtherMethod()
    if run.results:
        (of_fits, compared, missing, differing), by = _documents(folder, run), run.manifest.get("reported_by")
        disagreements += missing
        if (by if isinstance(by, Mapping) else run.manifest).get("method") == method.METHOD:
            figures += of_fits
            disagreements += differing
        else:
            other = OtherMethod(compared=compared, differ=len({d.file for d in differing}))
    return DerivedCheck(figures=figures, disagreements=tuple(disagreements), other_method=other, notes=notes)


def _columns_of_one(folder: Folder, run: StoredRun, made: str) -> tuple[str, ...]:
    try:
        stored = next(csv.reader(io.StringIO(read_text(folder, POINTS))), [])
    except StoreError:  # found again where the rows are compared
        return ()
    both = (stored, next(csv.reader(io.StringIO(made))))
    apart = (name for names, others in (both, both[::-1]) for name in names if name not in others)
    is_other = run.manifest.get("method") != method.METHOD
    return tuple(name for name in apart if is_other or name in _GONE)


def _points(folder: Folder, made: str, apart: Sequence[str]) -> Iterator[Disagreement]:
    try:
        stored = _rows(read_text(folder, POINTS), apart)
    except StoreError as error:
        yield unread(folder, POINTS, error)
        return
    wanted = _rows(made, apart)
    for trial_id in dict.fromkeys([*wanted, *stored]):
        if trial_id not in stored or trial_id not in wanted:
            why = "missing" if trial_id not in stored else "of no trial that can be made again"
            yield Disagreement(file=POINTS, figure=trial_id, sentence=f"the row of {trial_id} is {why}")
            continue
        for figure, old, new in differences(stored[trial_id], wanted[trial_id]):
            if old != new:
                yield Disagreement(
                    file=POINTS,
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
    """A number if it is one, so that rounding is no difference."""
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
        yield unread(folder, name, error)
        return
    parts: dict[str, list[str]] = {}
    for line in stored.splitlines(keepends=True)[1:]:
        parts.setdefault(line.partition(",")[0], []).append(line)
    for trial_id, trial in again.items():
        wanted = timeseries_part(trial_id, trial.series)
        if (held := "".join(parts.get(trial_id, ()))) != wanted:
            yield _first_difference(name, held, wanted, f"of {trial_id} ")
    if not stored.startswith(TIMESERIES_HEADER):
        yield Disagreement(file=name, sentence="its header is not that of a time series")


def _documents(folder: Folder, run: StoredRun) -> tuple[int, int, list[Disagreement], list[Disagreement]]:
    """Figures, documents that were compared, and what is missing or differs."""
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
        differing += [figure_differs(name, one) for one in differences(stored, wanted)]
    for name, text in made.pages.items():
        of_page = [*_text(folder, name, text)]
        (differing if all(d.figure for d in of_page) else missing).extend(of_page)
    return figures, len(made.fits) + len(made.pages) - len(missing), missing, differing


def _text(folder: Folder, name: str, wanted: str) -> Iterator[Disagreement]:
    try:
        stored = read_text(folder, name)
    except StoreError as error:
        yield unread(folder, name, error)
        return
    if stored != wanted:
        yield _first_difference(name, stored, wanted)


def _first_difference(name: str, stored: str, wanted: str, what: str = "") -> Disagreement:
    """With the text from just before it."""
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
