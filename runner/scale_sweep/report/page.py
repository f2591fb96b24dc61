"""report.html: one file that needs no other. The answer comes first, then the cautions, then everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.connections_check import sentences
from scale_sweep.model import StoredRun, verdict_words
from scale_sweep.report import run_facts
from scale_sweep.report.article import ARTICLE_HEADING, article_table, is_as_published
from scale_sweep.report.bottlenecks import bottleneck_notes, bottlenecks_table, remedies
from scale_sweep.report.cpu_time import cpu_table
from scale_sweep.report.curve import caption, curve_rows, curve_svg, with_fit
from scale_sweep.report.disk_tables import ceiling_table, disk_table, has_prepared_disks, placement_words, shares_svg
from scale_sweep.report.figures import axis_name, fit_of, knobs_table
from scale_sweep.report.fitted import FORMULA, asked_table, derived_table, models_table, rejected_table, residuals_svg
from scale_sweep.report.flame import profile_html
from scale_sweep.report.headlines import headline_of
from scale_sweep.report.level_tables import levels_table
from scale_sweep.report.markup import escape, meaning_of, table_html
from scale_sweep.report.noise import ablations_table, noise_of, noise_sentences
from scale_sweep.report.offered_rates import offered_tables
from scale_sweep.report.operations import operations_html
from scale_sweep.report.page_parts import Section, figure_html, folded, headline_html, listed, sections_html, shell
from scale_sweep.report.reference import Reference, compare, reference_table, speedup_svg
from scale_sweep.report.reference_reads import is_of_reads, reads_tables
from scale_sweep.report.replicates import parts_table
from scale_sweep.report.run_facts import load_hosts
from scale_sweep.report.search_figure import searches_html
from scale_sweep.report.shared_values import once, unsaid
from scale_sweep.report.soak import CAPTION, soak_of, soak_svg, soak_tables
from scale_sweep.report.table import Table, verdict_counts
from scale_sweep.report.trials import NOTE, trial_table, trials_html, warmup_panels, warmup_words

Facts = Sequence[tuple[str, str]]


def html(run: StoredRun, reference: Reference | None = None) -> str:
    """The whole page. reference: rows of a published table, as read from its CSV."""
    run = with_fit(run)
    return shell(headline_of(run).title, body_html(run, reference))


def body_html(
    run: StoredRun,
    reference: Reference | None = None,
    within: str = "",
    shared: Facts = (),
    above: Sequence[str] = (),
) -> str:
    """The page without its head. within: before the names of links, on a page that has several such bodies. shared:
    facts of method and machine that this page has elsewhere. above: cautions that it has elsewhere."""
    run = with_fit(run)
    headline = headline_of(run)
    headline = replace(headline, cautions=unsaid(headline.cautions, above))
    sections = (
        Section(name="curve", title="The curve", body=_curve(run)),
        Section(name="operations", title="Each operation", body=operations_html(run)),
        Section(name="soak", title="The rate over time", body=_soak(run)),
        *_published(run, reference),
        Section(name="bottleneck", title="Bottlenecks", body=_bottleneck(run)),
        Section(name="disks", title="Each disk", body=_disks(run)),
        Section(name="trials", title="Every trial and its verdict", body=_trials(run)),
        Section(name="seconds", title="Second by second", body=trials_html(run)),
        Section(name="warm-up", title="Was the warm-up long enough?", body=_warmup(run)),
        Section(name="fit", title="How sure the fit is", body=_certainty(run)),
        Section(name="noise", title="How sure the points are", body=_noise(run)),
        Section(name="cpu-time", title="The rate for each CPU-second", body=_per_cpu(run)),
        Section(name="knobs", title="Other changes along the curve", body=_knobs(run)),
        Section(name="profile", title="CPU time of the server by function", body=profile_html(run)),
        Section(name="method", title="Method and machine", body=_method(run, shared)),
    )
    return headline_html(headline, run.results) + sections_html(sections, within)


def _curve(run: StoredRun) -> str:
    wide, narrow = curve_svg(run), curve_svg(run, 400, 340)
    drawn = figure_html("curve", wide, caption(run), curve_rows(run), narrow=narrow) if wide else ""
    return (
        (drawn or "<p>No trial has a rate, so there is no curve.</p>")
        + searches_html(run)
        + "".join(f"<h3>{escape(table.title)}</h3>{table_html(table)}" for table in offered_tables(run))
        + (f"<h3>Each level</h3>{table_html(levels_table(run))}" if run.on_curve else "")
    )


def _published(run: StoredRun, reference: Reference | None) -> Sequence[Section]:
    """The article's table if it has the run's columns; and the published rates, if there are any of such levels."""
    shown = run.on_curve and not is_of_reads(reference) and (reference is not None or is_as_published(run))
    article = table_html(article_table(run)) if shown else ""
    both = compare(run, reference) if reference else None
    rates = reference_table(run, reference) if reference else None
    beside = (rates,) if rates else reads_tables(run, reference)
    plot = speedup_svg(run, both) if both is not None else ""
    figure = f'<figure style="max-width:520px">{plot}</figure>' if plot else ""
    return (
        Section(name="article", title=ARTICLE_HEADING, body=article),
        Section(
            name="published",
            title="Published and ours",
            body="".join(table_html(table, dense=True) for table in beside) + (figure if beside else ""),
        ),
    )


def _disks(run: StoredRun) -> str:
    if not has_prepared_disks(run):
        return ""
    plot = shares_svg(run)
    figure = f'<figure style="max-width:520px">{plot}</figure>' if plot else ""
    ceilings = ceiling_table(run)
    return f'<p class="note">{escape(placement_words(run))}</p>{figure}{table_html(disk_table(run))}' + (
        f"<h3>Ceilings of the disks</h3>{table_html(ceilings)}" if ceilings.rows else ""
    )


def _trials(run: StoredRun) -> str:
    words = (verdict_words(r) for kind, _ in verdict_counts(run) for r in run.results if r.verdict.kind is kind)
    kinds = "".join(f"<dt>{word}</dt><dd>{escape(meaning_of(word))}</dd>" for word in dict.fromkeys(words))
    return f"{table_html(trial_table(run), dense=True)}<dl>{kinds}</dl>" if run.results else ""


def _certainty(run: StoredRun) -> str:
    """The answers of the fit; its models and their intervals are folded."""
    fit = fit_of(run)
    if not fit.points:
        return ""
    plot = residuals_svg(run)
    figure = f'<figure style="max-width:520px">{plot}</figure>' if plot else ""
    answers = "".join(table_html(t) for t in (rejected_table(fit), derived_table(fit), asked_table(fit)) if t.rows)
    models = f'{table_html(models_table(fit))}<p class="note">{FORMULA}</p>' if fit.models else ""
    return answers + folded("Models, their parameters with intervals, and residuals", models + figure)


def _bottleneck(run: StoredRun) -> str:
    if not any(r.verdict.bottleneck for r in run.results):
        return _others(run)
    notes = listed((*bottleneck_notes(run), *sentences(run.plan, run.results)))
    return table_html(once(bottlenecks_table(run), kept=(0, 1)), dense=True) + notes + _others(run)


def _others(run: StoredRun) -> str:
    advice = listed(remedies(run))
    return f"<h3>To make the rejected trials count</h3>{advice}" if advice else ""


def _per_cpu(run: StoredRun) -> str:
    table = cpu_table(fit_of(run), run)
    return table_html(table) if table.rows else ""


def _noise(run: StoredRun) -> str:
    if not run.results:
        return ""
    tables = (ablations_table(run), parts_table(noise_of(run).parts))
    parts = "".join(table_html(table) for table in tables if table.rows)
    return listed(noise_sentences(run)) + folded("Sources of the noise, and of gains", parts)


def _knobs(run: StoredRun) -> str:
    if not run.results:
        return ""
    knobs, settings = knobs_table(run), run_facts.settings_table(run)
    moving = table_html(knobs) if knobs.rows else "".join(f"<p>Nothing moves. {escape(n)}</p>" for n in knobs.notes)
    differing = f"<h3>{escape(settings.title)}</h3>{table_html(once(settings, kept=(1, 2, 3)))}" if settings else ""
    return f"{moving}{differing}"


def _soak(run: StoredRun) -> str:
    soaks = [soak for r in run.results if (soak := soak_of(run, r)) is not None]
    return "".join(
        f"<p>{escape(soak.words)}</p><figure>{soak_svg(soak)}<figcaption>{escape(CAPTION)}</figcaption></figure>"
        + "".join(table_html(table) for table in soak_tables(soak) if table.rows)
        for soak in soaks
    )


def _warmup(run: StoredRun) -> str:
    rows = warmup_panels(run)
    if not rows:
        return ""
    drawn = "".join(f'<div class="trial"><div class="name"><b>{escape(n)}</b></div>{svg}</div>' for n, svg in rows)
    panels = f'<p class="note">{NOTE}</p>{drawn}'
    return f"{listed(warmup_words(run))}<details><summary>MSER-5 of each trial</summary>{panels}</details>"


def _method(run: StoredRun, shared: Facts) -> str:
    command, rows = run_facts.command_of(run), run_facts.placements(run)
    headers = (axis_name(run), "Server's CPUs", "Load generator's CPUs", "Shared")
    where = Table(title="CPUs of server and load generator", headers=headers, rows=rows, words=(1, 2, 3))
    settings = run_facts.effective_settings(run)
    table = Table(title="Settings", headers=("Setting", "As the server reports it"), rows=settings, words=(0, 1))
    counted = f"{len(settings)} settings, as the server reports them"
    facts = [
        fact
        for fact in (*run_facts.machine_facts(run), *load_hosts(run), *run_facts.method_facts(run))
        if fact not in shared
    ]
    return (
        facts_html(facts)
        + (f"<h3>CPUs of server and load generator</h3>{table_html(once(where))}" if rows else "")
        + (f"<details><summary>{counted}</summary>{table_html(table)}</details>" if settings else "")
        + (f"<h3>To repeat it</h3><pre>{escape(command)}</pre>" if command and not shared else "")
        + f'<p class="note">Raw data beside this page: manifest.json, points.csv, timeseries.csv, trials/. '
        f"Run: {escape(str(run.manifest.get('run') or run.path.rstrip('/').rpartition('/')[2]))}</p>\n"
    )


def facts_html(facts: Facts) -> str:
    """Facts with their names; "" without any."""
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts) + "</dl>" if facts else ""
