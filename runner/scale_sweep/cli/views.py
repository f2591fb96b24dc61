"""Tables and documents of a run that the commands show. Takes model objects; `show_run` shows them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.connections_check import sentences
from scale_sweep.base.texts import alike
from scale_sweep.base.units import counted, format_rate
from scale_sweep.cli import console
from scale_sweep.cli.compared import show_comparison
from scale_sweep.model.derived import counted_verdicts, rate_per_cpu_s
from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.report import console_table
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.curve import with_fit
from scale_sweep.report.documents import only
from scale_sweep.report.figures import fit_again
from scale_sweep.report.fitted import asked_table, interval_words
from scale_sweep.report.headlines import headline_of, headline_of_variants
from scale_sweep.report.noise import noise_of, noise_sentences
from scale_sweep.report.offered_rates import capacity_table, has_objective, is_open_loop, response_table
from scale_sweep.report.proof import proof_sentences
from scale_sweep.report.several import comparison_table
from scale_sweep.report.several_curves import labels_of
from scale_sweep.report.table import Table
from scale_sweep.results.store.run_lock import status_of
from scale_sweep.results.store.stored import Folder, is_there

_REPORT = "report.html"
_MARKED = "†"
_LARGE = re.compile(r"\d{1,3}(?:,\d{3})+")
SHOWN = 3  # warnings
_MINOR = 0.25  # of the trials: fewer that are UNSTEADY are no reason for the first warning
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def show(run: Folder, stored: StoredRun, *, as_json: bool = False, is_whole: bool = False) -> None:
    if as_json:
        console.show_json(run_document(run, stored))
    else:
        show_run(run, stored, is_whole=is_whole)


def run_document(run: Folder, stored: StoredRun) -> dict[str, Any]:
    """For scripts."""
    return {
        "path": stored.path,
        "status": status_of(run, stored.manifest),
        "choice": stored.manifest.get("choice"),
        "target": stored.plan.sweep.target,
        "runtime": stored.plan.sweep.runtime,
        "trials": [{**asdict(r), "rate_per_cpu_s": rate_per_cpu_s(r)} for r in stored.results],
        "fit": asdict(stored.fit) if stored.fit else None,
        "noise": asdict(noise_of(stored)),
        "comparison": asdict(compare_variants(stored)) if stored.plan.sweep.variants_ab else None,
        "report": str(run / _REPORT) if is_there(run, _REPORT) else None,
    }


def show_run(run: Folder, stored: StoredRun, *, is_whole: bool = False) -> None:
    """is_whole: everything, and not the first warnings alone."""
    hidden = 0
    if not stored.results:
        console.show_line("no trial is finished")
    elif stored.plan.sweep.variants_ab:
        show_comparison(compare_variants(stored))
        if is_whole:
            _show_table("", comparison_table(stored), is_whole=True)
    else:
        hidden = _show_results(stored, is_whole=is_whole)
    if is_whole and stored.results:
        _show_rest(stored)
    if status_of(run, stored.manifest) == "interrupted":
        done = f"{len(stored.results)} of {counted(len(stored.plan.trials), 'trial')}"
        again = f"scale resume {shlex.quote(stored.path)}"
        console.show_line(f"interrupted after {done}; continue it with: {again}", "yellow")
    more = f"{counted(hidden, 'more warning')}: scale show {shlex.quote(stored.path)} --all; " if hidden else ""
    console.show_line(more + report_line(run))


def report_line(run: Folder) -> str:
    """An interrupted run has no report."""
    if is_there(run, _REPORT):
        return f"report: {run / _REPORT}"
    return f"report: none yet; make it with: scale report {run}"


def show_answers(stored: StoredRun) -> None:
    for name, table in _answers(stored).items():
        if table.rows:
            console.show_line("")
            title = f"{table.title}: {name}" if name else table.title
            console.show_report_table(replace(table, title=title), "  ")


def _answers(stored: StoredRun) -> dict[str, Table]:
    if stored.fit:
        return {"": asked_table(stored.fit)}
    questions = stored.plan.sweep.predict or stored.plan.sweep.need
    return {name: asked_table(fit) for name, fit in _fits(stored).items()} if questions else {}


def _show_table(title: str, table: Table, *, is_whole: bool) -> None:
    rows = [[_LARGE.sub(_in_units, cell) for cell in row] for row in table.rows]
    console.show_table(title, table.headers, rows, table.essential)
    cells = " ".join(cell for row in rows for cell in row)
    for note in table.notes:
        if _MARKED in cells if _MARKED in note else is_whole:
            console.show_line(note, "dim")


def _in_units(number: re.Match[str]) -> str:
    return format_rate(float(number[0].replace(",", "")))


def _show_results(stored: StoredRun, *, is_whole: bool) -> int:
    is_single = len(labels_of(stored)) < 2
    fitted = with_fit(stored)
    if is_open_loop(stored) or not is_single:
        table = response_table(stored) if is_open_loop(stored) else comparison_table(stored)
        title = stored.plan.sweep.question
    else:
        table = console_table(fitted)
        title = table.title
    _show_table(title, table, is_whole=is_whole)
    headline = headline_of(fitted) if is_single else headline_of_variants(stored, _fits(stored))
    console.show_line(headline.answer[0] if is_single else headline.title, "bold")
    for words in proof_sentences(fitted) if is_single else ():
        console.show_line(words)
    out = [r for r in stored.on_curve if not r.verdict.kind.is_fitted]
    is_minor = {r.verdict.kind for r in out} <= {VerdictKind.UNSTEADY} and len(out) < _MINOR * len(stored.on_curve)
    rejected, cautions = _rejected(stored, out), headline.cautions
    warnings = (*cautions, *rejected) if is_minor else (*rejected, *cautions)
    shown = warnings if is_whole else [words.partition(". ")[0] for words in warnings[:SHOWN]]
    for words in shown:
        console.show_line(f"  but: {words}", "yellow")
    show_answers(stored)
    return len(warnings) - len(shown)


def _fits(stored: StoredRun) -> dict[str, FitReport]:
    return {name: fit_again(only(stored, name)) for name in labels_of(stored)}


def _rejected(stored: StoredRun, out: Sequence[TrialResult]) -> list[str]:
    """The first remedy, and the most frequent reason of these verdicts."""
    if not out:
        return []
    kind = Counter(r.verdict.kind for r in out).most_common(1)[0][0]
    remedy = next(words for words in remedies(stored) if kind.value in words)
    reasons = alike(reason for r in out if r.verdict.kind is kind for reason in r.verdict.reasons[:1])
    return [f"{remedy} ({reasons[0][1]})" if reasons else remedy]


def _show_rest(stored: StoredRun) -> None:
    if stored.fit and (words := interval_words(stored.fit)):
        console.show_line(words, "dim")
    if stored.fit and stored.fit.account and (words := stored.fit.account.sentence):
        console.show_line(words)
    if has_objective(stored):
        searched = capacity_table(stored)
        console.show_table(searched.title, searched.headers, searched.rows)
        console.show_line(f"  {searched.notes[0]}", "dim")
    known = noise_sentences(stored) if stored.fit else ()
    for sentence in (*known, *sentences(stored.plan, stored.results)):
        console.show_line(f"  {sentence}")
    console.show_line(f"verdicts: {counted_verdicts(stored.results)}")
    for count, reason in alike(reason for r in stored.results for reason in r.verdict.reasons):
        console.show_line(f"  {count} × {reason}")
    for sentence in remedies(stored):
        console.show_line(f"  to change: {sentence}")
