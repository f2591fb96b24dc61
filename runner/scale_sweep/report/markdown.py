"""report.md: the run for a terminal, a pull request or a wiki. Plain tables, no picture, no HTML."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.connections_check import sentences
from scale_sweep.base.texts import visible
from scale_sweep.model import FitReport, StoredRun, counted_verdicts
from scale_sweep.report import run_facts
from scale_sweep.report.article import ARTICLE_HEADING, article_table, is_as_published
from scale_sweep.report.bottlenecks import bottleneck_notes, bottlenecks_table, remedies
from scale_sweep.report.cpu_time import cpu_table
from scale_sweep.report.curve import with_fit
from scale_sweep.report.disk_tables import ceiling_table, disk_table, has_prepared_disks, placement_words
from scale_sweep.report.figures import fit_of, knobs_table
from scale_sweep.report.fitted import asked_table, derived_table, interval_words, models_table, rejected_table
from scale_sweep.report.headlines import eyebrow_of, title_of
from scale_sweep.report.level_tables import levels_table
from scale_sweep.report.markup import safe
from scale_sweep.report.noise import ablations_table, noise_of, noise_sentences
from scale_sweep.report.offered_rates import offered_tables
from scale_sweep.report.operation_pictures import has_operations
from scale_sweep.report.operation_questions import asked_operations_table, checked_words, checks_table, preload_words
from scale_sweep.report.operations import cautions_of_answers, operations_table, quantiles_table
from scale_sweep.report.reference import Reference, reference_table
from scale_sweep.report.reference_reads import is_of_reads, reads_tables
from scale_sweep.report.replicates import parts_table
from scale_sweep.report.run_facts import settings_table
from scale_sweep.report.shared_values import once
from scale_sweep.report.soak import soak_of, soak_tables
from scale_sweep.report.table import Table
from scale_sweep.report.trials import trial_table, warmup_words


def markdown(run: StoredRun, reference: Reference | None = None) -> str:
    """The whole document. reference: rows of a published table, as read from its CSV."""
    run = with_fit(run)
    fit, sweep = fit_of(run), run.plan.sweep
    verdicts = counted_verdicts(run.results) or "no trial"
    blocks = [
        f"# {safe(title_of(run, fit))}",
        safe(eyebrow_of(run)),
        safe(sweep.question),
        f"**{safe(fit.sentence)}**",
        f"Verdicts: {safe(verdicts)}.",
        interval_words(fit),
        _section("Before you believe it", _bullets(_cautions(run))),
        _section("Each level", table_markdown(levels_table(run))) if run.on_curve else "",
        *(_section(table.title, table_markdown(table)) for table in offered_tables(run)),
        *_operations(run),
        *_soaks(run),
        *_published(run, reference),
        _section("Bottlenecks", _bottleneck(run)) if any(r.verdict.bottleneck for r in run.results) else "",
        _section("To make the rejected trials count", _bullets(remedies(run))) if remedies(run) else "",
        *_disks(run),
        _section("Every trial and its verdict", table_markdown(_with_reasons(trial_table(run)))),
        _section("Was the warm-up long enough?", _bullets(warmup_words(run))),
        _section("How sure the fit is", _certainty(fit)) if fit.points else "",
        _section("How sure the points are", _noise(run)) if run.results else "",
        _section("The rate for each CPU-second", table_markdown(cpu_table(fit, run))) if fit.per_cpu else "",
        _section("Other changes along the curve", _knobs(run)) if run.results else "",
        _section(settings.title, table_markdown(settings)) if (settings := settings_table(run)) else "",
        _section("Method and machine", _method(run)),
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


def _cautions(run: StoredRun) -> Sequence[str]:
    return (*run_facts.cautions_of(run, fit_of(run).cautions), *cautions_of_answers(run))


def _published(run: StoredRun, reference: Reference | None) -> list[str]:
    shown = run.on_curve and not is_of_reads(reference) and (reference is not None or is_as_published(run))
    rates = reference_table(run, reference) if reference else None
    beside = (rates,) if rates else reads_tables(run, reference)
    return [
        _section(ARTICLE_HEADING, table_markdown(article_table(run)) if shown else ""),
        _section("Published and ours", "\n\n".join(map(table_markdown, beside))),
    ]


def _bottleneck(run: StoredRun) -> str:
    notes = (*bottleneck_notes(run), *sentences(run.plan, run.results))
    table = table_markdown(once(bottlenecks_table(run), kept=(0, 1)))
    return "\n\n".join(filter(None, (table, _bullets(notes))))


def _knobs(run: StoredRun) -> str:
    knobs = knobs_table(run)
    return table_markdown(knobs) if knobs.rows else "\n\n".join(f"Nothing moves. {safe(note)}" for note in knobs.notes)


def _noise(run: StoredRun) -> str:
    tables = _both(ablations_table(run), parts_table(noise_of(run).parts))
    return _bullets(noise_sentences(run)) + (f"\n\n{tables}" if tables else "")


def _soaks(run: StoredRun) -> list[str]:
    soaks = [soak for r in run.results if (soak := soak_of(run, r)) is not None]
    return [_section("The rate over time", f"{safe(soak.words)}\n\n{_both(*soak_tables(soak))}") for soak in soaks]


def _operations(run: StoredRun) -> list[str]:
    if not has_operations(run):
        return []
    notes = _bullets([words for words in (checked_words(run), *preload_words(run)) if words])
    tables = _both(asked_operations_table(run), operations_table(run), quantiles_table(run), checks_table(run))
    return [_section("Each operation", f"{notes}\n\n{tables}" if notes else tables)]


def _disks(run: StoredRun) -> list[str]:
    if not has_prepared_disks(run):
        return []
    tables = _both(disk_table(run), ceiling_table(run))
    return [_section("Each disk", f"{safe(placement_words(run))}\n\n{tables}")]


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _certainty(fit: FitReport) -> str:
    tables = (
        rejected_table(fit),
        models_table(fit),
        derived_table(fit),
        asked_table(fit),
    )
    return "\n\n".join(table_markdown(t) for t in tables if t.rows)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {safe(line)}" for line in lines)


def _both(*tables: Table) -> str:
    return "\n\n".join(table_markdown(t) for t in tables if t.rows)


def _with_reasons(table: Table) -> Table:
    rows = tuple((*row, why) for row, why in zip(table.rows, table.row_notes, strict=True))
    words = (*table.words, len(table.headers))
    return Table(title=table.title, headers=(*table.headers, "Reasons"), rows=rows, words=words, notes=table.notes)


def table_markdown(table: Table) -> str:
    """A pipe table with its notes."""
    align = ["---" if i in table.words else "---:" for i in range(len(table.headers))]
    rows = [table.headers, align, *table.rows]
    lines = ["| " + " | ".join(cell if row is align else safe(cell) for cell in row) + " |" for row in rows]
    notes = "\n\n".join(safe(note) for note in table.notes)
    return "\n".join(lines) + (f"\n\n{notes}" if notes else "")


def _method(run: StoredRun) -> str:
    lines = [f"- {safe(k)}: {safe(v)}" for k, v in (*run_facts.machine_facts(run), *run_facts.method_facts(run))]
    lines += [
        f"- at {level} {safe(run.plan.sweep.axis)}: server on CPU {safe(server)}, "
        f"load generator on CPU {safe(client)}, shared: {safe(shared)}"
        for level, server, client, shared in run_facts.placements(run)
    ]
    command = run_facts.command_of(run)
    if command:
        lines.append(f"\nTo repeat it:\n\n    {visible(' '.join(command.splitlines()))}")  # code in every Markdown
    return "\n".join(lines)
