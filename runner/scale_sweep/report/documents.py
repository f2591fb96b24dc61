"""All documents of a run, by file name, with their fits: one set, or one for each variant and an index.

Pure. Only this module decides which documents a run has: the store writes them, `scale verify` makes them again. The
index shows the variants side by side. Refuses to fit across variants: two methods are two curves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from scale_sweep.base.units import format_number
from scale_sweep.model import FitReport, StoredRun, TrialResult
from scale_sweep.report import subjects
from scale_sweep.report.ab import ab_html, ab_markdown
from scale_sweep.report.figures import axis_facts, cpu_cost, fit_again
from scale_sweep.report.markdown import markdown, table_markdown
from scale_sweep.report.markup import escape, safe, table_html
from scale_sweep.report.page import body_html, html, shell
from scale_sweep.report.reference import Reference
from scale_sweep.report.run_facts import settings_table
from scale_sweep.report.table import ABSENT, Table, fixed, marked, mean, rate, short
from scale_sweep.sweep.vary import label, slug


def labels_of(run: StoredRun) -> list[str]:
    """The variants' short names, in the order of the sweep; one empty name if nothing is varied."""
    order = sorted(run.plan.trials, key=lambda t: t.order)
    names = dict.fromkeys(slug(t.variant) for t in order)
    wanted = [slug(dict(zip(run.plan.sweep.vary, values, strict=True))) for values in _products(run)]
    return [n for n in wanted if n in names] if run.plan.sweep.vary else list(names)


def _products(run: StoredRun) -> list[tuple[str, ...]]:
    combinations: list[tuple[str, ...]] = [()]
    for values in run.plan.sweep.vary.values():
        combinations = [(*c, v) for c in combinations for v in values]
    return combinations


def only(run: StoredRun, name: str) -> StoredRun:
    """The run with the trials of this variant only."""
    trials = tuple(t for t in run.plan.trials if slug(t.variant) == name)
    variant = label(trials[0].variant)
    sweep = replace(run.plan.sweep, name=f"{run.plan.sweep.name}: {variant}", vary={})
    results = tuple(r for r in run.results if slug(r.trial.variant) == name)
    return replace(run, plan=replace(run.plan, sweep=sweep, trials=trials), results=results, fit=None)


def comparison_table(run: StoredRun) -> Table:
    """A row for each level and variant: means over the VALID trials, else over all, marked."""
    levels, work = sorted({r.trial.level for r in run.on_curve}), run.plan.sweep.work
    rows = []
    for level in levels:
        base: float | None = None
        for name in labels_of(run):
            results = [r for r in run.on_curve if r.trial.level == level and slug(r.trial.variant) == name]
            if results:
                row, speed = _row(level, results, base)
                base = base if base is not None else speed
                rows.append(row)
    headers = (
        axis_facts(run).name,
        "variant",
        work.rate_words,
        "of the first",
        "server cores",
        "load generator cores",
        f"load generator CPU-s / M {work.unit}",
        "response p99 ms",
        "verdicts",
    )
    return Table(
        title="The variants side by side",
        headers=headers,
        rows=tuple(rows),
        words=(1, 8),
        notes=("mean over the VALID trials; † none is VALID: mean over all, and not the server's number",),
    )


def _row(level: float, results: list[TrialResult], base: float | None) -> tuple[tuple[str, ...], float | None]:
    valid = [r for r in results if r.verdict.kind.is_fitted]
    used = [r.measurement for r in valid or results]
    speed = mean(r.achieved_per_s for r in valid or results)
    ratio = f"{speed / base:.2f}×" if speed and base else "1.00×" if speed else ABSENT
    verdicts = Counter(r.verdict.kind.value for r in results)
    return (
        format_number(level) + ("" if valid else " †"),
        label(results[0].trial.variant),
        marked(rate(speed), valid or results),
        ratio,
        fixed(mean(m.server_cpu_cores for m in used), 2),
        fixed(mean(m.generator_cpu_cores for m in used), 2),
        short(mean(cpu_cost(r.measurement.generator_cpu_cores, r) for r in valid or results)),
        short(mean(m.response_ms_p99 for m in used)),
        ", ".join(f"{n} {kind}" for kind, n in verdicts.most_common()),
    ), speed


def index_markdown(run: StoredRun) -> str:
    """The comparison, with links to each variant's own report."""
    sweep = run.plan.sweep
    links = "".join(f"- [{safe(_variant_words(run, name))}](report-{name}.md)\n" for name in labels_of(run))
    answer = ab_markdown(run) if sweep.variants_ab else ""
    answer += "".join(f"**{safe(words)}**\n\n" for words in subjects.first_words(run))
    tables = "\n\n".join(table_markdown(table) for table in _tables(run))
    return f"# {safe(sweep.name)}\n\n{safe(sweep.question)}\n\n{answer}{tables}\n\n{links}"


def index_html(run: StoredRun, bodies: Mapping[str, str]) -> str:
    """The comparison and the whole report of each variant, as one page that can be mailed.

    bodies: HTML by the variant's short name.
    """
    sweep = run.plan.sweep
    links = "".join(f'<li><a href="#{escape(n)}">{escape(_variant_words(run, n))}</a></li>' for n in labels_of(run))
    parts = "".join(f'<section class="variant" id="{escape(n)}">{bodies[n]}</section>\n' for n in labels_of(run))
    shown = "".join(f"<h2>{escape(t.title)}</h2>{table_html(t, dense=True)}" for t in _tables(run))
    body = (
        f'<h1>{escape(sweep.name)}</h1><p class="question">{escape(sweep.question)}</p>'
        f"{ab_html(run) if sweep.variants_ab else ''}{subjects.figure_html(run)}"
        f"{shown}"
        f"<h2>Each variant's own report, below</h2><ul>{links}</ul>{parts}"
    )
    return shell(f"{sweep.name}: {sweep.target}", body)


def _tables(run: StoredRun) -> tuple[Table, ...]:
    """The tables of several databases, or of several variants of one. Databases have their own: a ratio to the first
    would not say whether it is a difference."""
    settings = settings_table(run)
    return (*(subjects.tables(run) or (comparison_table(run),)), *((settings,) if settings else ()))


def _variant_words(run: StoredRun, name: str) -> str:
    return label(next(t.variant for t in run.plan.trials if slug(t.variant) == name))


@dataclass(frozen=True, kw_only=True)
class Documents:
    """fits and pages: by file name. run: with its fit, if it has a single one."""

    run: StoredRun
    fits: Mapping[str, FitReport]
    pages: Mapping[str, str]


def documents(run: StoredRun, reference: Reference | None = None) -> Documents:
    """Fits the run and makes its documents. reference: rows of a published table."""
    labels = labels_of(run)
    if len(labels) < 2:
        return _single(run, "", reference)
    fits: dict[str, FitReport] = {}
    pages: dict[str, str] = {}
    bodies: dict[str, str] = {}
    for name in labels:
        one = _single(only(run, name), f"-{name}", reference)
        fits |= one.fits
        pages |= one.pages
        bodies[name] = body_html(one.run, reference)
    pages |= {"report.md": index_markdown(run), "report.html": index_html(run, bodies)}
    return Documents(run=run, fits=fits, pages=pages)


def _single(run: StoredRun, suffix: str, reference: Reference | None) -> Documents:
    fit = fit_again(run)
    fitted = replace(run, fit=fit)
    pages = {f"report{suffix}.md": markdown(fitted, reference), f"report{suffix}.html": html(fitted, reference)}
    return Documents(run=fitted, fits={f"fit{suffix}.json": fit}, pages=pages)
