"""All documents of a run, by file name, with their fits: one set, or one for each variant and an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.report import run_facts, several
from scale_sweep.report.comparison import ab_sections
from scale_sweep.report.figures import fit_again
from scale_sweep.report.forms import Form, Headline, Markdown, Page, Section
from scale_sweep.report.headlines import headline_of_ab, headline_of_variants
from scale_sweep.report.markup import escape
from scale_sweep.report.reference import Reference
from scale_sweep.report.reference_reads import reads_tables
from scale_sweep.report.run_facts import settings_table
from scale_sweep.report.sections import Facts, body_of, facts_html, html, markdown
from scale_sweep.report.several_curves import labels_of
from scale_sweep.report.shared_values import once
from scale_sweep.report.table import Table
from scale_sweep.sweep.vary import label, slug


def only(run: StoredRun, name: str) -> StoredRun:
    trials = tuple(t for t in run.plan.trials if slug(t.variant) == name)
    variant = label(trials[0].variant)
    sweep = replace(run.plan.sweep, name=f"{run.plan.sweep.name}: {variant}", vary={})
    results = tuple(r for r in run.results if slug(r.trial.variant) == name)
    return replace(run, plan=replace(run.plan, sweep=sweep, trials=trials), results=results, fit=None)


def _headline(run: StoredRun, fits: Mapping[str, FitReport]) -> Headline:
    return headline_of_ab(run, fits) if run.plan.sweep.variants_ab else headline_of_variants(run, fits)


def _index(
    run: StoredRun, fits: Mapping[str, FitReport], form: Form, reference: Reference | None, shared: Facts = ()
) -> str:
    """shared: facts of method and machine of all variants."""
    links = form.links([(name, _variant_words(run, name)) for name in labels_of(run)])
    tables = [(table.title, once(table) if form.is_page else table) for table in _tables(run, reference)]
    drawn = Section("curves", "The curves", form.on_page(lambda: several.figure_html(run)))
    sections = (
        *(ab_sections(run, form) if run.plan.sweep.variants_ab else (drawn,)),
        *(
            Section(f"table-{n}", title, form.table(table, dense=True), is_titled=False)
            for n, (title, table) in enumerate(tables, start=1)
        ),
        Section("reports", "Report of each variant", links, is_titled=False),
        Section(
            "method",
            "Method and machine",
            form.on_page(lambda: facts_html(shared) + form.command(run_facts.command_of(run))),
        ),
    )
    return form.body(_headline(run, fits), run.results, sections, "")


def _tables(run: StoredRun, reference: Reference | None) -> tuple[Table, ...]:
    settings = settings_table(run)
    return (*reads_tables(run, reference), *several.tables(run), *((settings,) if settings else ()))


def _variant_words(run: StoredRun, name: str) -> str:
    return label(next(t.variant for t in run.plan.trials if slug(t.variant) == name))


Makers = Mapping[str, Callable[[StoredRun, Reference | None], str]]  # of a run's document, by the end of its name
HTML: Makers = {".html": html}
MAKERS: Makers = {".md": markdown, **HTML}


@dataclass(frozen=True, kw_only=True)
class Documents:
    """fits and pages: by file name. run: with its fit, if it has a single one."""

    run: StoredRun
    fits: Mapping[str, FitReport]
    pages: Mapping[str, str]


def documents(run: StoredRun, reference: Reference | None = None, makers: Makers = MAKERS) -> Documents:
    """reference: rows of a published table."""
    labels = labels_of(run)
    if len(labels) < 2:
        return _single(run, "", reference, makers)
    parts = {name: _single(only(run, name), f"-{name}", reference, makers) for name in labels}
    shared = _shared_facts([one.run for one in parts.values()])
    named = {_variant_words(run, name): next(iter(one.fits.values())) for name, one in parts.items()}
    headline = _headline(run, named)
    pages = {page: text for one in parts.values() for page, text in one.pages.items()}
    if ".md" in makers:
        pages["report.md"] = Markdown().document(headline, _index(run, named, Markdown(), reference))
    bodies = [
        f'<section class="variant" id="{escape(name)}">'
        f"{body_of(one.run, Page(), reference, name, shared, headline.cautions)}</section>\n"
        for name, one in parts.items()
    ]
    page = _index(run, named, Page(), reference, shared)
    pages["report.html"] = Page().document(headline, page + "".join(bodies))
    fits = {file: fit for one in parts.values() for file, fit in one.fits.items()}
    return Documents(run=run, fits=fits, pages=pages)


def _shared_facts(runs: Sequence[StoredRun]) -> Facts:
    each = [(*run_facts.machine_facts(run), *run_facts.method_facts(run)) for run in runs]
    return tuple(fact for fact in each[0] if all(fact in facts for facts in each))


def _single(run: StoredRun, suffix: str, reference: Reference | None, makers: Makers) -> Documents:
    fit = fit_again(run)
    fitted = replace(run, fit=fit)
    pages = {f"report{suffix}{kind}": make(fitted, reference) for kind, make in makers.items()}
    return Documents(run=fitted, fits={f"fit{suffix}.json": fit}, pages=pages)
