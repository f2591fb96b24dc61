"""report.html: one file that needs no other. The answer comes first, then the cautions, then everything else.

No script, no address that is loaded, no text that is not escaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.connections_check import sentences
from scale_sweep.analysis.fit import speedup_words
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model import FitReport, StoredRun, VerdictKind
from scale_sweep.report import run_facts
from scale_sweep.report.bottlenecks import bottleneck_notes, bottlenecks_table, remedies
from scale_sweep.report.columns import ARTICLE_HEADING
from scale_sweep.report.cpu_time import cpu_table
from scale_sweep.report.curve import caption, curve_svg, residuals_svg, speedup_svg, with_fit
from scale_sweep.report.disk_tables import ceiling_table, disk_table, has_prepared_disks, placement_words, shares_svg
from scale_sweep.report.each_trial import NOTE, trials_html, warmup_panels, warmup_words
from scale_sweep.report.figures import (
    article_table,
    at_level,
    axis_facts,
    axis_name,
    fit_of,
    knobs_table,
    measured_rate,
    points_table,
    trial_table,
    verdict_counts,
)
from scale_sweep.report.fitted import (
    FORMULA,
    asked_table,
    derived_table,
    models_table,
    parameters_table,
    rejected_table,
)
from scale_sweep.report.flame import profile_html
from scale_sweep.report.markup import VERDICT_MEANINGS, css_of, escape, table_html
from scale_sweep.report.noise import ablations_table, intervals_table, noise_sentences
from scale_sweep.report.open_loop import response_table
from scale_sweep.report.operations import operations_html
from scale_sweep.report.reference import Reference, compare, reference_table
from scale_sweep.report.run_facts import settings_table
from scale_sweep.report.soak import CAPTION, soak_of, soak_svg, soak_tables
from scale_sweep.report.style import PAGE_STYLE
from scale_sweep.report.table import Table, marked


def html(run: StoredRun, reference: Reference | None = None) -> str:
    """The whole page. reference: rows of a published table, as read from its CSV."""
    return shell(f"{run.plan.sweep.name}: {run.plan.sweep.target}", body_html(run, reference))


def body_html(run: StoredRun, reference: Reference | None = None) -> str:
    """The page without its head. A page of several runs contains several of these."""
    run = with_fit(run)
    fit = fit_of(run)
    return "".join(
        (
            _head(run, fit),
            _curve(run),
            operations_html(run),
            _soak(run),
            _tables(run, reference),
            _disks(run),
            _trials(run),
            _certainty(run, fit),
            _per_cpu(run, fit),
            _noise(run),
            _limits(run),
            _knobs(run),
            profile_html(run),
            _warmup(run),
            trials_html(run),
            _method(run),
        )
    )


def shell(title: str, body: str) -> str:
    """A whole page around a body of HTML. The title is escaped here."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style></head>\n'
        f"<body><main>\n{body}</main></body></html>\n"
    )


def _head(run: StoredRun, fit: FitReport) -> str:
    sweep = run.plan.sweep
    eyebrow = " · ".join(p for p in (run_facts.server_name(run), sweep.runtime, run_facts.created(run)) if p)
    chips = "".join(
        f'<span class="chip {css_of(kind)}" title="{escape(VERDICT_MEANINGS[kind.value])}">{n} {kind.value}</span>'
        for kind, n in verdict_counts(run)
    )
    cautions = run_facts.cautions_of(run, fit.cautions)
    return (
        f'<p class="eyebrow">{escape(eyebrow)}</p><h1>{escape(sweep.name)}</h1>'
        f'<p class="question">{escape(sweep.question)}</p><p class="answer">{_answer(fit.sentence)}</p>\n'
        f'{_tiles(run, fit)}<div class="chips">{chips}</div>\n'
        + (f'<div class="cautions"><b>Before you believe it</b>{_list(cautions)}</div>\n' if cautions else "")
    )


