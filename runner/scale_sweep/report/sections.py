"""The report of a run: its sections, listed once for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from scale_sweep.analysis.connections_check import sentences
from scale_sweep.model.derived import verdict_words
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report import run_facts
from scale_sweep.report.account import account_part
from scale_sweep.report.article import article_heading, article_table, is_as_published
from scale_sweep.report.bottlenecks import bottleneck_notes, bottlenecks_table, remedies
from scale_sweep.report.cpu_time import cpu_table
from scale_sweep.report.curve import caption, curve_rows, curve_svg, with_fit
from scale_sweep.report.disk_tables import ceiling_table, disk_table, has_prepared_disks, placement_words, shares_svg
from scale_sweep.report.figures import axis_name, fit_of, knobs_table
from scale_sweep.report.fitted import FORMULA, asked_table, derived_table, models_table, rejected_table, residuals_svg
from scale_sweep.report.flame import profile_html
from scale_sweep.report.forms import Form, Markdown, Page, Section, figure_html
from scale_sweep.report.headlines import headline_of
from scale_sweep.report.level_tables import levels_table
from scale_sweep.report.markup import escape, meaning_of
from scale_sweep.report.noise import ablations_table, noise_of, noise_sentences
from scale_sweep.report.offered_rates import offered_tables
from scale_sweep.report.operations import operations_part
from scale_sweep.report.proof import proof_part
from scale_sweep.report.reference import Reference, compare, reference_table, speedup_svg
from scale_sweep.report.reference_reads import is_of_reads, reads_tables
from scale_sweep.report.replicates import parts_table
from scale_sweep.report.search_figure import searches_html
from scale_sweep.report.shared_values import once, unsaid
from scale_sweep.report.soak import CAPTION, Soak, soak_of, soak_svg, soak_tables
from scale_sweep.report.table import Table, verdict_counts
from scale_sweep.report.trials import NOTE, trial_table, trials_html, warmup_panels, warmup_words

Facts = Sequence[tuple[str, str]]


def html(run: StoredRun, reference: Reference | None = None) -> str:
    """report.html: one file that needs no other. reference: rows of a published table, as read from its CSV."""
    return Page().document(headline_of(with_fit(run)), body_of(run, Page(), reference))


def markdown(run: StoredRun, reference: Reference | None = None) -> str:
    return Markdown().document(headline_of(with_fit(run)), body_of(run, Markdown(), reference))


def body_of(
    run: StoredRun,
    form: Form,
    reference: Reference | None = None,
    within: str = "",
    shared: Facts = (),
    above: Sequence[str] = (),
) -> str:
    """The report without its frame. within: before the names of links. shared, above: facts and cautions shown
    elsewhere."""
    run = with_fit(run)
    headline = headline_of(run)
    headline = replace(headline, cautions=unsaid(headline.cautions, above))
    sections = (
        Section("curve", "The curve", _curve(run, form)),
        Section("account", "Why a part of the rate is missing", account_part(run, form)),
        Section("operations", "Each operation", operations_part(run, form)),
        Section("soak", "The rate over time", _soak(run, form)),
        *_published(run, form, reference),
        Section("bottleneck", "Bottlenecks", _bottleneck(run, form)),
        Section("proof", "Proof of the bottleneck", proof_part(run, form)),
        Section("disks", "Each disk", _disks(run, form)),
        Section("trials", "Every trial and its verdict", _trials(run, form)),
        Section("seconds", "Second by second", form.on_page(lambda: trials_html(run))),
        Section("warm-up", "Was the warm-up long enough?", _warmup(run, form)),
        Section("fit", "How sure the fit is", _certainty(run, form)),
        Section("noise", "How sure the points are", _noise(run, form)),
        Section("cpu-time", "The rate for each CPU-second", form.table(cpu_table(fit_of(run), run))),
        Section("knobs", "Other changes along the curve", _knobs(run, form)),
        Section("profile", "CPU time of the server by function", form.on_page(lambda: profile_html(run))),
        Section(
            "method",
            "Method and machine",
            _method_page(run, form, shared) if form.is_page else _method_markdown(run, form),
        ),
    )
    return form.body(headline, run.results, sections, within)


def _curve(run: StoredRun, form: Form) -> str:
    def drawn() -> str:
        wide, narrow = curve_svg(run), curve_svg(run, 400, 340)
        curve = figure_html("curve", wide, caption(run), curve_rows(run), narrow=narrow) if wide else ""
        return (curve or "<p>No trial has a rate, so there is no curve.</p>") + searches_html(run)

    offered = [form.under(table.title, form.table(table)) for table in offered_tables(run)]
    levels = form.under("Each level", form.table(levels_table(run))) if run.on_curve else ""
    return form.joined(form.on_page(drawn), *((*offered, levels) if form.is_page else (levels, *offered)))


def _small(plot: str) -> str:
    return f'<figure style="max-width:520px">{plot}</figure>' if plot else ""


def _soak(run: StoredRun, form: Form) -> str:
    parts = []
    for soak in (soak for r in run.results if (soak := soak_of(run, r)) is not None):
        parts += [
            form.words(soak.words),
            form.on_page(partial(_soak_picture, soak)),
            *map(form.table, soak_tables(soak)),
        ]
    return form.joined(*parts)


def _soak_picture(soak: Soak) -> str:
    return f"<figure>{soak_svg(soak)}<figcaption>{escape(CAPTION)}</figcaption></figure>"


def _published(run: StoredRun, form: Form, reference: Reference | None) -> Sequence[Section]:
    shown = run.on_curve and not is_of_reads(reference) and (reference is not None or is_as_published(run))
    both = compare(run, reference) if reference else None
    rates = reference_table(run, reference) if reference else None
    beside = [form.table(table, dense=True) for table in ((rates,) if rates else reads_tables(run, reference))]
    plot = form.on_page(lambda: _small(speedup_svg(run, both)) if both is not None else "")
    return (
        Section("article", article_heading(run), form.table(article_table(run)) if shown else ""),
        Section("published", "Published and ours", form.joined(*beside, plot) if beside else ""),
    )


def _bottleneck(run: StoredRun, form: Form) -> str:
    advice = form.under("To make the rejected trials count", form.bullets(remedies(run)))
    if not any(r.verdict.bottleneck for r in run.results):
        return advice
    notes = form.bullets((*bottleneck_notes(run), *sentences(run.plan, run.results)))
    return form.joined(form.table(once(bottlenecks_table(run), kept=(0, 1)), dense=True), notes, advice)


def _disks(run: StoredRun, form: Form) -> str:
    if not has_prepared_disks(run):
        return ""
    ceilings = ceiling_table(run)
    return form.joined(
        form.words(placement_words(run), note=True),
        form.on_page(lambda: _small(shares_svg(run))),
        form.table(disk_table(run)),
        form.on_page(lambda: "<h3>Ceilings of the disks</h3>" if ceilings.rows else ""),
        form.table(ceilings),
    )


def _trials(run: StoredRun, form: Form) -> str:
    def meanings() -> str:
        words = (verdict_words(r) for kind, _ in verdict_counts(run) for r in run.results if r.verdict.kind is kind)
        kinds = "".join(f"<dt>{word}</dt><dd>{escape(meaning_of(word))}</dd>" for word in dict.fromkeys(words))
        return f"<dl>{kinds}</dl>"

    return form.joined(form.table(trial_table(run), dense=True), form.on_page(meanings)) if run.results else ""


def _warmup(run: StoredRun, form: Form) -> str:
    def panels() -> str:
        drawn = "".join(
            f'<div class="trial"><div class="name"><b>{escape(name)}</b></div>{svg}</div>'
            for name, svg in warmup_panels(run)
        )
        return f'<details><summary>MSER-5 of each trial</summary><p class="note">{NOTE}</p>{drawn}</details>'

    words = warmup_words(run)
    return form.joined(form.bullets(words), form.on_page(panels)) if words else ""


def _certainty(run: StoredRun, form: Form) -> str:
    fit = fit_of(run)
    if not fit.points:
        return ""
    models = form.joined(
        form.table(models_table(fit)),
        form.on_page(lambda: f'<p class="note">{FORMULA}</p>' if fit.models else ""),
        form.on_page(lambda: _small(residuals_svg(run))),
    )
    models = form.folded("Models, their parameters with intervals, and residuals", models)
    rejected, derived, beyond = map(form.table, (rejected_table(fit), derived_table(fit), asked_table(fit)))
    return form.joined(rejected, *((derived, beyond, models) if form.is_page else (models, derived, beyond)))


def _noise(run: StoredRun, form: Form) -> str:
    if not run.results:
        return ""
    tables = form.joined(form.table(ablations_table(run)), form.table(parts_table(noise_of(run).parts)))
    return form.joined(form.bullets(noise_sentences(run)), form.folded("Sources of the noise, and of gains", tables))


def _knobs(run: StoredRun, form: Form) -> str:
    if not run.results:
        return ""
    knobs, settings = knobs_table(run), run_facts.settings_table(run)
    moving = [form.table(knobs)] if knobs.rows else [form.words(f"Nothing moves. {note}") for note in knobs.notes]
    if settings is None:
        return form.joined(*moving)
    shown = once(settings, kept=(1, 2, 3)) if form.is_page else settings
    return form.joined(*moving, form.under(settings.title, form.table(shown)))


def _method_page(run: StoredRun, form: Form, shared: Facts) -> str:
    rows, settings = run_facts.placements(run), run_facts.effective_settings(run)
    headers = (axis_name(run), "Server's CPUs", "Load generator's CPUs", "Shared")
    where = Table(title="CPUs of server and load generator", headers=headers, rows=rows, words=(1, 2, 3))
    table = Table(title="Settings", headers=("Setting", "As the server reports it"), rows=settings, words=(0, 1))
    counted = f"{len(settings)} settings, as the server reports them"
    facts = (*run_facts.machine_facts(run), *run_facts.load_hosts(run), *run_facts.method_facts(run))
    return (
        facts_html([fact for fact in facts if fact not in shared])
        + (form.under(where.title, form.table(once(where))) if rows else "")
        + (f"<details><summary>{counted}</summary>{form.table(table)}</details>" if settings else "")
        + ("" if shared else form.command(run_facts.command_of(run)))
        + '<p class="note">Raw data beside this page: manifest.json, points.csv, timeseries.csv, trials/. '
        f"Run: {escape(str(run.manifest.get('run') or run.path.rstrip('/').rpartition('/')[2]))}</p>\n"
    )


def _method_markdown(run: StoredRun, form: Form) -> str:
    lines = [f"{name}: {words}" for name, words in (*run_facts.machine_facts(run), *run_facts.method_facts(run))]
    lines += [
        f"at {level} {run.plan.sweep.axis}: server on CPU {server}, load generator on CPU {client}, shared: {shared}"
        for level, server, client, shared in run_facts.placements(run)
    ]
    return form.joined(form.bullets(lines), form.command(run_facts.command_of(run)))


def facts_html(facts: Facts) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts) + "</dl>" if facts else ""
