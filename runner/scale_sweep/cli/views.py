"""Tables and documents of a run that the commands show. Takes model objects; `show_run` shows them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.connections_check import sentences
from scale_sweep.base.alike import alike
from scale_sweep.base.units import counted
from scale_sweep.cli import console
from scale_sweep.cli.compared import show_comparison
from scale_sweep.model import StoredRun, counted_verdicts, rate_per_cpu_s
from scale_sweep.report import console_table
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.capacity import capacity_table, has_objective
from scale_sweep.report.curve import with_fit
from scale_sweep.report.documents import comparison_table, labels_of, only
from scale_sweep.report.figures import fit_again
from scale_sweep.report.fitted import asked_table, interval_words
from scale_sweep.report.noise import noise_of, noise_sentences, slow_changes
from scale_sweep.report.open_loop import is_open_loop, response_table
from scale_sweep.report.table import Table
from scale_sweep.results.store.held import status_of
from scale_sweep.results.store.stored import Folder, is_there

_REPORT = "report.html"
_MARKED = "†"
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def show(run: Folder, stored: StoredRun, as_json: bool) -> None:
    """Shows a run, for scripts or for people."""
    if as_json:
        console.show_json(run_document(run, stored))
    else:
        show_run(run, stored)


def run_document(run: Folder, stored: StoredRun) -> dict[str, Any]:
    """A run for scripts: every trial with its verdict, and the fit."""
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


def show_run(run: Folder, stored: StoredRun) -> None:
    """Shows the table, the fit in one sentence, the verdicts and the report; for `scale ab` also the comparison. A
    run without a finished trial gets one sentence, and an interrupted run the command that continues it."""
    if stored.results:
        _show_results(stored)
    else:
        console.show_line("no trial is finished")
    if status_of(run, stored.manifest) == "interrupted":
        done = f"{len(stored.results)} of {counted(len(stored.plan.trials), 'trial')}"
        again = f"scale resume {shlex.quote(stored.path)}"
        console.show_line(f"interrupted after {done}; continue it with: {again}", "yellow")
    console.show_line(report_line(run))


def report_line(run: Folder) -> str:
    """The path of a run's report, or how to make it: an interrupted run has no report."""
    if is_there(run, _REPORT):
        return f"report: {run / _REPORT}"
    return f"report: none yet; make it with: scale report {run}"


def show_answers(stored: StoredRun) -> None:
    """Shows the predictions and needs that the sweep requests: one table, or one for each variant."""
    for name, table in _answers(stored).items():
        if table.rows:
            console.show_line("")
            console.show_table(f"{table.title}: {name}" if name else table.title, table.headers, table.rows)
            for note in table.notes:
                console.show_line(f"  {note}", "dim")


def _answers(stored: StoredRun) -> dict[str, Table]:
    """By the name of the variant. A run of several variants is stored without a fit of all."""
    if stored.fit:
        return {"": asked_table(stored.fit)}
    questions = stored.plan.sweep.predict or stored.plan.sweep.need
    return {name: asked_table(fit_again(only(stored, name))) for name in labels_of(stored)} if questions else {}


def _show_table(title: str, table: Table) -> None:
    """Shows a table with its notes. A note on a mark is shown if a cell has that mark."""
    console.show_table(title, table.headers, table.rows, table.essential)
    cells = " ".join(cell for row in table.rows for cell in row)
    for note in table.notes:
        if _MARKED not in note or _MARKED in cells:
            console.show_line(note, "dim")


def _show_results(stored: StoredRun) -> None:
    if stored.plan.sweep.variants_ab:
        show_comparison(compare_variants(stored))
        console.show_line("")
    if is_open_loop(stored) or len(labels_of(stored)) > 1:
        table = response_table(stored) if is_open_loop(stored) else comparison_table(stored)
        _show_table(stored.plan.sweep.question, table)
    else:
        fitted = with_fit(stored)
        table = console_table(fitted)
        _show_table(table.title, table)
        if fitted.fit and (words := interval_words(fitted.fit)):
            console.show_line(words, "dim")
    if has_objective(stored):
        searched = capacity_table(stored)
        console.show_line("")
        console.show_table(searched.title, searched.headers, searched.rows)
        console.show_line(f"  {searched.notes[0]}", "dim")
    if stored.fit:
        console.show_line("")
        console.show_line(stored.fit.sentence, "bold")
        for caution in (*slow_changes(stored), *stored.fit.cautions):
            console.show_line(f"  but: {caution}", "yellow")
        for sentence in (*noise_sentences(stored), *sentences(stored.plan, stored.results)):
            console.show_line(f"  {sentence}")
        show_answers(stored)
    console.show_line(f"verdicts: {counted_verdicts(stored.results)}")
    for count, reason in alike(reason for r in stored.results for reason in r.verdict.reasons[:1])[:6]:
        console.show_line(f"  {count} × {reason}")
    for sentence in remedies(stored):
        console.show_line(f"  to change: {sentence}")