def _tiles(run: StoredRun, fit: FitReport) -> str:
    valid = sum(1 for r in run.results if r.verdict.kind is VerdictKind.VALID)
    bound = sum(1 for r in run.results if r.verdict.kind is VerdictKind.SOFTWARE_BOTTLENECK)
    planned = len(run.plan.trials)
    missing = f", {planned - len(run.results)} not run" if planned > len(run.results) else ""
    too = f", {bound} more show a software bottleneck" if bound else ""
    tiles = [(f"{valid} of {len(run.results)}", f"trials are valid{too}{missing}")]
    if fit.points:
        first, last, unit = fit.points[0], fit.points[-1], run.plan.sweep.work.rate_words
        where = marked(f"{unit} at {axis_facts(run).count(format_number(last.level))}", at_level(run, last.level)[0])
        tiles.insert(0, (format_rate(measured_rate(run, last.level) or last.rate_mean), where))
        if last is not first:
            span = f"{format_number(first.level)} → {format_number(last.level)}"
            tiles.insert(1, (speedup_words(last), f"speedup {span}"))
            tiles.insert(2, (f"{100 * (last.efficiency or 0):.0f} %", f"efficiency at {format_number(last.level)}"))
        best = max(fit.points, key=lambda p: p.rate_mean)
        if best is not last:
            words = marked(f"{unit} at best, at {format_number(best.level)}", at_level(run, best.level)[0])
            tiles.insert(0, (format_rate(measured_rate(run, best.level) or best.rate_mean), words))
    noise = f"{fit.noise_percent:.1f} %" if fit.noise_percent is not None else "not known"
    tiles.append((noise, "noise floor"))
    cells = "".join(f'<div class="tile"><b>{escape(v)}</b><span>{escape(what)}</span></div>' for v, what in tiles)
    return f'<div class="tiles">{cells}</div>\n'


def _curve(run: StoredRun) -> str:
    wide = curve_svg(run)
    if not wide:
        return "<p>No trial has a rate, so there is no curve.</p>"
    narrow = curve_svg(run, 400, 340)
    return (
        f'<figure><div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
        f"<figcaption>{escape(caption(run))}</figcaption></figure>\n"
    )


def _tables(run: StoredRun, reference: Reference | None) -> str:
    ours, waited = article_table(run), response_table(run)
    parts = [f"<h2>Response times</h2>{table_html(waited)}" if waited.rows else ""]
    parts.append(f"<h2>{escape(ARTICLE_HEADING)}</h2>{table_html(ours)}")
    both = compare(run, reference) if reference else None
    beside = reference_table(run, reference) if reference else None
    if both is not None and beside is not None:
        plot = speedup_svg(run, both) if both.base_ours is not None else ""
        parts.append(f"<h2>Published and ours</h2>{table_html(beside, dense=True)}")
        parts.append(f'<figure style="max-width:520px">{plot}</figure>' if plot else "")
    return "".join(parts)


def _disks(run: StoredRun) -> str:
    if not has_prepared_disks(run):
        return ""
    plot = shares_svg(run)
    figure = f'<figure style="max-width:520px">{plot}</figure>' if plot else ""
    ceilings = ceiling_table(run)
    return (
        f'<h2>Each disk</h2><p class="note">{escape(placement_words(run))}</p>{figure}{table_html(disk_table(run))}'
        + (f"<h3>The disks' own ceilings</h3>{table_html(ceilings)}" if ceilings.rows else "")
        + "\n"
    )


def _trials(run: StoredRun) -> str:
    kinds = "".join(
        f"<dt>{kind.value}</dt><dd>{escape(VERDICT_MEANINGS[kind.value])}</dd>" for kind, _ in verdict_counts(run)
    )
    return f"<h2>Every trial and its verdict</h2>{table_html(trial_table(run), dense=True)}<dl>{kinds}</dl>\n"


def _certainty(run: StoredRun, fit: FitReport) -> str:
    if not fit.points:
        return ""
    plot = residuals_svg(run)
    figure = f'<figure style="max-width:520px">{plot}</figure>' if plot else ""
    tables = [table_html(t) for t in (points_table(run), rejected_table(fit)) if t.rows]
    if fit.models:
        note = f'<p class="note">{FORMULA}</p>'
        tables += [f"{table_html(models_table(fit))}{note}"]
    tables += [table_html(t) for t in (parameters_table(fit), derived_table(fit), asked_table(fit)) if t.rows]
    return f"<h2>How sure the fit is</h2>{''.join(tables)}{figure}\n"


def _limits(run: StoredRun) -> str:
    advice, known = remedies(run), any(r.verdict.bottleneck for r in run.results)
    checked = _list((*bottleneck_notes(run), *sentences(run.plan, run.results)))
    rows = table_html(bottlenecks_table(run), dense=True)
    table = f"<h2>What was the bottleneck</h2>{rows}{checked}\n" if known else ""
    return table + (f"<h2>To make the others count</h2>{_list(advice)}\n" if advice else "")


def _per_cpu(run: StoredRun, fit: FitReport) -> str:
    table = cpu_table(fit, run)
    return f"<h2>The rate for each CPU-second</h2>{table_html(table)}\n" if table.rows else ""


def _noise(run: StoredRun) -> str:
    if not run.results:
        return ""
    ablations = ablations_table(run)
    split = table_html(ablations) if ablations.rows else ""
    return f"<h2>How sure the points are</h2>{_list(noise_sentences(run))}{table_html(intervals_table(run))}{split}\n"


def _knobs(run: StoredRun) -> str:
    if not run.results:
        return ""
    settings = settings_table(run)
    differing = f"<h2>{escape(settings.title)}</h2>{table_html(settings)}\n" if settings else ""
    return f"<h2>What else changed along the curve</h2>{table_html(knobs_table(run))}\n{differing}"


def _soak(run: StoredRun) -> str:
    soaks = [soak for r in run.results if (soak := soak_of(run, r)) is not None]
    return "".join(
        f"<h2>The rate over time</h2><p>{escape(soak.words)}</p>"
        f"<figure>{soak_svg(soak)}<figcaption>{escape(CAPTION)}</figcaption></figure>"
        + "".join(table_html(table) for table in soak_tables(soak) if table.rows)
        for soak in soaks
    )


def _warmup(run: StoredRun) -> str:
    rows = warmup_panels(run)
    if not rows:
        return ""
    drawn = "".join(f'<div class="trial"><div class="name"><b>{escape(n)}</b></div>{svg}</div>' for n, svg in rows)
    return f'<h2>Was the warm-up long enough?</h2>{_list(warmup_words(run))}<p class="note">{NOTE}</p>{drawn}\n'


def _method(run: StoredRun) -> str:
    command = run_facts.command_of(run)
    rows = run_facts.placements(run)
    headers = (axis_name(run), "Server's CPUs", "Load generator's CPUs", "Shared")
    where = Table(title="Placement", headers=headers, rows=rows, words=(1, 2, 3))
    settings = run_facts.effective_settings(run)
    table = Table(title="Settings", headers=("Setting", "As the server reports it"), rows=settings, words=(0, 1))
    return (
        f"<h2>Method and machine</h2>{_facts(run_facts.machine_facts(run))}{_facts(run_facts.method_facts(run))}"
        + (f"<h3>CPUs of server and load generator</h3>{table_html(where)}" if rows else "")
        + (
            f"<details><summary>{len(settings)} settings, as the server reports them</summary>"
            f"{table_html(table)}</details>"
            if settings
            else ""
        )
        + (f"<h3>To repeat it</h3><pre>{escape(command)}</pre>" if command else "")
        + f'<p class="note">Raw data beside this page: manifest.json, points.csv, timeseries.csv, trials/. '
        f"Run: {escape(str(run.manifest.get('run') or run.path.rstrip('/').rpartition('/')[2]))}</p>\n"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts) + "</dl>" if facts else ""


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _answer(words: str) -> str:
    """The verdict in bold, its basis in plain text."""
    verdict, colon, rest = words.partition(": ")
    return f"<b>{_unbroken(verdict)}:</b> {_unbroken(rest)}" if colon else f"<b>{_unbroken(words)}</b>"


def _unbroken(words: str) -> str:
    """The escaped text, with a number and its error on the same line."""
    return escape(words).replace(" ± ", "&nbsp;±&nbsp;")
